"""An optimizer whose every step ends with the projection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from teddy.errors import InputError
from teddy.sparsity import check_sparsity
from teddy.weights.l0 import L0Projection
from teddy.weights.units import UnitProjection, Units


class L0Projected(Optimizer):
    r"""Projected gradient descent: a step of any optimizer, then the projection (Eq. 10).

    .. math::
        \Theta_{t+1} = \mathrm{proj}_{\mathcal C_h}\big(\Theta_t - \eta \nabla \mathcal L\big)

    The wrapped optimizer's moments aren't masked, so a weight that was cut can come back. Parameter
    groups, state, closures, step hooks and learning-rate schedulers work as with the optimizer
    itself: both objects share one set of ``param_groups`` and ``state``.

    Args:
        optimizer: The optimizer that makes the step.
        sparsity: Share of ALL its parameters together to keep at zero, in [0, 1].
        units: Project onto whole units of these hidden layers, such as ``model.units()`` of a
            GCN, instead of single weights; see :class:`~teddy.weights.units.UnitProjection`.

    Example:
        >>> import torch, teddy
        >>> weight = torch.nn.Parameter(torch.tensor([3.0, -1.0, 2.0]))
        >>> optimizer = teddy.L0Projected(torch.optim.SGD([weight], lr=1.0), sparsity=0.4)
        >>> weight.sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 2., -2.,  0.])
    """

    _projection: Callable[[], None] | None

    def __init__(
        self, optimizer: Optimizer, sparsity: float, units: Sequence[Units] | None = None
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            name = type(optimizer).__name__
            raise InputError(f"L0Projected got a {name}, expected a torch.optim.Optimizer")
        self.optimizer = optimizer
        self.sparsity = check_sparsity(sparsity, "weight sparsity")
        self.units = units
        super().__init__(optimizer.param_groups, optimizer.defaults)
        self._share()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Let the wrapped optimizer step, then project."""
        loss = self.optimizer.step() if closure is None else self.optimizer.step(closure)
        if self._projection is None:
            self._projection = self._make_projection()
        self._projection()
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients."""
        self.optimizer.zero_grad(set_to_none)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the wrapped optimizer's state."""
        self.optimizer.load_state_dict(state_dict)
        self._share()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters; they count towards the sparsity from the next step on."""
        if hasattr(self, "_projection"):
            self.optimizer.add_param_group(param_group)
            self._share()
        else:  # called by Optimizer.__init__ for groups that the wrapped optimizer has already
            super().add_param_group(param_group)

    def _share(self) -> None:
        self.param_groups = self.optimizer.param_groups
        self.state = self.optimizer.state
        self.defaults = self.optimizer.defaults
        self._projection = None

    def _make_projection(self) -> Callable[[], None]:
        if self.units is None:
            return L0Projection(self._parameters(), self.sparsity)
        return UnitProjection(self.units, self._parameters(), self.sparsity)

    def _parameters(self) -> list[Tensor]:
        return [tensor for group in self.param_groups for tensor in group["params"]]

    def __getstate__(self) -> dict[str, Any]:
        return {"optimizer": self.optimizer, "sparsity": self.sparsity, "units": self.units}

    def __setstate__(self, state: dict[str, Any]) -> None:
        L0Projected.__init__(self, **state)

    def __repr__(self) -> str:
        return f"L0Projected(sparsity={self.sparsity}, {self.optimizer!r})"
