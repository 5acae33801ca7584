"""A check that a module with the weights of its best epoch computes what it did then."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from teddy.errors import warn
from teddy.training.distributed import World
from teddy.training.evaluation import Judge
from teddy.training.seeding import seeded


def warn_if_not_restored(
    learned: nn.Module, val: Judge, best: float, weights: dict[str, Tensor]
) -> None:
    """Warn if a module's predictions don't follow from its ``state_dict``.

    They don't if it draws random numbers in evaluation mode, or if its forward changes Python
    attributes or buffers that aren't persistent. Random numbers of the caller are untouched.

    Args:
        learned: The module and masks beside it, with the weights of the best epoch.
        val: Evaluates it on validation nodes.
        best: The validation score of that epoch, in percent.
        weights: The state after that epoch; it is the same again after the check.
    """
    world, device = World.current(), val.y.device

    def logits(seed: int) -> Tensor:
        with seeded(seed, device):
            return val.logits()

    first = logits(0)
    again, score = _same(first, logits(1)), val.score(first)
    tolerance = 1e-6 if device.type == "cpu" else 1e-6 + 100 / val.nodes.numel()
    # Evaluation may be shared by processes, so all of them take the same branch.
    again, restored = world.shared((again, abs(score - best) <= tolerance))
    random = not again and world.shared(_same(first, logits(0)))
    learned.load_state_dict(weights)
    if not world.first or (again and restored):
        return
    name = type(val.runner.network).__name__
    if random:
        warn(
            f"a {name} is random in evaluation mode, so results differ from call to call: pass "
            "training=self.training to dropout, and draw no random numbers in evaluation mode"
        )
    else:
        warn(
            f"a {name} isn't determined by its state_dict, so a saved ticket computes something "
            "else: its forward changes Python attributes or non-persistent buffers; keep them "
            "with register_buffer"
        )


def _same(logits: Tensor, others: Tensor) -> bool:
    scale = float(logits.abs().max()) if logits.numel() else 0.0
    return torch.allclose(logits, others, rtol=1e-3, atol=1e-4 * scale)
