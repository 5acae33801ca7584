"""What works with what: parts of a search say what they do not support, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from teddy.errors import InputError

#: Features of a search that a task, model, score or method may not support, with their words.
FEATURES: dict[str, str] = {
    "heterogeneous": "heterogeneous graphs",
    "inductive": "inductive training",
    "mini-batches": "mini-batches (loader)",
    "directed": "directed messages",
    "edge weights": "edge weights",
    "class weights": "class weights",
    "weighted degrees": "weighted degrees (weighted=True)",
    "edge masks": "learned edge masks",
    "weight masks": "learned weight masks (weights=masks)",
    "whole units": "whole hidden units (structure=neurons)",
    "label inputs": "labels as inputs (label_rate)",
}


@dataclass(frozen=True)
class Part:
    """A task, model, score, method or feature of a search.

    Attributes:
        kind: ``task``, ``model``, ``score``, ``method`` or ``feature``.
        name: Its name.
        unsupported: Names of other parts that it does not support, each with the reason.
    """

    kind: str
    name: str
    unsupported: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return FEATURES[self.name] if self.kind == "feature" else f"{self.kind} {self.name}"


def reason_against(parts: Iterable[Part]) -> str | None:
    """The first reason why parts do not go together, as a sentence; None if they do.

    Example:
        >>> task = Part("task", "link-prediction", {"inductive": "its split is of links"})
        >>> reason_against([task, Part("feature", "inductive")])
        'task link-prediction does not support inductive training: its split is of links'
    """
    for one, other in permutations(parts, 2):
        if other.name in one.unsupported:
            return f"{one} does not support {other}: {one.unsupported[other.name]}"
    return None


def check_combination(parts: Iterable[Part]) -> None:
    """Raise if parts do not go together."""
    reason = reason_against(list(parts))
    if reason is not None:
        raise InputError(reason)
