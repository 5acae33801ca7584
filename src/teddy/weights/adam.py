"""Adam and the projection in one pass over the weights."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from teddy import jit
from teddy.weights.kernels import adam_and_scan
from teddy.weights.l0 import L0Projection


class ProjectedAdam(torch.optim.Adam):
    r"""What ``L0Projected(Adam(...))`` computes, in fewer passes over memory.

    While a part of the new weights is in the cache, it is compared with the last cut already, so
    that finding the new one needs no pass of its own. Where the kernels can't run, Adam and the
    projection follow one another.

    Args:
        parameters: What to train.
        sparsity: Share :math:`p_\\theta` of all entries to keep at zero.
        lr: Learning rate.
        weight_decay: L2 penalty.

    Example:
        >>> weight = torch.nn.Parameter(torch.tensor([3.0, -1.0, 2.0]))
        >>> optimizer = ProjectedAdam([weight], sparsity=0.4, lr=0.5, weight_decay=0.0)
        >>> weight.sum().backward()
        >>> optimizer.step()
        >>> weight.data
        tensor([ 2.5000, -1.5000,  0.0000])
    """

    def __init__(
        self, parameters: Iterable[Tensor], sparsity: float, lr: float, weight_decay: float
    ) -> None:
        super().__init__(parameters, lr=lr, weight_decay=weight_decay, fused=True)
        self._weights: list[Tensor] = self.param_groups[0]["params"]
        self._projection = L0Projection(self._weights, sparsity)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Make a step and project."""
        band = self._projection.band()
        grads = [w.grad for w in self._weights if w.grad is not None and w.grad.is_contiguous()]
        if band is None or len(grads) < len(self._weights):
            super().step()
            self._projection()
        else:
            self._projection.project(self._step_in_one_pass(grads, band))

    def _step_in_one_pass(self, grads: list[Tensor], band: tuple[Any, Any]) -> list[Any]:
        group = self.param_groups[0]
        kind = type(band[0])
        arrays, factors = [], []
        for weight, grad in zip(self._weights, grads, strict=True):
            state = self.state[weight]
            state["step"] += 1
            tensors = weight, grad, state["exp_avg"], state["exp_avg_sq"]
            arrays.append([tensor.detach().view(-1).numpy() for tensor in tensors])
            factors.append([kind(factor) for factor in _factors(group, float(state["step"]))])
        pieces = [
            (*(array[a:b] for array in arrays[i]), *factors[i], *band, room)
            for i, a, b, room in self._projection.pieces
        ]
        return jit.run_parts(adam_and_scan, pieces)


def _factors(group: dict[str, Any], step: float) -> tuple[float, ...]:
    """The numbers in Adam's step, in double precision: 1 - 0.999 is off by 1e-5 in single."""
    beta1, beta2 = group["betas"]
    correction = 1 / math.sqrt(1 - beta2**step)
    size = group["lr"] / (1 - beta1**step)
    return group["weight_decay"], 1 - beta1, beta2, 1 - beta2, correction, group["eps"], size
