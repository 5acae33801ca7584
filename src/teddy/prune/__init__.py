"""Edge pruning: edge scores, exact selection, ``prune_edges`` and the transform ``SparsifyEdges``.

Each score is one file in ``scores``.
"""

from teddy.prune.choose import choose_edges, keep_highest, score_edges
from teddy.prune.prune import edge_scores, prune_edges
from teddy.prune.scores import SCORES
from teddy.prune.scores.score import Signals
from teddy.prune.sorted_graph import SortedGraph
from teddy.prune.sparsify import SparsifyEdges

__all__ = [
    "SCORES",
    "Signals",
    "SortedGraph",
    "SparsifyEdges",
    "choose_edges",
    "edge_scores",
    "keep_highest",
    "prune_edges",
    "score_edges",
]
