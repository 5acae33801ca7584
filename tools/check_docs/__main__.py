"""Check the commands of the documentation.

    python -m tools.check_docs [PAGE ...]

Commands in blocks of shell are run in a temporary folder, shortened by the rules of shorter.py;
what can't be run is read by the parser of its program. Commands in sentences are parsed; where they
are parts, their names and options must be there. Blocks of Python without ``>>>`` must compile, and
are written where they name a file; those with are run by tests/test_docs.py.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tools.check_docs.blocks import (
    LANGUAGES,
    ROOT,
    Block,
    Command,
    blocks,
    commands,
    mentions,
    pages,
)
from tools.check_docs.programs import DocumentationError, check
from tools.check_docs.shorter import prepare


def results(page: str, prepared: Path) -> Iterator[tuple[int, str, str, str | None]]:
    """Line, command, how it was checked, and what is wrong, of each command of a page."""
    text = (ROOT / page).read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "docs"
        shutil.copytree(prepared, folder)
        for part in parts(page, text):
            line, text_of_part = part.line, str(part)
            if isinstance(part, Block):
                text_of_part = f"a block of {part.language or '?'}"
            try:
                how = check(part, folder) if isinstance(part, Command) else take(part, folder)
            except Exception as error:  # of whatever program
                yield line, text_of_part, "wrong", f"{type(error).__name__}: {error}"
            else:
                yield line, text_of_part, how, None


def parts(page: str, text: str) -> Iterator[Command | Block]:
    """Commands and blocks of Python, in their order; then the commands of sentences."""
    for block in blocks(page, text):
        if block.language == "sh":
            yield from commands(block)
        elif block.language not in LANGUAGES or block.language == "python":
            yield block
    yield from mentions(page, text)


def take(block: Block, folder: Path) -> str:
    """Compile a block of Python, and write it where it is a file."""
    if block.language not in LANGUAGES:
        raise DocumentationError(f"'{block.language}' is none of {', '.join(sorted(LANGUAGES))}")
    text = "\n".join(block.lines)
    if ">>>" in text:
        return "doctest"
    compile(text, block.page, "exec")
    if block.file is not None:
        (folder / block.file).write_text(text + "\n")
    return "compiled"


def main() -> None:
    """Print how each command was checked; exit with 1 if one is wrong."""
    parser = argparse.ArgumentParser(description="Check the commands of the documentation.")
    parser.add_argument("pages", nargs="*", default=pages(), help="default: all")
    chosen = parser.parse_args().pages
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        os.environ["TEDDY_CACHE"] = f"{name}/cache"
        prepared = Path(name) / "prepared"
        prepared.mkdir()
        prepare(prepared)
        for page in chosen:
            for line, command, how, wrong in results(page, prepared):
                print(f"{page}:{line}: {how}: {command}" + (f"\n    {wrong}" if wrong else ""))
                counts[how.partition(":")[0].split()[0]] += 1
    print(", ".join(f"{number} {how}" for how, number in counts.most_common()))
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
