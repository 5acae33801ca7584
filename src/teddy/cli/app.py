"""The command line: its commands, and how errors are printed."""

from __future__ import annotations

import logging
import sys
import warnings
from importlib.metadata import entry_points
from typing import Any

import typer

from teddy.cli import launched
from teddy.cli.bench import bench
from teddy.cli.datasets import datasets
from teddy.cli.export import export
from teddy.cli.find import find
from teddy.cli.help import CONTEXT, CommandGroup, PanelCommand
from teddy.cli.inspect import inspect
from teddy.cli.listing import listing
from teddy.cli.predict import predict
from teddy.cli.push import push
from teddy.cli.report import report
from teddy.cli.search import search
from teddy.cli.serve import serve
from teddy.cli.sparsify import sparsify
from teddy.cli.sweep import sweep
from teddy.cli.tune import tune
from teddy.errors import InputError, ProcessError, TeddyWarning
from teddy.machine import keep_interrupts
from teddy.registry import did_you_mean

# Typer carries its own copy of click; this is the base of its usage errors.
ClickException: Any = typer.BadParameter.mro()[2]

app = typer.Typer(
    name="teddy",
    cls=CommandGroup,
    context_settings=CONTEXT,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    find, sweep, search, tune, report, sparsify, inspect, predict, serve, export, push,
    datasets, bench,
):  # fmt: skip
    app.command(cls=PanelCommand, context_settings=CONTEXT)(command)
app.command("list", cls=PanelCommand, context_settings=CONTEXT)(listing)
for entry in sorted(entry_points(group="teddy.commands"), key=lambda entry: entry.name):
    app.command(entry.name, cls=PanelCommand, context_settings=CONTEXT)(entry.load())


@app.callback(invoke_without_command=True)
def teddy(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Show the version and exit."),
) -> None:
    """Prune a graph and its graph neural network together, and keep the accuracy.

    TEDDY finds graph lottery tickets: a sparse subgraph and a sparse network that do as well as
    the dense pair.

    Examples:
        teddy find citeseer --out citeseer.ticket
        teddy sweep citeseer --methods teddy,random --out runs/x
        teddy inspect citeseer.ticket
    """
    if version:
        from teddy import __version__

        typer.echo(f"teddy {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; bad input is one line on stderr and exit code 2."""
    logging.basicConfig(level=logging.WARNING, format="teddy: %(message)s")
    logging.getLogger("teddy").setLevel(logging.INFO)
    warnings.showwarning = _show_warning
    keep_interrupts()
    launched.join_job()
    try:
        code = app(args=arguments, prog_name="teddy", standalone_mode=False)
    except InputError as error:
        _fail(str(error), 2)
    except ClickException as error:
        _fail(_usage_error(error), 2)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}", 2)
    except ProcessError as error:
        _fail(f"{error}; with --checkpoint the same command resumes", 1)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        _fail("not enough memory for this graph and model", 2)
    if code == 130:  # also what some versions of Typer return for an interrupt
        _fail("interrupted, nothing was written", 130)
    sys.exit(code if isinstance(code, int) else 0)


_show_other = warnings.showwarning


def _show_warning(message: Any, category: type[Warning], *place: Any, **named: Any) -> None:
    """Print a TeddyWarning as one line on stderr, without the line of code that raised it."""
    if issubclass(category, TeddyWarning):
        _print_line(f"warning: {message}")
    else:
        _show_other(message, category, *place, **named)


def _usage_error(error: Any) -> str:
    """One line of a usage error, with the wrong value or a similar option where known."""
    name, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if name is not None and context is not None and hasattr(error, "possibilities"):
        known = [flag for option in context.command.params for flag in option.opts]
        hint = did_you_mean(name, [flag for flag in known if flag.startswith("--")])
        return f"unknown option '{name}', see {context.command_path} --help{hint}"
    cause: list[Any] = getattr(error.__cause__, "errors", list)()
    got = f" (got '{cause[0]['input']}')" if cause else ""
    return f"{error.format_message()}{got}"


def _fail(message: str, code: int) -> None:
    _print_line(message)
    sys.exit(code)


def _print_line(message: str) -> None:
    """Print a message on stderr as one line without control characters."""
    line = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(message.split()))
    print(f"{launched.name()}: {line}", file=sys.stderr, flush=True)
