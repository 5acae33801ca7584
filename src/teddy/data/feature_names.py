"""What the columns of ``x`` are called, where they came from a table."""

from __future__ import annotations

from collections.abc import Iterable

from torch_geometric.data import Data

from teddy.data.features import num_features
from teddy.data.reading import shorten
from teddy.errors import InputError


def feature_names(data: Data) -> list[str] | None:
    """The names of the columns of ``x``, each once; None where they aren't known.

    A transform that makes other columns leaves the names of those that there were: names that
    aren't as many are nobody's.

    Example:
        >>> import torch
        >>> feature_names(Data(x=torch.ones(3, 2), feature_names=["age", "height"]))
        ['age', 'height']
        >>> feature_names(Data(x=torch.ones(3, 5), feature_names=["age", "height"])) is None
        True
    """
    given = data.get("feature_names")
    names = [] if given is None else [str(name) for name in given]
    return names if len(set(names)) == num_features(data.x) == len(names) else None


def column_order(names: list[str], expected: list[str]) -> list[int] | None:
    """Where each column that is expected is; None if all are in their places.

    Raises:
        InputError: if they aren't the same columns.

    Example:
        >>> column_order(["height", "age"], ["age", "height"])
        [1, 0]
        >>> column_order(["age", "size"], ["age", "height"])
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: features aren't those that the model has learned from: missing
        'height', new 'size'
    """
    if names == expected:
        return None
    place = {name: number for number, name in enumerate(names)}
    parts = {"missing": [n for n in expected if n not in place], "new": set(names) - set(expected)}
    if any(parts.values()):
        differ = ", ".join(f"{part} {_listed(which)}" for part, which in parts.items() if which)
        raise InputError(f"features aren't those that the model has learned from: {differ}")
    return [place[name] for name in expected]


def _listed(names: Iterable[str]) -> str:
    return shorten(", ".join(repr(name) for name in sorted(names)))
