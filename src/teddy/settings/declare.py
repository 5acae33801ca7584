"""Declarations of settings: default, help text, allowed values and help panel in one line."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, field, fields
from functools import cache
from types import NoneType
from typing import Any, get_args, get_type_hints

from teddy.errors import InputError
from teddy.registry import did_you_mean
from teddy.sparsity import LARGEST_COUNT

#: Panels of options in the help and of settings in the docs, in this order.
PANELS = ("Data", "Model", "Pruning", "Training", "Output", "Advanced")

#: Metadata key under which a dataclass field keeps its declaration.
KEY = "setting"


def setting(default: Any, help: str, **declared: Any) -> Any:
    """Declare a setting as a field of a frozen dataclass that inherits from :class:`Config`.

    Args:
        default: Its default.
        help: Its help text.
        declared: Further attributes of :class:`Entry`, from ``panel`` on.

    Example:
        >>> @dataclass(frozen=True)
        ... class Example(Config):
        ...     epochs: int = setting(200, "Epochs of each training.", low=1)
        >>> Example(epochs=0)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: epochs is 0, expected a whole number from 1 to 2147483647
    """
    return field(default=default, metadata={KEY: {"help": help, **declared}})


@dataclass(frozen=True)
class Config:
    """Base of groups of settings, which checks values against their declarations."""

    def __post_init__(self) -> None:
        for entry in declared_settings(type(self)):
            value = entry.check(getattr(self, entry.attribute))
            object.__setattr__(self, entry.attribute, value)


@dataclass(frozen=True)
class Entry:
    """A declared setting of a group.

    Attributes:
        name: Public name, for keywords, options and tickets.
        attribute: Name of the group's field.
        kind: Type of its values: bool, int, float, str or object.
        optional: Whether None is a value, for a default that is chosen later.
        default: Its default.
        help: Help text of the command line and the docs.
        panel: Panel of the help, one of :data:`PANELS`.
        low: Smallest value, itself allowed.
        above: Bound that a value must exceed.
        high: Largest value, itself allowed.
        choices: Allowed values.
        tune: Range that ``teddy tune`` searches, on a logarithmic scale; None: not searched.
        per_method: Whether a method of a sweep may have its own value, as in
            ``teddy:temperature=2``. The shared dense model does not depend on it.
        envvar: Environment variable that the command line reads.
        many: Whether the command-line option may be repeated.
    """

    name: str
    attribute: str
    kind: type
    optional: bool
    default: Any
    help: str
    panel: str = "Training"
    low: float | None = None
    above: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    tune: tuple[float, float] | None = None
    per_method: bool = False
    envvar: str | None = None
    many: bool = False

    def check(self, value: Any) -> Any:
        """Return a value in the setting's type, or raise."""
        if value is None and self.optional:
            return None
        checked = value
        if self.choices or self.kind is bool:
            good = value in self.choices if self.choices else isinstance(value, bool)
        elif self.kind in (int, float):
            checked = self._number(value)
            good = checked is not None and math.isfinite(checked) and self._is_within(checked)
        else:
            good = True
        if not good:
            shown = f"'{value}'" if isinstance(value, str) else value
            hint = did_you_mean(str(value), self.choices)
            raise InputError(f"{self.name} is {shown}, expected {self.expected()}{hint}")
        return checked

    def _number(self, value: Any) -> float | None:
        """A value as an int or a float; None for anything else."""
        if self.kind is int and isinstance(value, bool):
            return None
        try:
            return operator.index(value) if self.kind is int else float(value)
        except (TypeError, ValueError):
            return None

    def _is_within(self, number: float) -> bool:
        """Return True for a number within the bounds, by default from 0."""
        low = 0 if self.low is None and self.above is None else self.low
        high = LARGEST_COUNT if self.high is None and self.kind is int else self.high
        return (
            (low is None or number >= low)
            and (self.above is None or number > self.above)
            and (high is None or number <= high)
        )

    def expected(self) -> str:
        """Text of the allowed values.

        Example:
            >>> from teddy.settings import ENTRIES
            >>> ENTRIES["weight_ramp"].expected(), ENTRIES["distill_nodes"].expected()
            ('a number above 0, up to 1', 'one of: all, training')
        """
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        if self.kind is bool:
            return "true or false"
        if self.kind is int:
            return f"a whole number from {self.low or 0:g} to {self.high or LARGEST_COUNT}"
        if self.above is not None:
            most = f", up to {self.high:g}" if self.high else ""
            return f"a number above {self.above:g}{most}"
        return f"a number from {self.low or 0:g}" + (f" to {self.high:g}" if self.high else "")


def declared_settings(group: Any) -> tuple[Entry, ...]:
    """Settings of a group, in order.

    Example:
        >>> from teddy.settings import TrainConfig
        >>> [entry.name for entry in declared_settings(TrainConfig)][:3]
        ['epochs', 'lr', 'weight_decay']
    """
    return _entries(group)


@cache
def _entries(
    group: Any,
) -> tuple[Entry, ...]:  # mypy: a dataclass is not hashable
    hints, prefix = get_type_hints(group), getattr(group, "PREFIX", "")
    entries = []
    for declared in fields(group):
        if KEY in declared.metadata:
            kinds = get_args(hints[declared.name]) or (hints[declared.name],)
            kind = next((k for k in kinds if k in (bool, int, float, str)), object)
            if {int, str} <= set(kinds):
                kind = object
            entries.append(
                Entry(
                    f"{prefix}{declared.name}", declared.name, kind, NoneType in kinds,
                    declared.default, **declared.metadata[KEY],
                )
            )  # fmt: skip
    return tuple(entries)
