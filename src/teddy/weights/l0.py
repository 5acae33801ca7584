r"""The projection onto the :math:`\ell_0` ball, Eq. 10 of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.sparsity import check_sparsity, num_kept_weights


@torch.no_grad()
def project_l0_(parameters: Tensor | Iterable[Tensor], sparsity: float) -> None:
    r"""Project parameters, taken together as one vector, onto the :math:`\ell_0` ball, in place.

    .. math::
        \mathrm{proj}_{\mathcal C_h}(\Theta) = \operatorname*{argmin}_{\|\Theta'\|_0 \le h}
        \|\Theta' - \Theta\|_2^2, \qquad h = \lceil (1 - p_\theta) d \rceil

    The :math:`h` entries of largest magnitude stay, the others become zero. Among equal
    magnitudes at the cut, those that come first in the order of ``parameters`` stay.

    Args:
        parameters: A tensor or several, all on one device.
        sparsity: Share :math:`p_\theta` of all entries to set to zero, in [0, 1].

    Raises:
        InputError: if an entry is nan or infinite; nothing is changed then.

    Example:
        >>> import torch, teddy
        >>> weights = [torch.tensor([3.0, -1.0]), torch.tensor([[-2.0, 0.5]])]
        >>> teddy.project_l0_(weights, sparsity=0.5)
        >>> weights
        [tensor([3., 0.]), tensor([[-2., 0.]])]
    """
    L0Projection(parameters, sparsity)()


class L0Projection:
    """:func:`project_l0_` with its work space, for use after every step of a training.

    Example:
        >>> weight = torch.tensor([3.0, -1.0, 2.0])
        >>> project = L0Projection([weight], sparsity=0.4)
        >>> project()
        >>> weight
        tensor([3., 0., 2.])
    """

    def __init__(self, parameters: Tensor | Iterable[Tensor], sparsity: float) -> None:
        tensors = [parameters] if isinstance(parameters, Tensor) else list(parameters)
        self.parameters = [tensor.detach() for tensor in tensors]
        total = sum(tensor.numel() for tensor in tensors)
        self.num_kept = num_kept_weights(check_sparsity(sparsity, "weight sparsity"), total)
        self.num_zero = total - self.num_kept
        # Magnitudes of all parameters, end to end.
        dtype = max((t.dtype for t in tensors), key=lambda d: d.itemsize, default=torch.float32)
        device = tensors[0].device if tensors else None
        self._buffer = torch.empty(total, dtype=dtype, device=device)
        self._slices = self._buffer.split([tensor.numel() for tensor in tensors])

    @torch.no_grad()
    def __call__(self) -> None:
        """Project the parameters as they are now."""
        if self._buffer.numel() == 0:
            return
        for magnitudes, tensor in zip(self._slices, self.parameters, strict=True):
            torch.abs(tensor.to(magnitudes.dtype), out=magnitudes.view_as(tensor))
        largest = float(self._buffer.amax())
        if not math.isfinite(largest):
            raise InputError(f"a weight is {self._first_bad()}, expected finite weights to project")
        if self.num_zero == 0:
            return
        if self.num_kept == 0:
            for tensor in self.parameters:
                tensor.zero_()
            return
        cut, ties_to_drop = self._cut()
        for tensor in self.parameters:
            _zero_below_(tensor, cut)
        if ties_to_drop:
            self._drop_last_ties(cut, ties_to_drop)

    def _cut(self) -> tuple[float, int]:
        """Return the smallest magnitude that stays, and how many equal ones have to go."""
        if self._buffer.device.type == "cpu" and self._buffer.dtype.itemsize >= 4:
            values = self._buffer.numpy()
            values.partition(self.num_zero)  # in place, one index: linear time
            dropped = torch.from_numpy(values[: self.num_zero])
            cut = float(values[self.num_zero])
        else:
            ordered = self._buffer.sort().values
            dropped, cut = ordered[: self.num_zero], float(ordered[self.num_zero])
        return cut, int((dropped == cut).sum()) if float(dropped.amax()) == cut else 0

    def _drop_last_ties(self, cut: float, count: int) -> None:
        for tensor in reversed(self.parameters):
            ties = (tensor.abs() == cut).nonzero()
            last = ties[max(0, len(ties) - count) :]
            tensor[tuple(last.t())] = 0
            count -= len(last)

    def _first_bad(self) -> float:
        return float(self._buffer[~self._buffer.isfinite()][0])


def _zero_below_(tensor: Tensor, cut: float) -> None:
    """Set the entries of magnitude below ``cut`` to zero."""
    smallest = torch.tensor(cut, dtype=tensor.dtype)
    if tensor.dtype.itemsize >= 4 and smallest.item() == cut:
        # One pass: hardshrink keeps what is above its threshold.
        below = torch.nextafter(smallest, torch.zeros_like(smallest)).item()
        torch.ops.aten.hardshrink.out(tensor, below, out=tensor)
    else:
        tensor.masked_fill_(tensor.abs() < cut, 0)


def count_nonzero(parameters: Iterable[Tensor]) -> int:
    """Count the entries that are not zero.

    Example:
        >>> count_nonzero([torch.tensor([1.0, 0.0]), torch.tensor([[2.0]])])
        2
    """
    return sum(int(torch.count_nonzero(tensor)) for tensor in parameters)
