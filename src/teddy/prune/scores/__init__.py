"""Edge scores, one file each. Edges of lowest score are removed first.

A score is a function ``(edges, signals, seed) -> float64 [M]``, a number for each edge of the
simple graph. It must not depend on the order of ``edge_index``. A score of features or of outputs
of the dense model is a :class:`Score` with their names in ``needs``; a score made of one value per
node is a :func:`node_score`.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from teddy.graph.edges import Edges
from teddy.prune.scores.agreement import agreement, k_agreement
from teddy.prune.scores.cosine import cosine
from teddy.prune.scores.degree import degree_high_first, degree_low_first
from teddy.prune.scores.forest_fire import forest_fire
from teddy.prune.scores.gain import gain
from teddy.prune.scores.k_neighbor import k_neighbor
from teddy.prune.scores.label_propagation import label_propagation
from teddy.prune.scores.local_degree import local_degree
from teddy.prune.scores.random import random
from teddy.prune.scores.resistance import resistance
from teddy.prune.scores.score import Score, Signals, node_score
from teddy.prune.scores.serving import serving
from teddy.prune.scores.teddy import teddy_score
from teddy.prune.scores.two_hop import two_hop_high_first
from teddy.registry import Registry

SCORES: Registry[Score | Callable[[Edges, Signals, int], Tensor]] = Registry("score")
SCORES.register("teddy")(teddy_score)
SCORES.register("degree-high")(degree_high_first)
SCORES.register("degree-low")(degree_low_first)
SCORES.register("two-hop")(two_hop_high_first)
SCORES.register("random")(random)
SCORES.register("k-neighbor")(k_neighbor)
SCORES.register("local-degree")(local_degree)
SCORES.register("forest-fire")(forest_fire)
SCORES.register("resistance")(resistance)
SCORES.register("gain")(gain)
SCORES.register("serving")(serving)
SCORES.register("agreement")(agreement)
SCORES.register("k-agreement")(k_agreement)
SCORES.register("cosine")(cosine)
SCORES.register("label-propagation")(label_propagation)

__all__ = ["SCORES", "Score", "Signals", "node_score"]
