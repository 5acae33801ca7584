"""Command-line options made from the declared settings."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from teddy.cli.completion import complete_setting
from teddy.settings import ENTRIES, MODEL_ENTRIES, Entry, Settings

#: Declared settings by name, options of models included.
_ALL = {**ENTRIES, **MODEL_ENTRIES}


def takes_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for every declared setting.

    The command's parameter ``settings`` receives the values from the command line, by name, in
    place of the options.

    Args:
        command: The command.

    Example:
        >>> @takes_settings
        ... def command(settings): print(settings)
        >>> "epochs" in inspect.signature(command).parameters
        True
        >>> command(epochs=3, lr=None)
        {'epochs': 3}
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    entries = [e for name, e in _ALL.items() if name not in parameters]

    @wraps(command)
    def run(**arguments: Any) -> None:
        options = {e.name: arguments.pop(e.name) for e in entries if e.name in arguments}
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in options.items()
            if value is not None
        }
        Settings.from_dict(values)  # a wrong value is an error before any work
        command(**arguments, settings=values)

    own = [parameter for name, parameter in parameters.items() if name != "settings"]
    declared = [_parameter(entry) for entry in entries]
    run.__signature__ = inspect.Signature([*own, *declared])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in (*own, *declared)}
    return run


def _parameter(entry: Entry) -> inspect.Parameter:
    """Parameter from which Typer makes the option."""
    flag = f"--{entry.name.replace('_', '-')}"
    kind: Any = str if entry.kind is object else entry.kind
    kind = (list[str] if entry.many else kind) | None
    shown = entry.default is not None and entry.kind is not bool and not entry.many
    option = typer.Option(
        flag, help=entry.help + (f"  [default: {entry.default}]" if shown else ""),
        rich_help_panel=entry.panel, envvar=entry.envvar, show_envvar=False,
        autocompletion=complete_setting(entry),
    )  # fmt: skip
    return inspect.Parameter(
        entry.name, inspect.Parameter.KEYWORD_ONLY, default=None,
        annotation=Annotated[kind, option],
    )  # fmt: skip
