"""Numbers that a user gives: counts, strengths and seeds."""

from __future__ import annotations

import math
import operator
from typing import Any

from teddy.errors import InputError

_MOST = 2**31 - 1


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
    if isinstance(value, bool) or not least <= count <= _MOST:
        raise InputError(f"{name} is {value}, expected a whole number from {least} to {_MOST}")
    return count


def check_number(value: Any, name: str, positive: bool = False) -> float:
    """Return a finite number from 0, or above it, as a float, or raise.

    Example:
        >>> check_number("nan", "lr")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: lr is nan, expected a number from 0
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0 or (positive and number == 0):
        bound = "above 0" if positive else "from 0"
        raise InputError(f"{name} is {value}, expected a number {bound}")
    return number


def check_seed(value: Any) -> int:
    """Return a seed as an int, or raise.

    Example:
        >>> check_seed(7)
        7
    """
    return check_count(value, "seed", 0)
