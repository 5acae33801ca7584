"""Products of what two nodes have, a part of the edges at a time."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

# Numbers that are looked at together: 128 MB in double precision.
_AT_ONCE = 2**24


def parts(count: int, width: int) -> Iterator[slice]:
    """Slices of ``count`` rows, of which each has so many rows of ``width`` as memory takes.

    Example:
        >>> list(parts(3, 2**23))
        [slice(0, 2, None), slice(2, 4, None)]
    """
    step = max(1, _AT_ONCE // max(width, 1))
    return (slice(start, start + step) for start in range(0, count, step))


def paired_products(one: Tensor, other: Tensor, pairs: Tensor) -> Tensor:
    r"""Inner products :math:`a_i^\top b_j` of pairs of nodes.

    Args:
        one: :math:`a`, ``[N, C]``.
        other: :math:`b`, ``[N, C]``.
        pairs: ``[2, P]``, :math:`i` and :math:`j`.

    Example:
        >>> import torch
        >>> one, other = torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paired_products(one, other, torch.tensor([[0, 1], [1, 0]]))
        tensor([3., 2.])
    """
    products = one.new_empty(pairs.size(1))
    for part in parts(pairs.size(1), one.size(1)):
        i, j = pairs[:, part]
        products[part] = (one[i] * other[j]).sum(dim=1)
    return products
