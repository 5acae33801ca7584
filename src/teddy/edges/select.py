"""Exact selection: the k lowest of a score, ties broken alike everywhere."""

from __future__ import annotations

import hashlib

import numpy as np
import torch
from torch import Tensor

from teddy.errors import InputError


def lowest_edges(scores: Tensor, pairs: Tensor, k: int) -> Tensor:
    """Mark the ``k`` lowest edges in the total order (score, md5 of the pair).

    The order is total, so for a larger ``k`` the marked edges contain those of a smaller one.
    The tie rule sees an edge's two ids only, not its place in a table, and md5 exists on every
    engine; hashes are computed among edges equal to the threshold only.

    Args:
        scores: float64 ``[M]``.
        pairs: int64 ``[2, M]``, the lower id first.
        k: How many to mark.

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
    marked[ties[_tie_order(pairs[:, ties])[:missing]]] = True
    return marked


def _tie_order(pairs: Tensor) -> Tensor:
    """Order of the pairs by the md5 of ``low-high``."""
    if pairs.size(1) == 1:
        return torch.zeros(1, dtype=torch.long, device=pairs.device)
    lows, highs = pairs.tolist()
    digests = b"".join(
        hashlib.md5(b"%d-%d" % pair, usedforsecurity=False).digest()
        for pair in zip(lows, highs, strict=True)
    )
    halves = np.frombuffer(digests, dtype=">u8").reshape(-1, 2)
    return torch.from_numpy(np.lexsort((halves[:, 1], halves[:, 0]))).to(pairs.device)
