"""Sparsities with their exact budgets, and checks of counts, numbers and seeds."""

from __future__ import annotations

import math
import operator
from typing import Any

from teddy.errors import InputError

#: Largest supported count.
LARGEST_COUNT = 2**31 - 1

# 0.07 * 100 is 7.000000000000001 in floating point. A product within a few roundings of a whole
# number is that number.
_ROUNDING = 1e-12


def check_count(value: Any, name: str, least: int = 1) -> int:
    """Return a whole number as an int, or raise.

    Example:
        >>> import numpy
        >>> check_count(numpy.int64(3), "epochs")
        3
        >>> check_count(0, "epochs")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: epochs is 0, expected a whole number from 1 to 2147483647
    """
    try:
        count = operator.index(value)
    except TypeError:
        count = least - 1
    if isinstance(value, bool) or not least <= count <= LARGEST_COUNT:
        raise InputError(
            f"{name} is {value}, expected a whole number from {least} to {LARGEST_COUNT}"
        )
    return count


def check_number(value: Any, name: str, positive: bool = False) -> float:
    """Return a finite number of at least 0, or above 0, as a float, or raise.

    Example:
        >>> check_number("nan", "lr")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: lr is nan, expected a number from 0
    """
    number = _real(value)
    if not math.isfinite(number) or number < 0 or (positive and number == 0):
        bound = "above 0" if positive else "from 0"
        raise InputError(f"{name} is {value}, expected a number {bound}")
    return number


def check_seed(value: Any) -> int:
    """Return a seed as an int, or raise."""
    return check_count(value, "seed", 0)


def check_sparsity(value: float, name: str = "sparsity") -> float:
    """Return ``value`` as a float, or raise unless it is in [0, 1].

    Example:
        >>> check_sparsity(64, "graph_sparsity")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: graph_sparsity must be in [0, 1], got 64 (did you mean 0.64?).
    """
    share = _real(value)
    if not 0.0 <= share <= 1.0:
        percent = f" (did you mean {share / 100:g}?)" if 2.0 <= share <= 100.0 else ""
        number = f"{value:g}" if isinstance(value, float) else value
        raise InputError(f"{name} must be in [0, 1], got {number}{percent}.")
    return share


def num_pruned_edges(sparsity: float, num_edges: int) -> int:
    r"""Return the number of removed edges, :math:`\lceil p_g M \rceil` (Algorithm 1).

    Example:
        >>> num_pruned_edges(0.6415, 4552)
        2921
        >>> num_pruned_edges(0.07, 100)  # though 0.07 * 100 > 7 in floating point
        7
    """
    product = check_sparsity(sparsity) * num_edges
    return _whole(product, math.ceil(product))


def num_kept_weights(sparsity: float, num_weights: int) -> int:
    r"""Return the number of kept weights, :math:`h = \lceil (1 - p_\theta) d \rceil` (Section 5.3).

    Example:
        >>> num_kept_weights(0.7, 10)  # though (1 - 0.7) * 10 > 3 in floating point
        3
    """
    product = check_sparsity(sparsity) * num_weights
    return num_weights - _whole(product, math.floor(product))


def schedule_sparsity(level: int, ratio: float = 0.05) -> float:
    r"""Return the sparsity at level i of the paper's schedule, :math:`1 - (1 - 0.05)^i`.

    Example:
        >>> [round(schedule_sparsity(i), 4) for i in (0, 1, 20, 40)]
        [0.0, 0.05, 0.6415, 0.8715]
    """
    if level < 0:
        raise InputError(f"level is {level}, expected 0 (dense) or more")
    return 1.0 - (1.0 - ratio) ** level


def nearest_level(sparsity: float, ratio: float = 0.05) -> int:
    r"""Return the level of the paper's schedule with the nearest sparsity, at least 1.

    Example:
        >>> nearest_level(0.64), nearest_level(0.0), nearest_level(1.0)
        (20, 1, 90)
    """
    kept = max(1.0 - check_sparsity(sparsity), 0.01)
    return max(round(math.log(kept) / math.log(1.0 - ratio)), 1)


def _real(value: Any) -> float:
    """Return a number, or the text of one, as a float; nan for anything else."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _whole(product: float, otherwise: int) -> int:
    nearest = round(product)
    return nearest if abs(product - nearest) <= _ROUNDING * product else otherwise
