"""Docstrings as Sphinx writes them, for the site: mathematics as MathML, roles as links."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from textwrap import dedent
from typing import Any
from unicodedata import lookup

import griffe
from latex2mathml.converter import convert

BLOCK = re.compile(r"^( *)\.\. math::\n((?:\1 +.*\n?|\n)+)", re.MULTILINE)
INLINE = re.compile(r":math:`([^`]+)`")
ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`(~?)\.?([\w.]+)`")
LINK = re.compile(r"`([^`<]+?)\s+<(https?://[^>]+)>`_+")
#: Letters that browsers draw as plain ones: they ignore these variants.
LETTER = re.compile(r'<mi mathvariant="(script|double-struck)">([A-Z])</mi>')
EXAMPLE = re.compile(r"^Example:$", re.MULTILINE)


def mathml(latex: str, display: str = "inline") -> str:
    """A formula that browsers draw without a script or a font from elsewhere.

    Example:
        >>> mathml("x^2")
        '<math ...><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'
        >>> mathml(r"\\mathcal L")
        '<math ...><mrow><mi>ℒ</mi></mrow></math>'
    """
    text = " ".join(convert(" ".join(latex.split()), display=display).split())
    return LETTER.sub(_letter, text)


def _letter(match: re.Match[str]) -> str:
    name = f"{match[1].upper()} CAPITAL {match[2]}"
    try:
        letter = lookup(f"MATHEMATICAL {name}")
    except KeyError:  # such as "SCRIPT CAPITAL L"
        letter = lookup(name)
    return f"<mi>{letter}</mi>"


def linked(name: str, short: bool, obj: griffe.Object) -> str:
    """A name as code, linked where the reference has it."""
    try:
        path = obj.resolve(name)
    except griffe.NameResolutionError:
        path = name
    shown = name.rpartition(".")[2] if short else name
    return f'<autoref identifier="{escape(path)}" optional><code>{escape(shown)}</code></autoref>'


def inline(text: str) -> str:
    """Formulas in a line, and links.

    Example:
        >>> inline("`A paper <https://a.org>`_")
        '[A paper](https://a.org)'
    """
    return LINK.sub(r"[\1](\2)", INLINE.sub(lambda m: mathml(m[1]), text))


def rendered(text: str, obj: griffe.Object) -> str:
    """A docstring in Markdown."""
    text = BLOCK.sub(lambda m: f"{m[1]}{mathml(dedent(m[2]), 'block')}\n\n", text)
    text = inline(text)
    text = ROLE.sub(lambda m: linked(m[2], bool(m[1]), obj), text)
    return EXAMPLE.sub("Examples:", text)


class Roles(griffe.Extension):
    """Renders docstrings as they are read; ``#:`` comments become those of attributes."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Render one."""
        if obj.docstring is None and obj.is_attribute:
            comment = above(obj)
            if comment:
                obj.docstring = griffe.Docstring(comment, parent=obj)
        if obj.docstring is not None:
            obj.docstring.value = rendered(obj.docstring.value, obj)


def above(obj: griffe.Object) -> str:
    """The ``#:`` comment above an attribute."""
    assert isinstance(obj.filepath, Path)
    lines, comment = obj.lines_collection[obj.filepath], []
    number = (obj.lineno or 1) - 2
    while number >= 0 and lines[number].strip().startswith("#:"):
        comment.append(lines[number].strip().removeprefix("#:").strip())
        number -= 1
    return "\n".join(reversed(comment))
