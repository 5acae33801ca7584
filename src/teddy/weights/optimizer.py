"""Optimizer wrapper whose every step ends with the projection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from teddy.errors import InputError
from teddy.settings.weights import ExcludeLike, check_schedule, reached_share
from teddy.sparsity import check_count, check_sparsity
from teddy.weights.budget import check_scope, excluded_parameters, pools
from teddy.weights.l0 import projections
from teddy.weights.units import UnitProjection, Units


class L0Projected(Optimizer):
    r"""Projected gradient descent: a step of any optimizer, then the projection (Eq. 10).

    .. math::
        \Theta_{t+1} = \mathrm{proj}_{\mathcal C_h}\big(\Theta_t - \eta \nabla \mathcal L\big)

    The wrapped optimizer's moments are not masked, so a removed weight can become non-zero again.
    Both objects share one set of ``param_groups`` and ``state``: parameter groups, closures, step
    hooks and learning-rate schedulers work as with the optimizer itself.

    It prunes parameters that require a gradient and have received one. A parameter group with
    its own ``sparsity`` has its own budget, and ``sparsity=0.0`` leaves a group dense.
    ``optimizer.sparsity`` may be set at any time; it is part of :meth:`state_dict`, with the
    progress of a schedule.

    A moving average of the weights, such as ``torch.optim.swa_utils.AveragedModel``, has more
    non-zero weights than the model: project it with :func:`teddy.project_l0_` before use.

    Args:
        optimizer: The wrapped optimizer.
        sparsity: Share of the weights to set to zero, in [0, 1].
        units: Project onto whole units of these hidden layers, such as ``model.units()`` of a
            GCN, instead of single weights; see :class:`~teddy.weights.units.UnitProjection`.
        scope: ``balanced``: parameters with two or more dimensions are pruned separately, small
            ones less, and vectors such as biases stay dense. ``matrix``: the same share of each.
            ``global``, the paper's choice: all parameters together, which can remove whole layers
            if their scales differ. See :class:`~teddy.settings.WeightBudget`.
        exclude: Parameters that stay dense and are not counted in the budget: name patterns
            (``"*.bias"``) and module classes (``nn.Embedding``) of ``model``.
        model: The model, required with ``exclude``.
        schedule: ``constant``; or ``linear`` or ``cubic``: the sparsity rises from 0, see
            :func:`~teddy.settings.weights.reached_share`.
        ramp_steps: Steps after which the full sparsity is reached.

    Example:
        >>> import torch, teddy
        >>> weight = torch.nn.Parameter(torch.tensor([[3.0, -1.0, 2.0]]))
        >>> optimizer = teddy.L0Projected(torch.optim.SGD([weight], lr=1.0), sparsity=0.4)
        >>> weight.sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([[ 2., -2.,  0.]])
    """

    def __init__(
        self,
        optimizer: Optimizer,
        sparsity: float,
        units: Sequence[Units] | None = None,
        *,
        scope: str = "balanced",
        exclude: Sequence[ExcludeLike] = (),
        model: nn.Module | None = None,
        schedule: str = "constant",
        ramp_steps: int | None = None,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            name = type(optimizer).__name__
            raise InputError(f"L0Projected got a {name}, expected a torch.optim.Optimizer")
        self.optimizer = optimizer
        self.sparsity = sparsity
        self.units, self.scope = units, check_scope(scope)
        self.schedule, self.ramp_steps = check_schedule(schedule), ramp_steps
        if (schedule == "constant") != (ramp_steps is None):
            raise InputError(
                f"schedule is '{schedule}' and ramp_steps {ramp_steps}, expected both or neither"
            )
        if ramp_steps is not None:
            check_count(ramp_steps, "ramp_steps")
        if exclude and model is None:
            raise InputError(
                "exclude needs model, expected model=... with the parameters to exclude"
            )
        names = excluded_parameters(model, exclude) if model is not None and exclude else set()
        self.excluded = [p for n, p in model.named_parameters() if n in names] if model else []
        self.steps_done = 0
        super().__init__(optimizer.param_groups, optimizer.defaults)
        self._share()
        self._check_any()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Run a step of the wrapped optimizer, then project."""
        loss = self.optimizer.step() if closure is None else self.optimizer.step(closure)
        self._project()
        return loss

    @property
    def current_sparsity(self) -> float:
        """Sparsity of the last step; below ``sparsity`` during a ramp."""
        return self.sparsity * self._reached

    @property
    def _reached(self) -> float:
        """Share of each sparsity that the schedule has reached."""
        if self.ramp_steps is None:
            return 1.0
        return reached_share(self.schedule, self.steps_done / self.ramp_steps)

    @property
    def sparsity(self) -> float:
        """Share of the weights to set to zero."""
        return self._sparsity

    @sparsity.setter
    def sparsity(self, sparsity: float) -> None:
        self._sparsity = check_sparsity(sparsity)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients."""
        self.optimizer.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        """Return the wrapped optimizer's state, with sparsity and number of steps under ``l0``."""
        state = {"sparsity": self.sparsity, "steps_done": self.steps_done}
        return {**self.optimizer.state_dict(), "l0": state}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state of :meth:`state_dict` or of the wrapped optimizer."""
        state_dict = dict(state_dict)
        state = state_dict.pop("l0", {})
        self.optimizer.load_state_dict(state_dict)
        self.sparsity = state.get("sparsity", self.sparsity)
        self.steps_done = state.get("steps_done", self.steps_done)
        self._share()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters; they count towards the sparsity from the next step on."""
        if hasattr(self, "_projections"):
            self.optimizer.add_param_group(param_group)
            self._share()
        else:  # called by Optimizer.__init__ for groups that the wrapped optimizer has already
            super().add_param_group(param_group)

    def _share(self) -> None:
        self.param_groups = self.optimizer.param_groups
        self.state = self.optimizer.state
        self.defaults = self.optimizer.defaults
        self._received: set[int] = set()
        self._made_for: Any = None
        self._projections: list[Callable[[], None]] = []

    def _groups(self) -> list[tuple[float, list[Tensor]]]:
        """Return the budgets: each a sparsity and its trainable parameters."""
        excluded = {id(parameter) for parameter in self.excluded}
        common: list[Tensor] = []
        budgets = [(self.sparsity, common)]
        for group in self.param_groups:
            trainable = [p for p in group["params"] if p.requires_grad and id(p) not in excluded]
            sparsity = group.get("sparsity")
            if sparsity is None:
                common += trainable
            else:
                sparsity = check_sparsity(sparsity, "sparsity of a parameter group")
                budgets.append((sparsity, trainable))
        return budgets

    def _check_any(self) -> None:
        """Raise if a budget has no parameters to prune."""
        for index, (sparsity, parameters) in enumerate(self._groups()):
            if sparsity == 0 or not parameters:
                continue
            if self.units is not None:
                if index:
                    raise InputError(
                        f"a parameter group has sparsity {sparsity}, expected none or 0 with units"
                    )
            elif not pools([p.shape for p in parameters], self.scope, sparsity):
                raise InputError(
                    "no parameter has two or more dimensions, expected scope='global' to prune "
                    "vectors"
                )

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _project(self) -> None:
        self.steps_done += 1
        groups = [(self._reached * sparsity, parameters) for sparsity, parameters in self._groups()]
        for _, parameters in groups:
            self._received |= {id(p) for p in parameters if p.grad is not None}
        groups = [(s, [p for p in params if id(p) in self._received]) for s, params in groups]
        made_for = [(sparsity, [id(p) for p in parameters]) for sparsity, parameters in groups]
        if made_for != self._made_for:
            self._made_for, self._projections = made_for, []
            for sparsity, parameters in groups:
                if self.units is not None and parameters and sparsity:
                    self._projections.append(UnitProjection(self.units, parameters, sparsity))
                elif parameters and sparsity:
                    self._projections += projections(parameters, sparsity, self.scope)
        for projection in self._projections:
            projection()

    def __getstate__(self) -> dict[str, Any]:
        names = ("optimizer", "sparsity", "units", "scope", "schedule", "ramp_steps")
        rest = {"excluded": self.excluded, "steps_done": self.steps_done}
        return {"settings": {name: getattr(self, name) for name in names}, "rest": rest}

    def __setstate__(self, state: dict[str, Any]) -> None:
        L0Projected.__init__(self, **state["settings"])
        self.__dict__.update(state["rest"])

    def __repr__(self) -> str:
        parts = [f"sparsity={self.sparsity}", f"scope={self.scope}"]
        if self.ramp_steps is not None:
            parts += [f"schedule={self.schedule}", f"ramp_steps={self.ramp_steps}"]
        return f"L0Projected({', '.join(parts)}, {self.optimizer!r})"
