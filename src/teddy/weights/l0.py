r"""Projection onto the :math:`\ell_0` ball (Eq. 10 of the paper), and masks of weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels import jit
from teddy.kernels.selection import BLOCK, scan_band
from teddy.sparsity import check_sparsity, num_kept_weights
from teddy.weights.budget import pools

# Half width of the widest band, relative to the threshold.
_WIDEST = 0.05


@torch.no_grad()
def project_l0_(
    parameters: Tensor | Iterable[Tensor], sparsity: float, scope: str = "global"
) -> None:
    r"""Project parameters, taken together as one vector, onto the :math:`\ell_0` ball, in place.

    .. math::
        \mathrm{proj}_{\mathcal C_h}(\Theta) = \operatorname*{argmin}_{\|\Theta'\|_0 \le h}
        \|\Theta' - \Theta\|_2^2, \qquad h = \lceil (1 - p_\theta) d \rceil

    The :math:`h` entries of largest magnitude are kept, the others become zero. Among equal
    magnitudes at the threshold, the first in the order of ``parameters`` are kept.

    Args:
        parameters: One or several tensors, all on one device.
        sparsity: Share :math:`p_\theta` of all entries to set to zero, in [0, 1].
        scope: ``global``: all entries together as above; ``matrix`` or ``balanced``: each
            parameter with two or more dimensions separately, see
            :class:`~teddy.settings.WeightBudget`.

    Raises:
        InputError: if an entry is nan or infinite; then no parameter changes.

    Example:
        >>> import torch, teddy
        >>> weights = [torch.tensor([3.0, -1.0]), torch.tensor([[-2.0, 0.5]])]
        >>> teddy.project_l0_(weights, sparsity=0.5)
        >>> weights
        [tensor([3., 0.]), tensor([[-2., 0.]])]
    """
    for projection in projections(parameters, sparsity, scope):
        projection()


def projections(
    parameters: Tensor | Iterable[Tensor], sparsity: float, scope: str
) -> list[L0Projection]:
    """Return the projections of all pools of a weight budget."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    share = check_sparsity(sparsity)
    return [
        L0Projection([tensors[index] for index in pool.indices], num_kept=pool.num_kept)
        for pool in pools([tensor.shape for tensor in tensors], scope, share)
    ]


class L0Projection:
    """Projection of :func:`project_l0_` with cached buffers, for use after every training step.

    The threshold moves little between steps, so the search starts in a narrow band around the last
    one: a pass counts the magnitudes above the band and collects those in it. All magnitudes are
    partitioned only if the threshold left the band. ``num_kept`` replaces the sparsity.

    Example:
        >>> weight = torch.tensor([3.0, -1.0, 2.0])
        >>> project = L0Projection([weight], sparsity=0.4)
        >>> project()
        >>> weight
        tensor([3., 0., 2.])
    """

    def __init__(
        self,
        parameters: Tensor | Iterable[Tensor],
        sparsity: float = 0.0,
        num_kept: int | None = None,
    ) -> None:
        tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
        self._tensors = tensors
        total = sum(tensor.numel() for tensor in tensors)
        if num_kept is None:
            num_kept = num_kept_weights(check_sparsity(sparsity), total)
        self.num_kept = num_kept
        self.num_zero = total - self.num_kept
        dtype = max((t.dtype for t in tensors), key=lambda d: d.itemsize, default=torch.float32)
        device = tensors[0].device if tensors else None
        # Ranges of the parameters, for one thread each.
        ranges = [
            (i, a, b) for i, tensor in enumerate(tensors) for a, b in jit.split(tensor.numel())
        ]
        # Magnitudes of all parameters, concatenated, or of those in the band.
        space = torch.empty(total + len(ranges) * BLOCK, dtype=dtype, device=device)
        self._buffer = space[:total]
        self._slices = self._buffer.split([tensor.numel() for tensor in tensors])
        # Tensor, begin, end, and buffer for the magnitudes in the band.
        self._pieces: list[tuple[int, int, int, Any]] = []
        if space.device.type == "cpu" and dtype.itemsize >= 4:
            buffers = space.split([b - a + BLOCK for _, a, b in ranges])
            self._pieces = [(*r, part.numpy()) for r, part in zip(ranges, buffers, strict=True)]
        self._last_cut: float | None = None
        self._reach = 0.01

    @property
    def parameters(self) -> list[Tensor]:
        """Current tensors: the storage of a parameter may have been replaced."""
        return [tensor.detach() for tensor in self._tensors]

    @torch.no_grad()
    def __call__(self) -> None:
        """Project the parameters in place."""
        if self._buffer.numel() == 0:
            return
        cut, ties_to_drop = self._threshold_in_band() or self._threshold_of_all()
        if self._last_cut and math.isfinite(cut):
            # 1.5 times the last move of the threshold, or earlier moves with decay, up to 5%.
            moved = abs(cut / self._last_cut - 1)
            before = 0.95 * self._reach if self._reach <= _WIDEST else 0.0
            self._reach = max(1e-3, 1.5 * moved, before)
        self._last_cut = cut
        if self.num_zero == 0:
            return
        for tensor in self.parameters:
            _zero_below_(tensor, cut, self._buffer.dtype)
        if ties_to_drop:
            self._drop_last_ties(cut, ties_to_drop)

    def _threshold_of_all(self) -> tuple[float, int]:
        """Return the smallest kept magnitude, and the number of equal ones to remove."""
        for magnitudes, tensor in zip(self._slices, self.parameters, strict=True):
            torch.abs(tensor.to(magnitudes.dtype), out=magnitudes.view_as(tensor))
        if not math.isfinite(float(self._buffer.amax())):
            self._raise_not_finite()
        if self.num_kept == 0:
            return math.inf, 0
        return _cut_at(self._buffer, self.num_zero)

    def _threshold_in_band(self) -> tuple[float, int] | None:
        """Return the same from a band around the last threshold; None if it is not in the band."""
        if not self._last_cut or math.isinf(self._last_cut) or self._reach > _WIDEST:
            return None
        if not jit.available(*self.parameters) or not self._same_layout():
            return None
        kind = self._buffer.numpy().dtype.type
        ends = [kind(self._last_cut * (1 + side * self._reach)) for side in (-1, 1)]
        flat = [tensor.view(-1).numpy() for tensor in self.parameters]
        pieces = [(flat[index][a:b], *ends, part) for index, a, b, part in self._pieces]
        above, counts, finite = zip(*jit.run_parts(scan_band, pieces), strict=True)
        if not all(finite):
            self._raise_not_finite()
        if min(counts) < 0:
            return None
        inside = [part[:n] for (*_, part), n in zip(self._pieces, counts, strict=True)]
        band = torch.from_numpy(np.concatenate(inside))
        missing = self.num_kept - sum(above)  # kept entries in the band
        if not 0 < missing <= band.numel():
            return None
        return _cut_at(band, band.numel() - missing)

    def _same_layout(self) -> bool:
        return all(t.is_contiguous() and t.dtype == self._buffer.dtype for t in self.parameters)

    def _drop_last_ties(self, cut: float, count: int) -> None:
        for tensor in reversed(self.parameters):
            values = tensor.to(self._buffer.dtype)
            ties = ((values == cut) | (values == -cut)).nonzero()  # without a copy, as abs() is
            last = ties[max(0, len(ties) - count) :]
            tensor[tuple(last.t())] = 0
            count -= len(last)

    def _raise_not_finite(self) -> None:
        bad = next(float(t[~t.isfinite()][0]) for t in self.parameters if not t.isfinite().all())
        raise InputError(f"a weight is {bad}, expected finite weights to project")


def count_nonzero(parameters: Iterable[Tensor]) -> int:
    """Count the entries that are not zero."""
    return sum(int(torch.count_nonzero(tensor)) for tensor in parameters)


def _cut_at(magnitudes: Tensor, index: int) -> tuple[float, int]:
    """Return the magnitude at a rank, and the number of equal ones below; reorders the tensor."""
    if magnitudes.device.type == "cpu" and magnitudes.dtype.itemsize >= 4:
        magnitudes.numpy().partition(index)  # one index: linear time
    else:
        magnitudes.copy_(magnitudes.sort().values)
    cut, lower = float(magnitudes[index]), magnitudes[:index]
    has_ties = index > 0 and float(lower.amax()) == cut
    # Not a sum, which would copy the mask to int64.
    return cut, int(torch.count_nonzero(lower == cut)) if has_ties else 0


def _zero_below_(tensor: Tensor, cut: float, dtype: torch.dtype) -> None:
    """Set the entries of magnitude below ``cut`` to zero."""
    if tensor.dtype == dtype and dtype.itemsize >= 4:
        # One pass: hardshrink keeps what is above its threshold.
        below = torch.tensor(cut, dtype=dtype).nextafter(torch.tensor(0.0, dtype=dtype)).item()
        torch.ops.aten.hardshrink.out(tensor, below, out=tensor)
    else:
        tensor.masked_fill_(tensor.to(dtype).abs() < cut, 0)


def largest_entries(magnitudes: Sequence[Tensor], count: int) -> list[Tensor]:
    """Mark the ``count`` largest entries of several tensors together; ties keep the first.

    Example:
        >>> largest_entries([torch.tensor([3.0, 1.0]), torch.tensor([1.0, 2.0])], 3)
        [tensor([True, True]), tensor([False, True])]
    """
    flat = torch.cat([m.detach().reshape(-1) for m in magnitudes]).cpu()
    if flat.dtype.itemsize < 4:  # NumPy has no bfloat16
        flat = flat.float()
    total = flat.numel()
    if not 0 <= count <= total:
        raise InputError(f"count must be from 0 to {total}, got {count}")
    if torch.isnan(flat).any():
        raise InputError("magnitudes contain nan, expected numbers")
    marked = torch.ones(total, dtype=torch.bool)
    if count < total:
        cut = float(np.partition(flat.numpy(), total - count - 1)[total - count - 1])
        marked = flat > cut  # entries equal to the largest removed one are ties
        ties = (flat == cut).nonzero().flatten()[: count - int(marked.sum())]
        marked[ties] = True
    parts = marked.split([m.numel() for m in magnitudes])
    return [p.view(m.shape).to(m.device) for p, m in zip(parts, magnitudes, strict=True)]


class FixedMask:
    r"""Projection onto the weights that a mask keeps: :math:`\Theta \odot m`, in place.

    Called after every step of an element-wise optimizer such as Adam, it is equivalent to training
    :math:`f(\Theta \odot m)`.

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
        """Set the removed weights to zero."""
        for parameter, mask in self._pairs:
            parameter.mul_(mask)
