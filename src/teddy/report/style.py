"""Looks of labels: one colour, marker and dash, the same in every plot and on the page.

Colours stay distinct under deuteranopia and protanopia, and visible on white and on the page's dark
ground. Markers and dashes tell labels apart without colour.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

#: Colour of text and of the dense model's line.
INK = "#26282c"

#: Ends and middle of a scale of differences: below, equal, above.
BELOW, EQUAL, ABOVE = "#c2551e", "#f7f5f2", "#2a7ab8"

_KNOWN = {
    "teddy": ("#0072b2", "circle"),
    "ugs": ("#b53809", "square"),
    "wd-glt": ("#06aa71", "diamond"),
    "random": ("#ce8f00", "x"),
    "degree-high": ("#ce82ad", "triangle-up"),
    "degree-low": ("#7d32e6", "triangle-down"),
    "two-hop": ("#009dfc", "cross"),
    "k-neighbor": ("#666666", "triangle-left"),
    "local-degree": ("#8a6d1f", "triangle-right"),
    "forest-fire": ("#c2557a", "star"),
    "gain": ("#5f6be0", "diamond"),
    "serving": ("#36a14f", "square"),
    "kept": ("#0072b2", "circle"),
    "pruned": ("#b53809", "x"),
    "accepted": ("#0072b2", "circle"),
    "undecided": ("#ce8f00", "diamond"),
    "rejected": ("#b53809", "x"),
    "bounds": ("#8b8f96", "square"),
    "frontier": ("#06aa71", "square"),
}

_SPARE = ("#2a8f96", "#8d5a3a", "#d820b0", "#9457b5", "#b3446c", "#5d6b82")
_MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
_DASHES = ("dash", "dot", "dashdot", "longdash")

#: Frequent variants, each with its own dash.
_VARIANTS = {"distill=0": 0, "only=edges": 1, "only=weights": 2}


@dataclass(frozen=True)
class Look:
    """Colour, marker and dash of a label, by plotly's names.

    Attributes:
        colour: ``#rrggbb``.
        marker: ``circle``, ``square``, ...
        dash: ``solid``, ``dash``, ``dot``, ``dashdot`` or ``longdash``.
        hollow: Whether the marker is only an outline: a variant of a method.
    """

    colour: str
    marker: str = "circle"
    dash: str = "solid"
    hollow: bool = False


DENSE = Look(INK, "circle", "dash")


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Return the look of each label, in their order.

    A known method has its own colour and marker. With options it has the same colour, a hollow
    marker and a dash. The look of another label follows from its letters, unless a label beside it
    already has that colour.

    Example:
        >>> by_label = looks(["teddy", "teddy:distill=0", "mine"])
        >>> by_label["teddy"]
        Look(colour='#0072b2', marker='circle', dash='solid', hollow=False)
        >>> by_label["teddy:distill=0"].dash, by_label["teddy:distill=0"].colour
        ('dash', '#0072b2')
        >>> by_label["mine"] == looks(["mine"])["mine"]
        True
    """
    wanted = list(dict.fromkeys(labels))
    # Sorted, so that looks do not depend on the order of the labels.
    unknown = sorted({_base(label) for label in wanted} - _KNOWN.keys() - {"dense"})
    bases = {name: Look(*known) for name, known in _KNOWN.items()} | {"dense": DENSE}
    taken: set[str] = set()
    for name in unknown:
        bases[name] = _look_of_unknown(name, taken)
        taken.add(bases[name].colour)
    by_label: dict[str, Look] = {}
    for label in wanted:
        by_label[label] = _variant(bases[_base(label)], label, set(by_label.values()))
    return by_label


def class_looks(classes: Iterable[str]) -> dict[str, Look]:
    """Return the looks of node classes, in their order: distinct colours first, then markers.

    Example:
        >>> [look.marker for look in class_looks(["cat", "dog"]).values()]
        ['circle', 'square']
    """
    colours = list(dict.fromkeys([*(colour for colour, _ in _KNOWN.values()), *_SPARE]))
    count = len(colours)
    return {
        name: Look(
            colours[index % count], _MARKERS[(index % count + index // count) % len(_MARKERS)]
        )
        for index, name in enumerate(dict.fromkeys(classes))
    }


def method_order(labels: Iterable[str]) -> list[str]:
    """Return labels without repetition: known methods first, each before its variants.

    Example:
        >>> method_order(["random", "teddy:distill=0", "mine", "teddy"])
        ['teddy', 'teddy:distill=0', 'random', 'mine']
    """
    known = list(_KNOWN)

    def rank(label: str) -> tuple[Any, ...]:
        base = _base(label)
        # Numbers in options count as numbers: weight_level=5 before weight_level=10.
        words = [(int(w), "") if w.isdecimal() else (-1, w) for w in re.split(r"(\d+)", label)]
        return (known.index(base) if base in _KNOWN else len(known), base, words, label)

    return sorted(set(labels), key=rank)


def plain(text: str) -> str:
    """Escape a text that matplotlib would read as a formula or leave out of a legend.

    Example:
        >>> plain("price in $"), plain("_mine").endswith("_mine")
        ('price in \\\\$', True)
    """
    # A label that begins with an underscore is not shown; one after a zero-width space is.
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")


def _base(label: str) -> str:
    return label.partition(":")[0].strip().lower()


def _look_of_unknown(name: str, taken: set[str]) -> Look:
    first = _number(name)
    colours = [_SPARE[(first + step) % len(_SPARE)] for step in range(len(_SPARE))]
    colour = next((c for c in colours if c not in taken), colours[0])
    return Look(colour, _MARKERS[first // len(_SPARE) % len(_MARKERS)])


def _variant(base: Look, label: str, taken: set[Look]) -> Look:
    options = label.partition(":")[2]
    if not options:
        return base
    first = _VARIANTS.get(options, _number(options))
    shift = 0 if options in _VARIANTS else 1 + first // len(_DASHES)
    start = _MARKERS.index(base.marker) if base.marker in _MARKERS else 0
    for step in range(len(_DASHES) * len(_MARKERS)):
        look = replace(
            base,
            dash=_DASHES[(first + step) % len(_DASHES)],
            marker=_MARKERS[(start + shift + step // len(_DASHES)) % len(_MARKERS)],
            hollow=True,
        )
        if look not in taken:
            return look
    return look


def _number(text: str) -> int:
    """Return a number that depends on the letters only, in every process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
