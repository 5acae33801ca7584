r"""The projection onto the :math:`\ell_0` ball, Eq. 10 of the paper, and masks of weights."""

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

# Reach of the widest band, as a share of the cut.
_WIDEST = 0.05


@torch.no_grad()
def project_l0_(
    parameters: Tensor | Iterable[Tensor], sparsity: float, scope: str = "global"
) -> None:
    r"""Project parameters, taken together as one vector, onto the :math:`\ell_0` ball, in place.

    .. math::
        \mathrm{proj}_{\mathcal C_h}(\Theta) = \operatorname*{argmin}_{\|\Theta'\|_0 \le h}
        \|\Theta' - \Theta\|_2^2, \qquad h = \lceil (1 - p_\theta) d \rceil

    The :math:`h` entries of largest magnitude stay, the others become zero. Among equal
    magnitudes at the cut, those that come first in the order of ``parameters`` stay.

    Args:
        parameters: A tensor or several, all on one device.
        sparsity: Share :math:`p_\theta` of all entries to set to zero, in [0, 1].
        scope: ``global``, all entries together as above; or ``matrix`` or ``balanced``, each
            parameter with two or more dimensions by itself, see
            :class:`~teddy.settings.WeightBudget`.

    Raises:
        InputError: if an entry is nan or infinite; nothing is changed then.

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
    """The projections of all pools of a weight budget."""
    tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    share = check_sparsity(sparsity, "weight sparsity")
    return [
        L0Projection([tensors[place] for place in pool.places], num_kept=pool.num_kept)
        for pool in pools([tensor.shape for tensor in tensors], scope, share)
    ]


class L0Projection:
    """:func:`project_l0_` with its work space, for use after every step of a training.

    From one step to the next the cut moves little, so the next search starts in a narrow band
    around the last cut: one pass counts the magnitudes above it and collects those in it. Only if
    the cut left the band are all magnitudes partitioned. ``num_kept`` replaces the sparsity.

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
            num_kept = num_kept_weights(check_sparsity(sparsity, "weight sparsity"), total)
        self.num_kept = num_kept
        self.num_zero = total - self.num_kept
        dtype = max((t.dtype for t in tensors), key=lambda d: d.itemsize, default=torch.float32)
        device = tensors[0].device if tensors else None
        # Ranges of the parameters, for one thread each.
        ranges = [
            (i, a, b) for i, tensor in enumerate(tensors) for a, b in jit.split(tensor.numel())
        ]
        # Magnitudes of all parameters, end to end, or of those in the band.
        room = torch.empty(total + len(ranges) * BLOCK, dtype=dtype, device=device)
        self._buffer = room[:total]
        self._slices = self._buffer.split([tensor.numel() for tensor in tensors])
        # Tensor, begin, end, and room for what lies in the band.
        self._pieces: list[tuple[int, int, int, Any]] = []
        if room.device.type == "cpu" and dtype.itemsize >= 4:
            rooms = room.split([b - a + BLOCK for _, a, b in ranges])
            self._pieces = [(*r, space.numpy()) for r, space in zip(ranges, rooms, strict=True)]
        self._last_cut: float | None = None
        self._reach = 0.01

    @property
    def parameters(self) -> list[Tensor]:
        """The tensors as they are now: a parameter's storage may have been replaced."""
        return [tensor.detach() for tensor in self._tensors]

    @torch.no_grad()
    def __call__(self) -> None:
        """Project the parameters as they are now."""
        if self._buffer.numel() == 0:
            return
        cut, ties_to_drop = self._cut_in_band() or self._cut_of_all()
        if self._last_cut and math.isfinite(cut):
            # Half as far again as the cut moved this time or, fading, before; beyond 5% a band
            # doesn't pay.
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

    def _cut_of_all(self) -> tuple[float, int]:
        """The smallest kept magnitude, and the number of equal ones to remove."""
        for magnitudes, tensor in zip(self._slices, self.parameters, strict=True):
            torch.abs(tensor.to(magnitudes.dtype), out=magnitudes.view_as(tensor))
        if not math.isfinite(float(self._buffer.amax())):
            self._refuse()
        if self.num_kept == 0:
            return math.inf, 0
        return _cut_at(self._buffer, self.num_zero)

    def _cut_in_band(self) -> tuple[float, int] | None:
        """The same from a band around the last cut; None if the cut isn't in it."""
        if not self._last_cut or math.isinf(self._last_cut) or self._reach > _WIDEST:
            return None
        if not jit.available(*self.parameters) or not self._alike():
            return None
        kind = self._buffer.numpy().dtype.type
        ends = [kind(self._last_cut * (1 + side * self._reach)) for side in (-1, 1)]
        flat = [tensor.view(-1).numpy() for tensor in self.parameters]
        pieces = [(flat[index][a:b], *ends, room) for index, a, b, room in self._pieces]
        above, counts, finite = zip(*jit.run_parts(scan_band, pieces), strict=True)
        if not all(finite):
            self._refuse()
        if min(counts) < 0:
            return None
        inside = [room[:n] for (*_, room), n in zip(self._pieces, counts, strict=True)]
        band = torch.from_numpy(np.concatenate(inside))
        missing = self.num_kept - sum(above)  # largest in the band that stay
        if not 0 < missing <= band.numel():
            return None
        return _cut_at(band, band.numel() - missing)

    def _alike(self) -> bool:
        return all(t.is_contiguous() and t.dtype == self._buffer.dtype for t in self.parameters)

    def _drop_last_ties(self, cut: float, count: int) -> None:
        for tensor in reversed(self.parameters):
            ties = (tensor.to(self._buffer.dtype).abs() == cut).nonzero()
            last = ties[max(0, len(ties) - count) :]
            tensor[tuple(last.t())] = 0
            count -= len(last)

    def _refuse(self) -> None:
        bad = next(float(t[~t.isfinite()][0]) for t in self.parameters if not t.isfinite().all())
        raise InputError(f"a weight is {bad}, expected finite weights to project")


def count_nonzero(parameters: Iterable[Tensor]) -> int:
    """Count the entries that are not zero."""
    return sum(int(torch.count_nonzero(tensor)) for tensor in parameters)


def _cut_at(magnitudes: Tensor, index: int) -> tuple[float, int]:
    """Return the magnitude of that rank, and how many of lower rank equal it; reorders them."""
    if magnitudes.device.type == "cpu" and magnitudes.dtype.itemsize >= 4:
        magnitudes.numpy().partition(index)  # one index: linear time
    else:
        magnitudes.copy_(magnitudes.sort().values)
    cut, lower = float(magnitudes[index]), magnitudes[:index]
    has_ties = index > 0 and float(lower.amax()) == cut
    return cut, int((lower == cut).sum()) if has_ties else 0


def _zero_below_(tensor: Tensor, cut: float, dtype: torch.dtype) -> None:
    """Set the entries of magnitude below ``cut``, a number of this type, to zero."""
    if tensor.dtype == dtype and dtype.itemsize >= 4:
        # One pass: hardshrink keeps what is above its threshold.
        below = torch.tensor(cut, dtype=dtype).nextafter(torch.tensor(0.0, dtype=dtype)).item()
        torch.ops.aten.hardshrink.out(tensor, below, out=tensor)
    else:
        tensor.masked_fill_(tensor.to(dtype).abs() < cut, 0)


def largest_entries(magnitudes: Sequence[Tensor], count: int) -> list[Tensor]:
    """Mark the ``count`` largest entries of several tensors together; of equal ones the first.

    Example:
        >>> largest_entries([torch.tensor([3.0, 1.0]), torch.tensor([1.0, 2.0])], 3)
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
