"""Forest fire: the number of random fires that pass an edge. Computed by NetworKit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy.prune.scores.edge_values import (
    import_networkit,
    networkit_graph,
    run_networkit,
)
from teddy.prune.scores.score import Score, Signals

#: The probability that one more neighbour of a burning node catches fire, and how many edges burn
#: in all, as a multiple of M. NetworKit has no defaults; these are its tutorial's, and those of
#: Chen et al. (VLDB 2024) where half of the edges or fewer stay. They take 0.2 where more do; with
#: one probability for all, budgets are nested.
BURN_PROBABILITY, BURNT_RATIO = 0.6, 5.0

_one_at_a_time = threading.Lock()


def forest_fire_values(graph: Edges, signals: Signals | None = None, seed: int = 0) -> Tensor:
    r"""Score an edge by how often it burns.

    .. math::
        s_{ij} = b_{ij} / \max_e b_e

    where :math:`b` counts how often fires pass an edge. A fire starts at a random node; each
    burning node sets light to a random neighbour that hasn't burnt, again and again, each time
    with probability 0.6, until it fails. New fires start until :math:`\sum_e b_e \ge 5 M`. The
    edge score of Hamann et al. 2016, `"Structure-preserving sparsification methods for social
    networks" <https://doi.org/10.1007/s13278-016-0332-2>`_, after the node sampling of Leskovec
    and Faloutsos, "Sampling from large graphs" (KDD 2006). Counts are small whole numbers, so many
    edges are equal.
    """
    if seed not in range(2**64):
        raise InputError(f"seed is {seed}, expected a whole number from 0 to 2^64 - 1")
    networkit = import_networkit("forest-fire")
    forest = networkit_graph(networkit, graph)
    fires = networkit.sparsification.ForestFireScore(forest, BURN_PROBABILITY, BURNT_RATIO)
    with _seeded(networkit, seed):
        return run_networkit(fires, graph)


@contextmanager
def _seeded(networkit: Any, seed: int) -> Iterator[None]:
    """Make the draws of NetworKit depend on the seed alone, by one thread.

    Its threads draw by themselves and race for the last fire. The seed is one for the whole
    process, so one such run at a time. The number of threads, which PyTorch shares, is set back.
    """
    with _one_at_a_time:
        threads = networkit.getMaxNumberOfThreads()
        networkit.setNumberOfThreads(1)
        networkit.setSeed(seed, False)
        try:
            yield
        finally:
            networkit.setNumberOfThreads(threads)


#: Prune the edges that burn least first.
forest_fire = Score(forest_fire_values, draws=True)
