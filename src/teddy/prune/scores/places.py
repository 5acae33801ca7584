"""The place of each edge among those of its ends."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from teddy.graph.edges import Edges


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
