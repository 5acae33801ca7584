"""Forest fire: number of random fires that pass an edge, computed by NetworKit."""

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

#: Probability that one more neighbour of a burning node catches fire, and total number of burnt
#: edges as a multiple of M. NetworKit has no defaults; these are from its tutorial, and from Chen
#: et al. (VLDB 2024) for sparsities of at least one half. They use 0.2 below that; one probability
#: for all makes budgets nested.
BURN_PROBABILITY, BURNT_RATIO = 0.6, 5.0

_lock = threading.Lock()


def forest_fire_values(graph: Edges, signals: Signals | None = None, seed: int = 0) -> Tensor:
    r"""Frequency of random fires that pass an edge.

    .. math::
        s_{ij} = b_{ij} / \max_e b_e

    where :math:`b_e` is the number of fires that pass edge :math:`e`. A fire starts at a random
    node; each burning node ignites random unburnt neighbours, each with probability 0.6, until the
    first failure. New fires start until :math:`\sum_e b_e \ge 5 M`. The
    edge score of Hamann et al. 2016, `"Structure-preserving sparsification methods for social
    networks" <https://doi.org/10.1007/s13278-016-0332-2>`_, after the node sampling of Leskovec
    and Faloutsos, "Sampling from large graphs" (KDD 2006). Counts are small whole numbers, with
    many ties.
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
    """Make the draws of NetworKit depend on the seed only, by one thread.

    Its threads have separate generators and race for the last fire. The seed is process-wide, so
    runs are serialised. The number of threads, which PyTorch shares, is restored.
    """
    with _lock:
        threads = networkit.getMaxNumberOfThreads()
        networkit.setNumberOfThreads(1)
        networkit.setSeed(seed, False)
        try:
            yield
        finally:
            networkit.setNumberOfThreads(threads)


#: Prune the edges that burn least first.
forest_fire = Score(forest_fire_values, draws=True)
