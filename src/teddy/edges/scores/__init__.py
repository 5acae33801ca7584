"""One file a score. A score says how much each edge matters; the lowest go first.

A score takes the simple graph, node pairs ``[2, P]`` of it and a seed, and returns float64
``[P]``. It must not depend on how the edges were listed.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from teddy.edges.scores.degree import degree_high_first, degree_low_first
from teddy.edges.scores.forest_fire import forest_fire
from teddy.edges.scores.k_neighbor import k_neighbor
from teddy.edges.scores.local_degree import local_degree
from teddy.edges.scores.random import random_order
from teddy.edges.scores.teddy import teddy_score
from teddy.edges.scores.two_hop import two_hop_high_first
from teddy.edges.simple_graph import SimpleGraph
from teddy.registry import Registry

Score = Callable[[SimpleGraph, Tensor, int], Tensor]

SCORES: Registry[Score] = Registry("score")
SCORES.register("teddy")(teddy_score)
SCORES.register("degree-high")(degree_high_first)
SCORES.register("degree-low")(degree_low_first)
SCORES.register("two-hop")(two_hop_high_first)
SCORES.register("random")(random_order)
SCORES.register("k-neighbor")(k_neighbor)
SCORES.register("local-degree")(local_degree)
SCORES.register("forest-fire")(forest_fire)

__all__ = ["SCORES", "Score"]
