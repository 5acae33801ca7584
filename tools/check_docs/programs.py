"""Rules that check the commands of each program that the documentation names."""

from __future__ import annotations

import argparse
import importlib
import io
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tools.check_docs.blocks import ROOT, Command
from tools.check_docs.shorter import reason_to_parse, shortened

#: A placeholder: NAME, ..., [--json], a|b.
PLACEHOLDER = re.compile(r"^([A-Z]+|\.\.\.|.*[\[\]|].*)$")


class DocumentationError(Exception):
    """Raised for a command that does not work as written."""


class ParsedError(Exception):
    """Ends a program after its command line was parsed."""


def check(command: Command, folder: Path) -> str:
    """Run or parse a command; return which, or raise :class:`DocumentationError`."""
    program, *rest = command.words
    if program == "teddy":
        return check_teddy(rest, command, folder)
    if program == "python":
        return check_python(rest, command, folder)
    if program == "torchrun":
        return check_torchrun(rest)
    if program == "spark-submit":
        return check_spark(rest, folder)
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return known(rest, targets, "target of the Makefile")
    if program == "pip":
        extras = re.findall(r"\[([\w,-]+)\]", rest[-1])
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        return known(extras and extras[0].split(","), settings["optional-dependencies"], "extra")
    if program == "hf":
        from huggingface_hub.cli.hf import app

        return parse_typer(app, rest)
    if program == "echo":
        (folder / str(command.out)).write_text(" ".join(rest) + "\n")
        return "run"
    raise DocumentationError(f"no rule for '{program}'; write one in tools/check_docs/programs.py")


def known(words: list[str], names: Any, kind: str) -> str:
    """Raise unless each word is one of the names."""
    for word in words:
        if word not in names:
            raise DocumentationError(f"'{word}' is no {kind}")
    return "parsed"


def check_teddy(words: list[str], command: Command, folder: Path) -> str:
    """Run ``teddy`` in this process, shortened; parse it where it can't be run."""
    from teddy.cli.app import app, main

    if command.inline:
        return check_mention(app, words)
    parse_typer(app, words)
    reason = reason_to_parse(words)
    if reason is not None:
        return f"parsed: {reason}"
    short = shortened(words) if words else words
    run(lambda: main(short), folder, command.out)
    return "run" if short == words else "run as teddy " + " ".join(short)


def check_mention(app: Any, words: list[str]) -> str:
    """Parse a command in a sentence; of a part of a command, check the names."""
    if not any(PLACEHOLDER.match(word) for word in words):
        try:
            return parse_typer(app, words)
        except DocumentationError:
            pass  # perhaps an option without its value
    import typer.main

    group: Any = typer.main.get_command(app)
    name, *rest = [part for word in words for part in re.split(r"[\[\]|]", word) if part] or [""]
    if PLACEHOLDER.match(name) or name.startswith("--"):
        return "named"
    known([name], group.commands, "command of teddy")
    options = [o for p in group.commands[name].params for o in (*p.opts, *p.secondary_opts)]
    known([word for word in rest if word.startswith("-")], options, f"option of teddy {name}")
    return "named"


def parse_typer(app: Any, words: list[str]) -> str:
    """Parse the words with the program's own parser."""
    import typer.main

    command: Any = app if hasattr(app, "commands") else typer.main.get_command(app)
    usage_error: Any = typer.BadParameter.mro()[2]
    rest = list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    try:
        command.make_context(command.name, rest).close()
    except usage_error as error:
        raise DocumentationError(error.format_message()) from None
    return "parsed"


def check_python(words: list[str], command: Command, folder: Path) -> str:
    """Parse ``python -m MODULE`` or ``python FILE`` with its parser; run the maker of tables."""
    if words[0] == "-m":
        module, rest = words[1], words[2:]
    else:
        module, rest = words[0].removesuffix(".py").replace("/", "."), words[1:]
    if module == "teddy":
        return check_teddy(rest, command, folder)
    try:
        program = importlib.import_module(module)
        if hasattr(program, "__path__"):  # a package
            program = importlib.import_module(f"{module}.__main__")
        main = program.main
    except ModuleNotFoundError as error:
        raise DocumentationError(str(error)) from None
    if module == "benchmarks.make_edges" and not command.inline:
        rest = shortened([module, *rest])[1:]
        with patch.object(sys, "argv", [module, *rest]):
            run(main, folder, None)
        return "run as python -m benchmarks.make_edges " + " ".join(rest)
    real = argparse.ArgumentParser.parse_args

    def parse(self: argparse.ArgumentParser, *arguments: Any) -> None:
        real(self, *arguments)
        raise ParsedError

    with (
        patch.object(argparse.ArgumentParser, "parse_args", parse),
        patch.object(sys, "argv", [module, *rest]),
    ):
        try:
            run(main, folder, None)
        except ParsedError:
            return "parsed"
    raise DocumentationError(f"{module} has no parser: it was run")


def check_torchrun(words: list[str]) -> str:
    """Parse the words before the program with torchrun's own parser."""
    if any(PLACEHOLDER.match(word) for word in words):
        return "named"
    from torch.distributed.run import get_args_parser

    with quiet() as printed:
        try:
            arguments = get_args_parser().parse_args(words)
        except SystemExit:
            raise DocumentationError(printed.getvalue().strip()) from None
    from teddy.cli.app import app

    known([arguments.training_script], ["teddy"], "module to run")
    return parse_typer(app, arguments.training_script_args)


def check_spark(words: list[str], folder: Path) -> str:
    """Parse the words after the program's file as words of ``teddy``."""
    from teddy.cli.app import app

    at = next(i for i, word in enumerate(words) if word.endswith(".py"))
    if not (folder / words[at]).is_file():
        raise DocumentationError(f"'{words[at]}' does not exist")
    return parse_typer(app, words[at + 1 :]) + ": needs a cluster"


def run(program: Any, folder: Path, out: str | None) -> None:
    """Call a program in the folder; an exit code other than 0 is an error."""
    with quiet() as printed, chdir(folder):
        try:
            program()
        except SystemExit as end:
            if end.code not in (None, 0):
                raise DocumentationError(printed.getvalue().strip()[-300:]) from None
    if out is not None:
        (folder / out).write_text(printed.getvalue())


@contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Capture everything that is printed."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        yield printed
