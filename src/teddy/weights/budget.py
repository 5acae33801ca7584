"""Weight budget: excluded parameters, and parameters that share a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from torch import nn

from teddy.errors import InputError
from teddy.settings.weights import SCOPES, ExcludeLike, exclude_items
from teddy.sparsity import num_kept_weights


def excluded_parameters(model: nn.Module, exclude: Sequence[ExcludeLike]) -> set[str]:
    """Return the names of the parameters that patterns match.

    A pattern matches the name of a parameter, of a module that contains it, or of such a module's
    class. A class matches parameters of its instances.

    Args:
        model: The model.
        exclude: Patterns and module classes, see :class:`teddy.settings.WeightBudget`.

    Raises:
        InputError: if a pattern matches nothing.

    Example:
        >>> model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        >>> sorted(excluded_parameters(model, ["0.bias", nn.BatchNorm1d]))
        ['0.bias', '1.bias', '1.weight']
    """
    modules = dict(model.named_modules())
    names: dict[str, set[str]] = {}
    owners: dict[str, list[nn.Module]] = {}
    for name, _ in model.named_parameters():
        parts = name.split(".")
        inside = [".".join(parts[:end]) for end in range(1, len(parts))]
        owners[name] = [modules[path] for path in inside]
        classes = {kind.__name__ for owner in owners[name] for kind in type(owner).__mro__}
        names[name] = {name, *inside} | (classes - {"Module", "object"})
    excluded: set[str] = set()
    for item in exclude_items(exclude):
        matched = {
            name
            for name in names
            if (
                any(fnmatchcase(text, item) for text in names[name])
                if isinstance(item, str)
                else any(isinstance(owner, item) for owner in owners[name])
            )
        }
        if not matched:
            pattern = item if isinstance(item, str) else item.__name__
            first = ", ".join(list(names)[:6])
            raise InputError(
                f"weight_exclude '{pattern}' matches no parameter of the {type(model).__name__}, "
                f"expected patterns of names such as {first}, or module classes"
            )
        excluded |= matched
    return excluded


def check_scope(scope: str) -> str:
    """Return the scope, or raise if it is unknown."""
    if scope not in SCOPES:
        raise InputError(f"weight_scope is '{scope}', expected one of: {', '.join(SCOPES)}")
    return scope


@dataclass(frozen=True)
class Pool:
    """Parameters that share a budget: their largest entries together are kept.

    Attributes:
        indices: Indices of the parameters in the list of all parameters.
        num_kept: Number of kept entries.
    """

    indices: tuple[int, ...]
    num_kept: int


def pools(shapes: Sequence[Sequence[int]], scope: str, sparsity: float) -> list[Pool]:
    """Divide parameters into pools with a budget each, by a scope of :class:`WeightBudget`.

    Example:
        >>> shapes = [[64, 8], [8], [8, 2]]  # weight, bias, weight
        >>> pools(shapes, "global", 0.5)
        [Pool(indices=(0, 1, 2), num_kept=268)]
        >>> pools(shapes, "matrix", 0.5)
        [Pool(indices=(0,), num_kept=256), Pool(indices=(2,), num_kept=8)]
        >>> pools(shapes, "balanced", 0.5)
        [Pool(indices=(0,), num_kept=248), Pool(indices=(2,), num_kept=16)]
    """
    sizes = [math.prod(shape) for shape in shapes]
    if check_scope(scope) == "global":
        return [Pool(tuple(range(len(sizes))), num_kept_weights(sparsity, sum(sizes)))]
    matrices = [index for index, shape in enumerate(shapes) if len(shape) >= 2]
    if scope == "matrix":
        counts = [num_kept_weights(sparsity, sizes[index]) for index in matrices]
    else:
        total = num_kept_weights(sparsity, sum(sizes[index] for index in matrices))
        counts = balanced_counts([shapes[index] for index in matrices], total)
    return [Pool((index,), count) for index, count in zip(matrices, counts, strict=True)]


def balanced_counts(shapes: Sequence[Sequence[int]], total: int) -> list[int]:
    r"""Return the number of kept entries per matrix, in proportion to the sum of its dimensions.

    This is the Erdos-Renyi allocation of `Mocanu et al. (2018)
    <https://arxiv.org/abs/1707.04780>`_: a matrix of :math:`n \times m` entries keeps
    :math:`\epsilon (n + m)` of them, at most all, with the :math:`\epsilon` that makes the sum
    ``total``. Fractions are rounded down; the remainder goes to the largest fractions.

    Example:
        >>> balanced_counts([[100, 50], [50, 7]], 1000)
        [725, 275]
        >>> balanced_counts([[100, 50], [2, 2]], 1000)
        [996, 4]
    """
    sizes = [math.prod(shape) for shape in shapes]
    counts, open_indices = list(sizes), list(range(len(sizes)))
    while open_indices:
        left = total - sum(sizes) + sum(sizes[index] for index in open_indices)
        sums = sum(sum(shapes[index]) for index in open_indices)
        wanted = {index: left * sum(shapes[index]) / sums for index in open_indices}
        full = [index for index in open_indices if wanted[index] >= sizes[index]]
        if full:
            open_indices = [index for index in open_indices if index not in full]
            continue
        for index in open_indices:
            counts[index] = int(wanted[index])
        by_fraction = sorted(open_indices, key=lambda index: counts[index] - wanted[index])
        for index in by_fraction[: total - sum(counts)]:
            counts[index] += 1
        break
    return counts
