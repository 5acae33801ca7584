"""Edge values shared by several scores; those of NetworKit need an optional extra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.graph.edges import Edges

# Numbers that are multiplied together: 128 MB in double precision.
_AT_ONCE = 2**24


def parts(count: int, width: int) -> Iterator[slice]:
    """Yield slices of ``count`` rows of ``width`` numbers, with at most 2^24 numbers each."""
    step = max(1, _AT_ONCE // max(width, 1))
    return (slice(start, start + step) for start in range(0, count, step))


def paired_products(one: Tensor, other: Tensor, pairs: Tensor) -> Tensor:
    r"""Inner products :math:`a_i^\top b_j` of pairs ``[2, P]``, of ``[N, C]`` both.

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


def ranks(graph: Edges, values: Tensor) -> Tensor:
    r"""Rank :math:`r_i(j)` of each edge at each end, int64 ``[2, M]``; 1 for the highest value.

    Equal values share the best rank, so that the order of the nodes doesn't matter.

    Args:
        graph: The graph.
        values: ``[2, M]``: row 0 has the values for ``pairs[0]``, row 1 those for ``pairs[1]``.

    Example:
        >>> star = Edges(4, torch.tensor([[0, 0, 0], [1, 2, 3]]))
        >>> ranks(star, torch.tensor([[5.0, 7.0, 5.0], [1.0, 1.0, 1.0]])).tolist()
        [[2, 1, 2], [1, 1, 1]]
    """
    ends, flat = graph.pairs.flatten().cpu().numpy(), values.flatten().cpu().numpy()
    order = np.lexsort((-flat, ends))
    ends, flat = ends[order], flat[order]
    position = np.arange(ends.size)
    # A run is the edges of one end and one value; their rank is that of the first.
    new_end = np.diff(ends, prepend=-1) != 0
    new_run = new_end | (np.diff(flat, prepend=np.inf) != 0)
    first_of_end = np.maximum.accumulate(np.where(new_end, position, 0))
    first_of_run = np.maximum.accumulate(np.where(new_run, position, 0))
    rank = np.empty(ends.size, dtype=np.int64)
    rank[order] = first_of_run - first_of_end + 1
    return torch.from_numpy(rank.reshape(2, -1)).to(graph.pairs.device)


def import_networkit(score: str) -> Any:
    """Import NetworKit, or raise with the command that installs it."""
    try:
        import networkit
    except ModuleNotFoundError as error:
        raise InputError(
            f"edge score '{score}' needs NetworKit: pip install 'teddy-glt[networkit]'"
        ) from error
    return networkit


def networkit_graph(networkit: Any, graph: Edges, order: Tensor | None = None) -> Any:
    """Return NetworKit's graph of the same edges; an edge's id is its index in ``graph.pairs``.

    With another order of the edges, int64 ``[M]``, ids are indices in it. Isolated nodes are left
    out: no edge score depends on them, but a fire that starts at one would cost time.
    """
    has_edges = graph.degree > 0
    label = has_edges.cumsum(dim=0) - 1
    pairs = graph.pairs if order is None else graph.pairs[:, order]
    low, high = label[pairs].cpu().numpy()
    # With edgesIndexed edges are numbered in the order given; `indexEdges` would number by node.
    return networkit.GraphFromCoo((low, high), n=int(has_edges.sum()), edgesIndexed=True)


def run_networkit(algorithm: Any, graph: Edges) -> Tensor:
    """Run an edge score of NetworKit on a graph of :func:`networkit_graph`; float64 ``[M]``."""
    return torch.tensor(algorithm.run().scores(), dtype=torch.float64, device=graph.pairs.device)
