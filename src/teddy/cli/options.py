"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from teddy import names
from teddy.cli.completion import complete
from teddy.errors import InputError
from teddy.names import is_in_file, is_path
from teddy.registry import unknown_name
from teddy.settings import ENTRIES


def option(panel: str, help: str, *flags: str, **declared: Any) -> Any:
    """An option of a command in a panel of the help.

    Args:
        panel: One of :data:`teddy.settings.PANELS`.
        help: Its help text.
        flags: Names on the command line, by default that of the parameter.
        declared: Further arguments of Typer's ``Option``.
    """
    return Option(*flags, help=help, rich_help_panel=panel, **declared)


Dataset = Annotated[
    str,
    Argument(
        help="Data set: a name (see `teddy datasets`), or a graph's file or folder.",
        autocompletion=complete(names.DATASETS),
    ),
]
ModelName = Annotated[
    str,
    option(
        "Model",
        "Model: gcn, gat, gin, sage, unimp, nagphormer, specformer, or FILE.py:NAME for your own. "
        "Options after colons, as in nagphormer:hops=3.",
        autocompletion=complete(names.MODELS),
    ),
]
MethodName = Annotated[
    str,
    option(
        "Pruning",
        "Method: teddy, auto, ugs, wd-glt, or an edge score such as random (see `teddy list`). "
        "Options after colons, as in ugs:weights=projection.",
        autocompletion=complete(names.METHODS),
    ),
]
Nodes = Annotated[Path | None, option("Data", ENTRIES["nodes"].help)]
DataDir = Annotated[
    Path | None,
    option("Data", ENTRIES["data_dir"].help, envvar="TEDDY_DATA", show_envvar=False),
]
Load = Annotated[
    list[Path] | None,
    option("Advanced", "Python file that registers methods, scores or tasks. Repeatable."),
]
OwnModule = Annotated[
    str | None,
    option(
        "Model",
        "Your own module as FILE.py:NAME, if the ticket has one: a module, or a class or "
        "function that makes one.",
    ),
]
Jobs = Annotated[int, option("Advanced", "Number of parallel processes.")]
Report = Annotated[Path | None, option("Output", "HTML report to write.")]
CheckpointFolder = Annotated[
    Path | None,
    option("Advanced", "Checkpoint folder, from which the same command resumes."),
]
CheckpointSeconds = Annotated[float, option("Advanced", "Seconds between checkpoints.")]
Track = Annotated[
    list[str] | None,
    option(
        "Output",
        "Tracker: tensorboard:FOLDER, mlflow[:EXPERIMENT] or wandb[:PROJECT]. Repeatable.",
        autocompletion=complete(names.TRACKERS),
    ),
]
Json = Annotated[bool, option("Output", "One JSON object on stdout, in place of tables.", "--json")]


def check_names(
    datasets: Iterable[str] = (),
    models: Iterable[str] = (),
    methods: Iterable[str] = (),
    task: str | None = None,
    load: Iterable[Path] | None = None,
) -> None:
    """Raise for a misspelt name before anything heavy is imported.

    Args:
        datasets: Names or paths of data sets.
        models: Models with options.
        methods: Methods with options.
        task: Task with options.
        load: Python files, which may register further methods and tasks.
    """
    for dataset in datasets:
        if dataset.lower() not in names.DATASETS and not is_path(dataset):
            raise unknown_name("data set", dataset, names.DATASETS)
    registered = {
        "model": ([model for model in models if not is_in_file(model)], names.MODELS),
        "method": ([] if load else methods, names.METHODS),
        "task": ([] if load or task is None else [task], names.TASKS),
    }
    for kind, (specs, known) in registered.items():
        for spec in specs:
            name = spec.strip().split(":")[0]
            if name not in known:
                raise unknown_name(kind, name, known)


def split_list(text: str) -> list[str]:
    """Items of a list with commas between them.

    Example:
        >>> split_list("gcn, gin,")
        ['gcn', 'gin']
    """
    return [item.strip() for item in text.split(",") if item.strip()]


def load_files(load: Iterable[Path] | None) -> None:
    """Run the Python files of ``--load``."""
    from teddy.methods.plugin import load_file

    for path in load or []:
        load_file(path)


def report_tuned(datasets: Iterable[str], models: Iterable[str]) -> None:
    """Print the data sets and models without a tuned setting."""
    from teddy.methods.make_problem import tuned_settings

    for dataset, model in product(datasets, models):
        if not tuned_settings(dataset, model):
            print(
                f"teddy: no tuned setting for {model} on {dataset}, using the default",
                file=sys.stderr,
            )


def check_report(page: Path | None) -> None:
    """Raise before any training if a report cannot be written."""
    if page is not None and find_spec("plotly") is None:
        raise InputError("a report needs plotly: pip install 'teddy-glt[report]'")
