"""Values of edges that several scores are made of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from teddy.graph.edges import Edges

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


def places(graph: Edges, values: Tensor) -> Tensor:
    r"""Place :math:`r_i(j)` of each edge at each end, from 1, the highest value first.

    Equal values share the best place, so that how nodes are numbered doesn't matter.

    Args:
        graph: The graph.
        values: ``[2, M]``: row 0 is what the edge is worth to ``pairs[0]``, row 1 to ``pairs[1]``.

    Returns:
        int64 ``[2, M]``.

    Example:
        >>> star = Edges(4, torch.tensor([[0, 0, 0], [1, 2, 3]]))
        >>> places(star, torch.tensor([[5.0, 7.0, 5.0], [1.0, 1.0, 1.0]])).tolist()
        [[2, 1, 2], [1, 1, 1]]
    """
    ends, worth = graph.pairs.flatten().cpu().numpy(), values.flatten().cpu().numpy()
    order = np.lexsort((-worth, ends))
    ends, worth = ends[order], worth[order]
    position = np.arange(ends.size)
    # A run is what one end has of one value; its place is that of its first edge.
    new_end = np.diff(ends, prepend=-1) != 0
    new_run = new_end | (np.diff(worth, prepend=np.inf) != 0)
    first_of_end = np.maximum.accumulate(np.where(new_end, position, 0))
    first_of_run = np.maximum.accumulate(np.where(new_run, position, 0))
    place = np.empty(ends.size, dtype=np.int64)
    place[order] = first_of_run - first_of_end + 1
    return torch.from_numpy(place.reshape(2, -1)).to(graph.pairs.device)
