"""Code blocks and commands of the documentation."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
LANGUAGES = {"bibtex", "dockerfile", "sh", "python", "text", "csv", "json", "math"}
OPENING = re.compile(r"^```(\w*)(?: (\S+))?$")
SPAN = re.compile(r"`((?:teddy |make |torchrun |pip install |python -m |python tools/)[^`]*)`")
ASSIGNMENT = re.compile(r"^(?:export )?([A-Z_]+)=(\S+)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its place, its language, and its file name if it has one."""

    page: str
    line: int
    language: str
    file: str | None
    lines: list[str]


@dataclass(frozen=True)
class Command:
    """A command that a reader may type.

    Attributes:
        page: Page with the command.
        line: Line number on the page.
        words: Words without the comment, with variables replaced.
        out: File for the output, after ``>``.
        inline: True in a sentence, where it may be a part of a command.
    """

    page: str
    line: int
    words: list[str] = field(compare=False)
    out: str | None = None
    inline: bool = False

    def __str__(self) -> str:
        return " ".join(self.words)


def pages() -> list[str]:
    """Return the pages to check, without the tutorial and stored results."""
    docs = (p.relative_to(ROOT).as_posix() for p in (ROOT / "docs").rglob("*.md"))
    written = (page for page in docs if not page.startswith("docs/results/"))
    readmes = (p.relative_to(ROOT).as_posix() for p in (ROOT / "src").rglob("README.md"))
    return ["README.md", "CONTRIBUTING.md", *sorted(written), *sorted(readmes)]


def blocks(page: str, text: str) -> Iterator[Block]:
    """Return the fenced blocks of a page.

    Example:
        >>> [(b.language, b.file, b.lines) for b in blocks("a.md", "```csv a.csv\\n1\\n```")]
        [('csv', 'a.csv', ['1'])]
    """
    block: Block | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if block is None and (match := OPENING.match(line)):
            block = Block(page, number, match[1], match[2], [])
        elif block is not None and line == "```":
            yield block
            block = None
        elif block is not None:
            block.lines.append(line)


def commands(block: Block) -> Iterator[Command]:
    r"""Return the commands of a shell block.

    Example:
        >>> block = Block("a.md", 1, "sh", None, ["X=gin", r"teddy find \\", "  --model $X > a"])
        >>> [(str(c), c.out) for c in commands(block)]
        [('teddy find --model gin', 'a')]
    """
    variables: dict[str, str] = {}
    begun = ""
    for number, line in enumerate(block.lines, block.line + 1):
        begun += line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        if match := ASSIGNMENT.match(begun):
            variables[match[1]] = match[2]
        else:
            words = shlex.split(begun, comments=True)
            words = [re.sub(r"\$(\w+)", lambda m: variables[m[1]], word) for word in words]
            out = words[-1] if words[-2:-1] == [">"] else None
            if words:
                yield Command(block.page, number, words[:-2] if out else words, out)
        begun = ""


def mentions(page: str, text: str) -> Iterator[Command]:
    """Return the commands in sentences, between backticks.

    Example:
        >>> [str(c) for c in mentions("a.md", "`teddy find --out F` and `x`")]
        ['teddy find --out F']
    """
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.startswith("```")
        if not fenced:
            for match in SPAN.finditer(line):
                yield Command(page, number, shlex.split(match[1]), inline=True)
