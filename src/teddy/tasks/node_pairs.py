"""Node pairs as integers, and random pairs without an edge."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError

Keys = NDArray[np.int64]


def pair_keys(pairs: Tensor) -> Keys:
    r"""Return the number of each pair :math:`u < v`, :math:`v (v - 1) / 2 + u`.

    Order of the ends has no effect.

    Example:
        >>> pair_keys(torch.tensor([[0, 2, 1], [1, 0, 2]]))
        array([0, 1, 2])
    """
    low, high = pairs.min(dim=0).values.cpu().numpy(), pairs.max(dim=0).values.cpu().numpy()
    keys: Keys = high * (high - 1) // 2 + low
    return keys


def pairs_of(keys: Keys) -> Tensor:
    """Return the pairs of numbers, int64 ``[2, P]``, the lower node first.

    Example:
        >>> pairs_of(np.arange(4)).tolist()
        [[0, 0, 1, 0], [1, 2, 2, 3]]
    """
    high = ((1 + np.sqrt(1 + 8 * keys.astype(np.float64))) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > keys  # the root is rounded
    high += (high + 1) * high // 2 <= keys
    return torch.from_numpy(np.stack([keys - high * (high - 1) // 2, high]))


def draw_no_edges(edges: Keys, num_nodes: int, count: int, seed: tuple[int, ...]) -> Keys:
    """Draw distinct pairs of different nodes without an edge, uniformly.

    Pairs without an edge are numbered in order, and numbers are drawn: no draw is rejected, even
    in a dense graph.

    Args:
        edges: Numbers of the edges, each once.
        num_nodes: Number of nodes.
        count: Number of pairs to draw.
        seed: Seed; the result depends on it and the edges only.

    Example:
        >>> draw_no_edges(np.array([0, 2, 5]), num_nodes=4, count=3, seed=(0,)).tolist()
        [4, 1, 3]
    """
    free = num_nodes * (num_nodes - 1) // 2 - edges.size
    if count > free:
        raise InputError(
            f"{free} pairs of nodes have no edge, expected at least {count} to draw as negatives"
        )
    random = np.random.default_rng(seed)
    if free <= 4 * count:
        drawn = random.permutation(free)[:count]
    else:
        drawn = np.empty(0, dtype=np.int64)
        while drawn.size < count:
            drawn = np.concatenate([drawn, random.integers(0, free, 2 * count)])
            drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        drawn = drawn[:count]
    edges = np.sort(edges)
    # As many edges come before the r-th pair without one as have at most r such pairs before them.
    before = np.searchsorted(edges - np.arange(edges.size), drawn, side="right")
    keys: Keys = drawn + before
    return keys
