"""Capabilities: each part of a search declares the parts that it does not support, and why.

A part is a task, model, score, method, feature or use of a ticket. :func:`check_combination`
compares the parts of a search and raises one sentence. ``docs/capabilities.md`` is generated from
the same declarations, and a test runs every cell of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from teddy.errors import InputError

_ONE_STEP = "masks need all rows in one step"


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a task, model, score, method, feature or use of a ticket.

    Attributes:
        kind: ``task``, ``model``, ``score``, ``method``, ``feature`` or ``use``.
        name: Its name.
        unsupported: Names of the parts that it does not support, each with the reason.
        needs: Abilities that the other parts must not declare as unsupported, such as
            ``node classes``, one class of each node.
        text: Name of the part in messages; by default kind and name.
    """

    kind: str
    name: str
    unsupported: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        return self.text or f"{self.kind} {self.name}"


#: Features of a search, in the order of the docs.
FEATURES: dict[str, Capabilities] = {
    part.name: part
    for part in (
        Capabilities("feature", "heterogeneous", text="a HeteroData"),
        Capabilities("feature", "inductive", text="inductive training (inductive)"),
        Capabilities("feature", "mini-batches", text="mini-batches (loader)"),
        Capabilities("feature", "directed", text="directed messages (directed)"),
        Capabilities("feature", "edge weights", text="edge weights (edge_weight)"),
        Capabilities("feature", "class weights", text="class weights (class_weight)"),
        Capabilities("feature", "weighted degrees", needs=("edge weights",),
             text="weighted degrees (weighted=true)"),
        Capabilities("feature", "edge masks", {"mini-batches": _ONE_STEP},
             text="learning of edge masks (ugs, wd-glt)"),
        Capabilities("feature", "weight masks", {"mini-batches": _ONE_STEP},
             text="learning of weight masks (weights=masks)"),
        Capabilities("feature", "whole units", {
            "weight masks": "units are removed by the projection",
        }, text="pruning of whole hidden units (structure=neurons)"),
        Capabilities("feature", "label inputs", {
            "heterogeneous": "its model, unimp, takes nodes of one type",
            "inductive": "labels of unseen nodes are unknown",
            "mini-batches": "labels are drawn for the whole graph",
            "whole units": "its model, unimp, compares the hidden units of a head",
        }, ("node classes",), text="label input (label_rate)"),
    )
}  # fmt: skip


def reason_against(parts: Iterable[Capabilities]) -> str | None:
    """Return a sentence on the first pair of parts that do not go together; None if all do.

    Example:
        >>> task = Capabilities("task", "link-prediction", {"inductive": "it splits links"})
        >>> reason_against([task, FEATURES["inductive"]])
        'task link-prediction does not support inductive training (inductive): it splits links'
    """
    for one, other in permutations(parts, 2):
        for name in (other.name, *other.needs):
            if name in one.unsupported:
                return f"{one} does not support {other}: {one.unsupported[name]}"
    return None


def check_combination(parts: Iterable[Capabilities]) -> None:
    """Raise if parts do not go together.

    Example:
        >>> check_combination([FEATURES["edge masks"], FEATURES["mini-batches"]])
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: learning of edge masks (ugs, wd-glt) does not support ...
    """
    reason = reason_against(list(parts))
    if reason is not None:
        raise InputError(reason)
