"""How a label looks: one colour, marker and dash, the same in every plot and on the page.

Colours keep their distance under deuteranopia and protanopia, and can be seen on white and on
the page's dark ground; markers and dashes say the same again without colour.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

#: Of text and of the dense model's line.
INK = "#26282c"

#: Ends and middle of a scale of differences: below, equal, above.
BELOW, EQUAL, ABOVE = "#c2551e", "#f7f5f2", "#2a7ab8"

_KNOWN = {
    "teddy": ("#0072b2", "circle"),
    "ugs": ("#b53809", "square"),
    "wd-glt": ("#06aa71", "diamond"),
    "random": ("#666666", "x"),
    "degree-high": ("#ce82ad", "triangle-up"),
    "degree-low": ("#ce8f00", "triangle-down"),
    "two-hop": ("#009dfc", "cross"),
    "k-neighbor": ("#7a5fc0", "triangle-left"),
    "local-degree": ("#8a6d1f", "triangle-right"),
    "forest-fire": ("#c2557a", "star"),
    "gain": ("#5f6be0", "diamond"),
    "kept": ("#0072b2", "circle"),
    "pruned": ("#b53809", "x"),
    "accepted": ("#0072b2", "circle"),
    "undecided": ("#ce8f00", "diamond"),
    "rejected": ("#b53809", "x"),
    "bounds": ("#8b8f96", "square"),
    "frontier": ("#06aa71", "square"),
}

_SPARE = ("#2a8f96", "#8d5a3a", "#64801f", "#9457b5", "#b3446c", "#5d6b82")
_MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
_DASHES = ("dash", "dot", "dashdot", "longdash")

#: Variants that are met often, so that none of them share a dash.
_VARIANTS = {"distill=0": 0, "only=edges": 1, "only=weights": 2}


@dataclass(frozen=True)
class Look:
    """Colour, marker and dash of a label, in the words of plotly.

    Attributes:
        colour: As ``#rrggbb``.
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
    """How each of these labels looks, in their order.

    A known method has its own colour and marker, with options the same colour, a hollow marker
    and a dash. Another label has a look that follows from its letters, unless a label beside it
    has that colour already.

    Example:
        >>> found = looks(["teddy", "teddy:distill=0", "mine"])
        >>> found["teddy"]
        Look(colour='#0072b2', marker='circle', dash='solid', hollow=False)
        >>> found["teddy:distill=0"].dash, found["teddy:distill=0"].colour
        ('dash', '#0072b2')
        >>> found["mine"] == looks(["mine"])["mine"]
        True
    """
    wanted = list(dict.fromkeys(labels))
    # In the order of their names, so that the same labels look the same however they are listed.
    unknown = sorted({_base(label) for label in wanted} - _KNOWN.keys() - {"dense"})
    bases = {name: Look(*known) for name, known in _KNOWN.items()} | {"dense": DENSE}
    taken: set[str] = set()
    for name in unknown:
        bases[name] = _own(name, taken)
        taken.add(bases[name].colour)
    found: dict[str, Look] = {}
    for label in wanted:
        found[label] = _variant(bases[_base(label)], label, set(found.values()))
    return found


def class_looks(classes: Iterable[str]) -> dict[str, Look]:
    """How classes of nodes look, in their order: colours told apart first, markers as well.

    Example:
        >>> [look.marker for look in class_looks(["cat", "dog"]).values()]
        ['circle', 'square']
    """
    colours = [*dict.fromkeys(colour for colour, _ in _KNOWN.values()), *_SPARE]
    return {
        name: Look(
            colours[index % len(colours)], _MARKERS[(index + index // len(colours)) % len(_MARKERS)]
        )
        for index, name in enumerate(dict.fromkeys(classes))
    }


def method_order(labels: Iterable[str]) -> list[str]:
    """Labels without repetition: known methods first, each before its variants.

    Example:
        >>> method_order(["random", "teddy:distill=0", "mine", "teddy"])
        ['teddy', 'teddy:distill=0', 'random', 'mine']
    """
    known = list(_KNOWN)

    def place(label: str) -> tuple[Any, ...]:
        base = _base(label)
        # Numbers in options count as numbers: weight_level=5 before weight_level=10.
        words = [(int(w), "") if w.isdecimal() else (-1, w) for w in re.split(r"(\d+)", label)]
        return (known.index(base) if base in _KNOWN else len(known), base, words, label)

    return sorted(set(labels), key=place)


def _base(label: str) -> str:
    return label.partition(":")[0].strip().lower()


def _own(name: str, taken: set[str]) -> Look:
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
    """A number that follows from the letters, the same on every machine and in every process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
