"""Conversion of Markdown for a code host into Markdown for the site.

A code host renders CommonMark and follows links anywhere in the repository; the site renders Python
Markdown and holds ``docs/`` alone. Pages are written for the code host.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: Pages of the site that are files of the repository outside docs/.
OUTSIDE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
FENCE = re.compile(r"^ *(`{3,})")
FILE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
ITEM = re.compile(r"^([-*]|\d+\.) ")
LANGUAGES = {".py": "python", ".json": "json", ".csv": "text"}


def home(uri: str) -> str:
    """Return the path in the repository of a page of the site.

    Example:
        >>> home("index.md"), home("recipes/figure.md")
        ('README.md', 'docs/recipes/figure.md')
    """
    return OUTSIDE.get(uri, f"docs/{uri}")


def place(path: str) -> str:
    """Return the page or file of the site for a path in the repository.

    Example:
        >>> place("README.md"), place("docs/data.md"), place("examples/directed.py")
        ('index.md', 'data.md', 'files/examples/directed.py.md')
    """
    for uri, outside in OUTSIDE.items():
        if path == outside:
            return uri
    inside = path.removeprefix("docs/").replace(".ipynb", ".md")
    return inside if inside != path else f"files/{path}.md"


def relink(text: str, uri: str) -> str:
    """Turn links between files of the repository into links between pages of the site.

    Example:
        >>> relink("[data](docs/data.md#splits), [one](https://one.org)", "index.md")
        '[data](data.md#splits), [one](https://one.org)'
        >>> relink("[start](../README.md)", "data.md")
        '[start](index.md)'
    """

    def moved(match: re.Match[str]) -> str:
        target, hash_, anchor = match[1].partition("#")
        if "://" in target or not target:
            return match[1]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(home(uri)), target))
        return posixpath.relpath(place(path), posixpath.dirname(uri) or ".") + hash_ + anchor

    return outside_fences(text, lambda line: LINK.sub(moved, line))


def linked_files(pages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Return the files and folders outside docs/ that pages link to.

    Example:
        >>> list(linked_files([("own.md", "[all](../examples), [start](../README.md)")]))
        ['examples']
    """
    linked: dict[str, None] = {}
    for uri, text in pages:
        for match in LINK.finditer(text):
            target = match[1].partition("#")[0]
            if "://" not in target and target:
                path = posixpath.normpath(posixpath.join(posixpath.dirname(home(uri)), target))
                if place(path).startswith("files/"):
                    linked[path] = None
    return iter(linked)


def file_page(path: str) -> str:
    """Return a file of the repository as a page, or a folder as a list of its files.

    Example:
        >>> print(file_page("examples"))
        # `examples`
        - [`class_weights.py`](examples/class_weights.py.md)
        ...
    """
    if (ROOT / path).is_dir():
        names = sorted(p.name for p in (ROOT / path).iterdir() if p.is_file())
        lines = [f"- [`{name}`]({posixpath.basename(path)}/{name}.md)" for name in names]
        return "\n".join([f"# `{path}`", *lines])
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"# `{path}`\n````{language}\n{(ROOT / path).read_text().rstrip()}\n````\n"


def spaced(text: str) -> str:
    """Insert blank lines before lists and tables, where Python Markdown needs them.

    Example:
        >>> spaced("Two things:\\n- one\\n- two")
        'Two things:\\n\\n- one\\n- two'
    """
    lines: list[str] = []

    def kind(line: str) -> str:
        starts = {"|": "row", "<!--": "comment"}
        kinds = (name for start, name in starts.items() if line.startswith(start))
        return "item" if ITEM.match(line) else next(kinds, "")

    def add(line: str) -> str:
        before = lines[-1] if lines else ""
        other = bool(before and line) and kind(line) != kind(before)
        wrapped = kind(line) == "item" and before.startswith(" ")  # the item before has two lines
        if other and not wrapped and (kind(line) or kind(before) != "item"):
            lines.append("")
        lines.append(line)
        return line

    outside_fences(text, add, lines.append)
    return "\n".join(lines)


def titled(text: str) -> str:
    """Turn the file name after the language of a block into the block's title.

    Example:
        >>> titled("```csv edges.csv")
        '```csv title="edges.csv"'
    """
    return FILE.sub(r'```\1 title="\2"', text)


def sessions(text: str) -> str:
    """Mark Python blocks with prompts as sessions: their output is not highlighted as code.

    Example:
        >>> print(sessions("```python\\n>>> 1 + 1\\n2\\n```").splitlines()[0])
        ```pycon
    """
    return text.replace("```python\n>>> ", "```pycon\n>>> ")


def outside_fences(
    text: str, change: Callable[[str], str], keep: Callable[[str], object] = lambda _: None
) -> str:
    """Change the lines outside of fenced blocks; call ``keep`` with the others."""
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence or mark:
            if mark:
                fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
            keep(line)
            lines.append(line)
        else:
            lines.append(change(line))
    return "\n".join(lines)
