"""``teddy list``: models, methods and tasks with their options."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from typer import Argument

from teddy.cli.completion import complete
from teddy.cli.options import Json, Load, load_files
from teddy.registry import unknown_name

_KINDS = ("models", "methods", "tasks")


def listing(
    kind: Annotated[
        str | None,
        Argument(
            help="Kind of entries: models, methods or tasks; default: all.",
            autocompletion=complete(_KINDS),
        ),
    ] = None,
    json_: Json = False,
    load: Load = None,
) -> None:
    """List models, methods and tasks, with their options and defaults.

    Examples:
        teddy list
        teddy list models
        teddy list methods --load my_method.py --json
    """
    if kind not in (None, *_KINDS):
        raise unknown_name("kind", kind, _KINDS)
    from teddy.cli.printing import print_table
    from teddy.methods import METHODS
    from teddy.models import MODELS
    from teddy.settings import TrainConfig
    from teddy.tasks import TASKS
    from teddy.training.config import with_model_defaults

    load_files(load)
    options: dict[str, dict[str, dict[str, Any]]] = {
        "models": {},
        "methods": {},
        "tasks": {},
    }
    for name in MODELS:
        config = with_model_defaults(TrainConfig(), name)
        training = {"lr": config.lr, "weight_decay": config.weight_decay}
        options["models"][name] = {**MODELS[name].OPTIONS, **training}
    for name in METHODS:
        options["methods"][name] = {
            **METHODS[name].options,
            "distill": METHODS[name].distill,
        }
    for name in TASKS:
        options["tasks"][name] = {"metric": TASKS[name].metric, **TASKS[name].defaults()}
    chosen = {name: options[name] for name in ([kind] if kind else _KINDS)}
    if json_:
        typer.echo(json.dumps(chosen))
        return
    for name, entries in chosen.items():
        rows = [
            (entry, ", ".join(f"{option}={value}" for option, value in values.items()))
            for entry, values in entries.items()
        ]
        print_table(name.capitalize(), ("name", "options and defaults"), rows, texts=2)
