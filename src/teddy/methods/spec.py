"""``MethodSpec``: a method with options, an object or text ``name:option=value:...``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from teddy.errors import InputError
from teddy.methods.method import METHODS, Method
from teddy.methods.sparsity_level import SparsityLevel
from teddy.registry import read_option, spec_text, unknown_option
from teddy.settings import ENTRIES, Settings
from teddy.settings.weights import exclude_items
from teddy.sparsity import check_count, schedule_sparsity

#: Parts of a ticket that can be made sparse alone.
ONLY = ("edges", "weights")

#: Settings that a method may override, each with a value of its type.
COMMON: dict[str, Any] = {
    **{
        name: "" if entry.kind in (str, object) else entry.kind()
        for name, entry in ENTRIES.items()
        if entry.per_method
    },
    "only": "",
    "weight_level": 0,
}


@dataclass(frozen=True)
class MethodSpec:
    """A method, its options, and its own values of settings.

    Attributes:
        name: Name of the method.
        options: Options of the method, sorted by name.
        settings: Settings that this method overrides, sorted by name.
        only: ``edges`` or ``weights``: the other part stays dense.
        weight_level: Level of the weights in the paper's schedule, instead of that of the edges.

    Example:
        >>> spec = MethodSpec.parse("ugs:weights=projection:distill=10")
        >>> spec.name, spec.options, spec.settings
        ('ugs', (('weights', 'projection'),), (('distill', 10.0),))
        >>> str(MethodSpec.parse("teddy:only=edges:distill=0.0"))
        'teddy:distill=0:only=edges'
        >>> MethodSpec.parse("teddy:l2=1")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: teddy has no option 'l2', expected one of: weights, structure,
        weighted, distill, temperature, divergence, distill_nodes, weight_scope, weight_exclude,
        weight_schedule, weight_ramp, inference, only, weight_level
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()
    only: str | None = None
    weight_level: int | None = None

    def __post_init__(self) -> None:
        if self.only not in (None, *ONLY):
            raise InputError(f"only is '{self.only}', expected one of: {', '.join(ONLY)}")
        if self.weight_level is not None:
            check_count(self.weight_level, "weight_level", 0)
            if self.only is not None:
                raise InputError(
                    f"got only={self.only} and weight_level={self.weight_level}, expected one or "
                    "the other"
                )
        for name, value in self.settings:
            ENTRIES[name].check(value)
        self.method.check(**dict(self.options))

    @staticmethod
    def parse(text: str | Method | MethodSpec) -> MethodSpec:
        """Parse ``name:option=value:...``; a spec is returned unchanged."""
        if isinstance(text, MethodSpec):
            return text
        if isinstance(text, Method):
            return text()
        name, *parts = text.strip().split(":")
        known = {**METHODS[name].options, **COMMON}
        values = dict(read_option(name, known, part) for part in parts)
        if "weight_exclude" in values:
            values["weight_exclude"] = tuple(values["weight_exclude"].split("+"))
        return MethodSpec.make(name, values)

    @staticmethod
    def make(
        name: str,
        values: Mapping[str, Any],
        only: str | None = None,
        weight_level: int | None = None,
    ) -> MethodSpec:
        """Make a spec from options and settings by name.

        Example:
            >>> MethodSpec.make("ugs", {"stride": 5, "distill": 1.0})
            MethodSpec('ugs:distill=1:stride=5')
        """
        values = {"only": only, "weight_level": weight_level, **values}
        if "weight_exclude" in values:
            values["weight_exclude"] = exclude_items(values["weight_exclude"])
        known = METHODS[name].options
        for option in values:
            if option not in known and option not in COMMON:
                raise unknown_option(name, option, {**known, **COMMON})
        special = {key: values[key] for key in ("only", "weight_level")}
        options = sorted((key, value) for key, value in values.items() if key in known)
        settings = sorted(
            (key, value) for key, value in values.items() if key not in {*known, *special}
        )
        return MethodSpec(name, tuple(options), tuple(settings), **special)

    @property
    def method(self) -> Method:
        """The registered method."""
        return METHODS[self.name]

    def level(self, level: SparsityLevel) -> SparsityLevel:
        """Return a level with ``only`` and ``weight_level`` applied."""
        weights = level.weight_sparsity
        if self.weight_level is not None:
            weights = schedule_sparsity(self.weight_level)
        return SparsityLevel(
            0.0 if self.only == "weights" else level.graph_sparsity,
            0.0 if self.only == "edges" else weights,
        )

    def applied(self, settings: Settings) -> Settings:
        """Return settings with this method's values, and its default lambda.

        Example:
            >>> MethodSpec.parse("ugs").applied(Settings()).train.distill
            0.0
        """
        settings = settings.updated(**dict(self.settings))
        if settings.train.distill is None:
            settings = settings.updated(distill=self.method.distill)
        return settings

    def __str__(self) -> str:
        values = {**dict(self.options), **dict(self.settings)}
        values |= {"only": self.only, "weight_level": self.weight_level}
        if "weight_exclude" in values:
            items = values["weight_exclude"]
            names = (item if isinstance(item, str) else item.__name__ for item in items)
            values["weight_exclude"] = "+".join(names)
        return spec_text(self.name, {k: v for k, v in values.items() if v is not None})

    def __repr__(self) -> str:
        return f"MethodSpec('{self}')"
