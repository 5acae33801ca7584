"""A method with its options in one word, for grids and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from teddy.errors import InputError
from teddy.methods.level import Level
from teddy.methods.method import METHODS, Method
from teddy.training import TrainConfig

#: What a ticket leaves out, by the part that alone is made sparse.
ONLY = ("edges", "weights")


@dataclass(frozen=True)
class MethodSpec:
    """A method and what is special about it.

    Attributes:
        name: Of the method.
        options: Of the method, sorted by name.
        distill: Strength of the distillation, if not the method's own.
        only: ``edges`` or ``weights``: leave the other dense.

    Example:
        >>> MethodSpec.parse("ugs:weights=projection:distill=10")
        MethodSpec(name='ugs', options=(('weights', 'projection'),), distill=10.0, only=None)
        >>> str(MethodSpec.parse("teddy:only=edges:distill=0.0"))
        'teddy:distill=0:only=edges'
        >>> MethodSpec.parse("teddy:l2=1")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: teddy has no option 'l2', expected one of: weights, distill, only
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    distill: float | None = None
    only: str | None = None

    @staticmethod
    def parse(text: str) -> MethodSpec:
        """Read ``name:option=value:...``."""
        name, *parts = text.strip().split(":")
        method = METHODS[name]
        values = dict(_read(method, part) for part in parts)
        distill, only = values.pop("distill", None), values.pop("only", None)
        if only not in (None, *ONLY):
            raise InputError(f"only is '{only}', expected one of: {', '.join(ONLY)}")
        if distill is not None:
            TrainConfig(distill=distill)  # raises if it can't be
        method.check(**values)
        return MethodSpec(name, tuple(sorted(values.items())), distill, only)

    @property
    def method(self) -> Method:
        """The method itself."""
        return METHODS[self.name]

    def level(self, level: Level) -> Level:
        """A level, without the part that is to stay dense."""
        return Level(
            0.0 if self.only == "weights" else level.graph_sparsity,
            0.0 if self.only == "edges" else level.weight_sparsity,
        )

    def __str__(self) -> str:
        return ":".join([self.name, *self._parts()])

    def _parts(self) -> Iterator[str]:
        values = {**dict(self.options), "distill": self.distill, "only": self.only}
        for name, value in sorted(values.items()):
            if value is not None:
                yield f"{name}={_text(value)}"


def _text(value: Any) -> str:
    """As short as it can be read again."""
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)


def _read(method: Method, part: str) -> tuple[str, Any]:
    name, equals, text = part.partition("=")
    defaults = {**method.options, "distill": 0.0, "only": ""}
    if name not in defaults:
        known = ", ".join(defaults)
        raise InputError(f"{method.name} has no option '{name}', expected one of: {known}")
    kind = type(defaults[name])
    if kind is bool and text.lower() in ("true", "false"):
        return name, text.lower() == "true"
    if kind not in (float, int, bool):
        return name, text
    try:
        return name, {float: float, int: int, bool: int}[kind](text)
    except ValueError:
        what = {float: "a number", int: "a whole number", bool: "true or false"}[kind]
        got = f"'{text}'" if equals else "nothing"
        raise InputError(f"option '{name}' of {method.name} is {got}, expected {what}") from None
