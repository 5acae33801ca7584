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


def lowest_of_groups(scores: Tensor, pairs: Tensor, group: Tensor, budgets: Tensor) -> Tensor:
    """Mark the lowest edges of each group in the same order, as many as its budget says.

    What :func:`lowest_edges` does for one group after the other, at once.

    Args:
        scores: float64 ``[M]``.
        pairs: int64 ``[2, M]``, the lower id first.
        group: int64 ``[M]``, ascending.
        budgets: int64 ``[G]``, at most the edges that a group has.

    Example:
        >>> scores, pairs = torch.tensor([3.0, 1.0, 2.0]), torch.tensor([[0, 0, 1], [1, 2, 2]])
        >>> lowest_of_groups(scores, pairs, torch.tensor([0, 0, 1]), torch.tensor([1, 1]))
        tensor([False,  True,  True])
    """
    if torch.isnan(scores).any():
        raise InputError("an edge score is nan, expected a number for every edge")
    if not scores.numel():
        return torch.zeros_like(scores, dtype=torch.bool)
    # By group, then by score: a group's place k - 1 holds the k-th lowest of it.
    ordered = scores[torch.from_numpy(np.lexsort((scores.cpu(), group.cpu()))).to(scores.device)]
    first = torch.searchsorted(group, torch.arange(budgets.numel(), device=group.device))
    threshold = ordered[(first + budgets - 1).clamp(0, scores.numel() - 1)]
    threshold = threshold.masked_fill(budgets == 0, -torch.inf)[group]
    marked = scores < threshold
    missing = budgets - torch.bincount(group[marked], minlength=budgets.numel())
    ties = ((scores == threshold) & (missing[group] > 0)).nonzero().flatten()
    of_tie = group[ties]
    whole = torch.bincount(of_tie, minlength=budgets.numel()) == missing
    marked[ties[whole[of_tie]]] = True
    ties, of_tie = ties[~whole[of_tie]], of_tie[~whole[of_tie]]
    if ties.numel():
        order = np.lexsort((_repeated_digests(pairs[:, ties]), of_tie.cpu()))
        ties = ties[torch.from_numpy(order).to(ties.device)]
        place = torch.arange(ties.numel(), device=ties.device)
        before = torch.searchsorted(of_tie, of_tie)  # ties of the groups before
        marked[ties[place - before < missing[of_tie]]] = True
    return marked


def _repeated_digests(pairs: Tensor) -> NDArray[np.bytes_]:
    """Hashes of pairs many of which are the same."""
    known, place = torch.unique(pairs, dim=1, return_inverse=True)
    digests: NDArray[np.bytes_] = _of_indices(known)[place.cpu().numpy()]
    return digests


def _of_indices(pairs: Tensor) -> NDArray[np.bytes_]:
    lows, highs = pairs.tolist()
    return pair_digests(lows, highs)
