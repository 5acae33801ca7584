"""Checkpoints: the state of a training, and the file from which it resumes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from teddy.errors import InputError
from teddy.settings import TrainConfig
from teddy.store.tensors import Entry, read_entry, write_entry
from teddy.training.distributed import World, digest_of


class Checkpoint:
    """Checkpoint: current and best weights, and states of the optimizer and the generator.

    The rank-zero process writes it atomically after an epoch; all processes resume from it. A
    resumed training has the same result, bit for bit, with the same number of processes and
    threads.

    Args:
        path: File of the checkpoint.
        seconds: Minimum interval between checkpoints; the last epoch is always written.

    Example:
        >>> import tempfile
        >>> from teddy.models import GCN
        >>> model, state = GCN(2, 2), State(index=3)
        >>> optimizer = torch.optim.Adam(model.parameters())
        >>> checkpoint = Checkpoint(Path(tempfile.mkdtemp()) / "dense.safetensors", 0)
        >>> checkpoint.resume(model, optimizer, State())  # no file yet
        >>> checkpoint.save(model, optimizer, state, 1.0, False)
        >>> again = State()
        >>> checkpoint.resume(model, optimizer, again)
        >>> again.index
        3
    """

    def __init__(self, path: Path, seconds: float = 30.0) -> None:
        self.path, self.seconds = path, seconds
        self._written = time.monotonic()
        self._initial = ""

    def resume(self, model: nn.Module, optimizer: torch.optim.Optimizer, state: State) -> None:
        """Restore the state in the file, if it exists.

        Args:
            model: Model with its initial weights.
            optimizer: Optimizer before its first step.
            state: State to overwrite.
        """
        world = World.current()
        self._initial = self._initial or digest_of(model.state_dict().values())
        entry = world.shared(read_entry(self.path) if world.is_rank_zero else None)
        if entry is None:
            return
        weights = _part(entry.tensors, "model")
        same_start = entry.metadata["initial"] == self._initial
        if not same_start or weights.keys() != model.state_dict().keys():
            raise InputError(
                f"{self.path}: is a checkpoint of another training, expected the same initial "
                "weights, or another folder"
            )
        tensors, metadata = entry.tensors, entry.metadata
        device = next(model.parameters()).device
        model.load_state_dict(weights)
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in _part(tensors, "optimizer").items():
            place, key = name.split("/")
            moments.setdefault(int(place), {})[key] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
        state.index, state.improved, state.seconds = (
            metadata[name] for name in ("index", "improved", "seconds")
        )
        state.history = [Epoch(**epoch) for epoch in metadata["history"]]
        state.best = None if metadata["best"] is None else Epoch(**metadata["best"])
        state.best_weights = {
            name: value.to(device).clone() for name, value in _part(tensors, "best").items()
        }
        torch.set_rng_state(tensors["generator"])
        if "cuda" in tensors and device.type == "cuda":
            torch.cuda.set_rng_state(tensors["cuda"], device)

    def save(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        state: State,
        seconds: float,
        ended: bool,
    ) -> None:
        """Write the file, if the interval is over.

        Args:
            model: Current model.
            optimizer: Current optimizer.
            state: Progress.
            seconds: Time of this process.
            ended: Whether this was the last epoch.
        """
        due = ended or time.monotonic() - self._written >= self.seconds
        if not due or not World.current().is_rank_zero:
            return
        metadata: dict[str, Any] = {
            "initial": self._initial,
            "index": state.index,
            "improved": state.improved,
            "seconds": state.seconds + seconds,
            "history": [asdict(epoch) for epoch in state.history],
            "best": None if state.best is None else asdict(state.best),
        }
        write_entry(self.path, Entry(dict(_tensors(model, optimizer, state)), metadata))
        self._written = time.monotonic()


def _tensors(
    model: nn.Module, optimizer: torch.optim.Optimizer, state: State
) -> Iterator[tuple[str, Tensor]]:
    for name, value in model.state_dict().items():
        yield f"model/{name}", value.clone()  # parameters may share memory, the file's must not
    for name, value in state.best_weights.items():
        yield f"best/{name}", value
    for place, moments in optimizer.state_dict()["state"].items():
        for name, value in moments.items():
            yield f"optimizer/{place}/{name}", value
    yield "generator", torch.get_rng_state()
    device = next(model.parameters()).device
    if device.type == "cuda":
        yield "cuda", torch.cuda.get_rng_state(device)


def _part(tensors: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    return {
        key.removeprefix(f"{name}/"): value
        for key, value in tensors.items()
        if key.startswith(f"{name}/")
    }


@dataclass(frozen=True)
class Epoch:
    """Epoch with the loss before its step and the validation metric (in percent) after it."""

    index: int
    loss: float
    val: float


@dataclass
class State:
    """Progress of a training.

    Attributes:
        index: Next epoch.
        history: Validated epochs.
        best: Best epoch, the last of equals.
        improved: First epoch with the best metric.
        best_weights: State of the module after the best epoch.
        seconds: Time of earlier processes.
    """

    index: int = 0
    history: list[Epoch] = field(default_factory=list)
    best: Epoch | None = None
    improved: int = 0
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, epoch: Epoch, model: nn.Module, counts: bool = True) -> None:
        """Record a validated epoch, and its weights if it is the best.

        Args:
            epoch: The epoch.
            model: Model after it.
            counts: Whether it can be the best; epochs before the full weight sparsity cannot.
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
        """Return whether all epochs are done, or patience is exhausted."""
        if self.index >= config.epochs:
            return True
        last = self.history[-1].index if self.history else 0
        return config.patience is not None and last - self.improved >= config.patience


def copy_state(model: nn.Module, target: dict[str, Tensor]) -> None:
    """Copy a module's state into ``target``, in place where possible.

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
