r"""Settings of the weight budget: scope, exclusions and schedule.

The paper projects all parameters as one vector (Eq. 10). Where parameters have different scales,
such as an embedding drawn from N(0, 1) and a linear map drawn within
:math:`1/\sqrt{\text{fan-in}}`, whole layers can then lose every weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from teddy.errors import InputError
from teddy.settings.declare import Config, declared_settings, setting

#: Schedules from sparsity 0 to the full sparsity.
SCHEDULES = ("constant", "linear", "cubic")

#: Scopes of the budget: all weights together, each matrix with the same share, or each matrix
#: with a larger share of small ones.
SCOPES = ("global", "matrix", "balanced")

#: Name pattern or module class of parameters that keep all their weights.
ExcludeLike = str | type


@dataclass(frozen=True)
class WeightBudget(Config):
    r"""Settings of the weight budget.

    Args:
        scope: ``global``, the paper's choice: the largest of all weights are kept. ``matrix``: the
            largest of each parameter with two or more dimensions are kept, the same share of each;
            vectors such as biases and normalisation parameters are not pruned. ``balanced``: the
            same with a larger share of small matrices, see
            :func:`~teddy.weights.budget.balanced_counts`. None:
            ``global`` for built-in models, ``balanced`` for your own.
        exclude: Parameters that are not pruned, nor part of the budget: patterns of parameter or
            module names (``"*.bias"``, ``"embedding"``) and module classes (``nn.BatchNorm1d``, or
            ``"BatchNorm1d"`` for any of that name).
        schedule: ``constant``: the full sparsity from the first step on. ``linear`` or ``cubic``:
            the sparsity rises from 0, see :func:`reached_share`.
        ramp: Share of the epochs after which a rising sparsity is full, in (0, 1].

    Example:
        >>> WeightBudget(exclude=["*.bias", "BatchNorm1d"])
        WeightBudget(scope=None, exclude=('*.bias', 'BatchNorm1d'), schedule='constant', ramp=0.5)
        >>> WeightBudget(scope="layer")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: weight_scope is 'layer', expected one of: global, matrix,
        balanced
    """

    #: Prefix of the settings' public names.
    PREFIX: ClassVar[str] = "weight_"

    scope: str | None = setting(
        None, "Weights that are ranked together: global (all), matrix or balanced (each matrix "
        "by itself); default: global for built-in models, balanced for your own.",
        choices=SCOPES, per_method=True, panel="Pruning",
    )  # fmt: skip
    exclude: Sequence[ExcludeLike] = setting(
        (), "Parameters that stay dense: a name pattern such as '*.bias', or a module class "
        "such as Embedding. Repeatable.",
        per_method=True, many=True, panel="Pruning",
    )  # fmt: skip
    schedule: str = setting(
        "constant", "Schedule of the weight sparsity during training: constant, linear or cubic.",
        choices=SCHEDULES, per_method=True, panel="Pruning",
    )  # fmt: skip
    ramp: float = setting(
        0.5, "Share of the epochs after which a rising weight sparsity is full.",
        above=0, high=1, per_method=True, panel="Pruning",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "exclude", exclude_items(self.exclude))
        if self.schedule == "constant" and self.ramp != WeightBudget.ramp:
            raise InputError(
                f"weight_ramp is {self.ramp} and weight_schedule constant, expected linear or cubic"
            )

    def scope_for(self, model: object) -> str:
        """Scope for a model, by default ``global`` for built-in models, else ``balanced``.

        ``GLOBAL_BUDGET`` marks models whose weights have comparable scales.
        """
        default = "global" if getattr(model, "GLOBAL_BUDGET", False) else "balanced"
        return self.scope or default

    def settings(self, model: object = None) -> dict[str, Any]:
        """Settings by their public names that differ from the paper's.

        With a model, the scope is the model's.

        Example:
            >>> WeightBudget(schedule="linear").settings("your own module")
            {'weight_scope': 'balanced', 'weight_schedule': 'linear'}
        """
        entries = declared_settings(WeightBudget)
        values = {entry.name: getattr(self, entry.attribute) for entry in entries}
        paper = {entry.name: entry.default for entry in entries}
        if model is not None:
            values["weight_scope"], paper["weight_scope"] = self.scope_for(model), "global"
        return {name: _plain(value) for name, value in values.items() if value != paper[name]}

    def ramp_epochs(self, epochs: int) -> int:
        """Number of epochs before the sparsity is full."""
        return 0 if self.schedule == "constant" else min(round(self.ramp * epochs), epochs - 1)

    def sparsity(self, full: float, epoch: int, epochs: int) -> float:
        """Sparsity in an epoch, counted from 0, of the schedule up to the full sparsity.

        Example:
            >>> budget = WeightBudget(schedule="linear")
            >>> [budget.sparsity(0.8, epoch, 8) for epoch in range(5)]
            [0.0, 0.2, 0.4, 0.6000000000000001, 0.8]
        """
        ramp = self.ramp_epochs(epochs)
        return full * reached_share(self.schedule, epoch / ramp if ramp else 1.0)


def _plain(value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    return [item if isinstance(item, str) else item.__name__ for item in value]


def check_schedule(schedule: str) -> str:
    """Return a known schedule, or raise."""
    return WeightBudget(schedule=schedule).schedule


def reached_share(schedule: str, progress: float) -> float:
    r"""Share of the full sparsity at progress :math:`t` of the ramp.

    ``constant``: 1. ``linear``: :math:`t`. ``cubic``: :math:`1 - (1 - t)^3`, as in `Zhu and Gupta
    (2017) <https://arxiv.org/abs/1710.01878>`_.

    Example:
        >>> [reached_share("cubic", t) for t in (0.0, 0.5, 1.0, 2.0)]
        [0.0, 0.875, 1.0, 1.0]
    """
    t = min(max(progress, 0.0), 1.0)
    return {"constant": 1.0, "linear": t, "cubic": 1.0 - (1.0 - t) ** 3}[check_schedule(schedule)]


def exclude_items(exclude: ExcludeLike | Iterable[ExcludeLike]) -> tuple[ExcludeLike, ...]:
    """Checked name patterns and module classes of excluded parameters."""
    patterns: Any = exclude
    single = isinstance(patterns, str | type) or not isinstance(patterns, Iterable)
    items = [patterns] if single else list(patterns)
    for item in items:
        if not isinstance(item, str) and not hasattr(item, "named_parameters"):
            raise InputError(
                f"weight_exclude has {item!r}, expected name patterns such as '*.bias', or "
                "module classes such as torch.nn.BatchNorm1d"
            )
    return tuple(items)
