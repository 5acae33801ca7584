"""How far a training is."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor, nn

from teddy.settings import TrainConfig


@dataclass(frozen=True)
class Epoch:
    """One epoch: the loss before its step, the validation accuracy (in percent) after it."""

    index: int
    loss: float
    val: float


@dataclass
class State:
    """What has happened so far.

    Attributes:
        index: The epoch that comes next.
        history: Those that were validated.
        best: The best of them, the last of equals.
        improved: The first of those equals.
        best_weights: The module's state after it.
        seconds: Of earlier processes that did a part.
    """

    index: int = 0
    history: list[Epoch] = field(default_factory=list)
    best: Epoch | None = None
    improved: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, epoch: Epoch, model: nn.Module, counts: bool = True) -> None:
        """Take note of an epoch that was validated, and of the weights after it.

        Args:
            epoch: The epoch.
            model: The model after it.
            counts: Whether it may be the best; no epoch before the full weight sparsity is.
        """
        self.history.append(epoch)
        if not counts:
            self.improved = epoch.index
            return
        if self.best is None or epoch.val > self.best.val:
            self.improved = epoch.index
        if self.best is None or epoch.val >= self.best.val:
            self.best = epoch
            copy_state(model, self.best_weights)

    def ended(self, config: TrainConfig) -> bool:
        """Whether no epoch is left, or patience is over."""
        if self.index >= config.epochs:
            return True
        last = self.history[-1].index if self.history else 0
        return config.patience is not None and last - self.improved >= config.patience


def copy_state(model: nn.Module, target: dict[str, Tensor]) -> None:
    """Copy a module's state into ``target``, over what it holds already.

    Example:
        >>> state = {}
        >>> copy_state(nn.Linear(1, 1, bias=False), state)
        >>> list(state)
        ['weight']
    """
    for name, value in model.state_dict().items():
        if name in target and target[name].shape == value.shape:
            target[name].copy_(value)
        else:
            target[name] = value.clone()
