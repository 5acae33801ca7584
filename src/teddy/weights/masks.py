"""Masks over all weights of a model together: choosing them, keeping to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from teddy.errors import InputError


def largest(magnitudes: Sequence[Tensor], count: int) -> list[Tensor]:
    """Mark the ``count`` largest entries of several tensors together.

    Among equal ones at the cut, those that come first stay.

    Args:
        magnitudes: Tensors of any shapes; minus infinity comes last.
        count: How many to mark, exactly.

    Example:
        >>> largest([torch.tensor([3.0, 1.0]), torch.tensor([1.0, 2.0])], 3)
        [tensor([True, True]), tensor([False, True])]
    """
    flat = torch.cat([m.detach().reshape(-1) for m in magnitudes]).cpu()
    if flat.dtype.itemsize < 4:  # NumPy has no bfloat16
        flat = flat.float()
    total = flat.numel()
    if not 0 <= count <= total:
        raise InputError(f"asked for {count} of {total} weights, expected 0 to {total}")
    if torch.isnan(flat).any():
        raise InputError("a mask is nan, expected numbers")
    marked = torch.ones(total, dtype=torch.bool)
    if count < total:
        cut = float(np.partition(flat.numpy(), total - count - 1)[total - count - 1])
        marked = flat > cut  # what equals the largest that goes is a tie
        ties = (flat == cut).nonzero().flatten()[: count - int(marked.sum())]
        marked[ties] = True
    parts = marked.split([m.numel() for m in magnitudes])
    return [p.view(m.shape).to(m.device) for p, m in zip(parts, magnitudes, strict=True)]


class FixedMask:
    r"""The projection onto the weights that a mask keeps: :math:`\Theta \odot m`, in place.

    Called after every step of an optimizer that treats each weight by itself, as Adam does, it is
    the same as training :math:`f(\Theta \odot m)`.

    Args:
        parameters: The weights.
        masks: As many, of the same shapes: True where a weight stays.

    Example:
        >>> weight = torch.tensor([3.0, -1.0])
        >>> FixedMask([weight], [torch.tensor([False, True])])()
        >>> weight
        tensor([ 0., -1.])
    """

    def __init__(self, parameters: Iterable[Tensor], masks: Iterable[Tensor]) -> None:
        self._pairs = [(p, m.to(p)) for p, m in zip(parameters, masks, strict=True)]

    @torch.no_grad()
    def __call__(self) -> None:
        """Set the other weights to zero."""
        for parameter, mask in self._pairs:
            parameter.mul_(mask)
