"""Exact selection: the k lowest of a score, ties broken alike everywhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.edges.ties import pair_digests
from teddy.errors import InputError


def lowest_edges(
    scores: Tensor,
    pairs: Tensor,
    k: int,
    digests: Callable[[Tensor], NDArray[np.bytes_]] | None = None,
) -> Tensor:
    """Mark the ``k`` lowest edges in the total order (score, md5 of the pair).

    The order is total, so for a larger ``k`` the marked edges contain those of a smaller one.
    Hashes are computed among edges equal to the threshold only.

    Args:
        scores: float64 ``[M]``.
        pairs: int64 ``[2, M]``, the lower id first.
        k: How many to mark.
        digests: From pairs ``[2, P]`` to their hashes; by default of the indices themselves.

    Example:
        >>> lowest_edges(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([[0, 0, 1], [1, 2, 2]]), 2)
        tensor([False,  True,  True])
    """
    if torch.isnan(scores).any():
        raise InputError("an edge score is nan, expected a number for every edge")
    if k == 0 or k == scores.numel():
        return torch.full_like(scores, k > 0, dtype=torch.bool)
    threshold = torch.from_numpy(np.partition(scores.cpu().numpy(), k - 1)[k - 1 : k])
    threshold = threshold.to(scores.device)
    marked = scores < threshold
    ties = (scores == threshold).nonzero().flatten()
    missing = k - int(marked.sum())
    order = np.argsort((digests or _of_indices)(pairs[:, ties]))
    marked[ties[torch.from_numpy(order[:missing]).to(ties.device)]] = True
    return marked


def _of_indices(pairs: Tensor) -> NDArray[np.bytes_]:
    lows, highs = pairs.tolist()
    return pair_digests(lows, highs)
