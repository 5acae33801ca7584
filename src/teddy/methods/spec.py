"""A method with its options in one word, for grids and the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from teddy.errors import InputError
from teddy.methods.level import Level
from teddy.methods.method import METHODS, Method
from teddy.numbers import check_count
from teddy.sparsity import simulation_sparsity
from teddy.ticket.inference import check_rule
from teddy.training import TrainConfig
from teddy.weights import WeightBudget
from teddy.words import option_text, read_option

#: What a ticket leaves out, by the part that alone is made sparse.
ONLY = ("edges", "weights")

#: Options that every method has, by a value of their kind.
COMMON: dict[str, Any] = {
    "distill": 0.0, "distill_nodes": "", "inference": "", "only": "", "weight_level": 0,
    "weight_scope": "", "weight_exclude": "", "weight_schedule": "", "weight_ramp": 0.0,
}  # fmt: skip


@dataclass(frozen=True)
class MethodSpec:
    """A method and what is special about it.

    Attributes:
        name: Of the method.
        options: Of the method, sorted by name.
        distill: Strength of the distillation, if not the method's own.
        distill_nodes: The nodes that the dense model teaches, if not all.
        inference: How a graph that has grown past the training graph is pruned, if not scored.
        only: ``edges`` or ``weights``: leave the other dense.
        weight_level: The simulation of the weights, whichever that of the edges is.
        weight_scope: Scope of the weight budget, if not the model's own.
        weight_exclude: Patterns of parameters that stay dense, joined by ``+``.
        weight_schedule: Schedule of the weight sparsity, if not constant.
        weight_ramp: Share of the epochs after which a rising sparsity is full.

    Example:
        >>> spec = MethodSpec.parse("ugs:weights=projection:distill=10")
        >>> spec.name, spec.options, spec.distill
        ('ugs', (('weights', 'projection'),), 10.0)
        >>> str(MethodSpec.parse("teddy:only=edges:distill=0.0"))
        'teddy:distill=0:only=edges'
        >>> MethodSpec.parse("teddy:l2=1")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: teddy has no option 'l2', expected one of: weights, structure,
        weighted, distill, distill_nodes, inference, only, weight_level, weight_scope,
        weight_exclude, weight_schedule, weight_ramp
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    distill: float | None = None
    distill_nodes: str | None = None
    inference: str | None = None
    only: str | None = None
    weight_level: int | None = None
    weight_scope: str | None = None
    weight_exclude: str | None = None
    weight_schedule: str | None = None
    weight_ramp: float | None = None

    @staticmethod
    def parse(text: str) -> MethodSpec:
        """Read ``name:option=value:...``."""
        name, *parts = text.strip().split(":")
        method = METHODS[name]
        values = dict(read_option(name, {**method.options, **COMMON}, part) for part in parts)
        common = {name: values.pop(name, None) for name in COMMON}
        only, level = common["only"], common["weight_level"]
        if common["inference"] is not None:
            check_rule(common["inference"])
        if only not in (None, *ONLY):
            raise InputError(f"only is '{only}', expected one of: {', '.join(ONLY)}")
        if level is not None:
            check_count(level, "weight_level", 0)
            if only is not None:
                raise InputError(f"got only={only} and weight_level={level}, expected one of them")
        training = {name: common[name] for name in ("distill", "distill_nodes")}
        TrainConfig(**{name: value for name, value in training.items() if value is not None})
        method.check(**values)
        spec = MethodSpec(name, tuple(sorted(values.items())), **common)
        spec.budget_settings()
        return spec

    @property
    def method(self) -> Method:
        """The method itself."""
        return METHODS[self.name]

    def level(self, level: Level) -> Level:
        """A level, without the part that is to stay dense, with the weights' own level."""
        weights = level.weight_sparsity
        if self.weight_level is not None:
            weights = simulation_sparsity(self.weight_level)
        return Level(
            0.0 if self.only == "weights" else level.graph_sparsity,
            0.0 if self.only == "edges" else weights,
        )

    def budget_settings(self) -> dict[str, Any]:
        """Settings of the weight budget, as :func:`teddy.find_ticket` takes them.

        Example:
            >>> MethodSpec.parse("teddy:weight_exclude=*.bias+Embedding").budget_settings()
            {'weight_exclude': ('*.bias', 'Embedding')}
        """
        given: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("weight_scope", "weight_exclude", "weight_schedule", "weight_ramp")
            if getattr(self, name) is not None
        }
        if "weight_exclude" in given:
            given["weight_exclude"] = tuple(given["weight_exclude"].split("+"))
        WeightBudget.from_settings(given)
        return given

    @property
    def budget(self) -> WeightBudget:
        """The weight budget."""
        return WeightBudget.from_settings(self.budget_settings())

    def configure(self, config: TrainConfig, distill: float) -> TrainConfig:
        """The settings of a training with a strength of distillation, on this method's nodes."""
        nodes = self.distill_nodes or config.distill_nodes
        return replace(config, distill=distill, distill_nodes=nodes)

    def __str__(self) -> str:
        return ":".join([self.name, *self._parts()])

    def _parts(self) -> Iterator[str]:
        values = {**dict(self.options), **{name: getattr(self, name) for name in COMMON}}
        for name, value in sorted(values.items()):
            if value is not None:
                yield f"{name}={option_text(value)}"
