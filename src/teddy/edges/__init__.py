"""Which edges stay: scores, exact selection, a PyG transform, the health of what is left.

May import: data.
"""

from teddy.edges.arcs import Arcs
from teddy.edges.graphs import GraphUnion, prune_graphs
from teddy.edges.health import GraphHealth, graph_health
from teddy.edges.hetero import prune_relations, relation_scores
from teddy.edges.hetero_arcs import HeteroArcs
from teddy.edges.prune import edge_scores, prune_edges
from teddy.edges.scores import SCORES
from teddy.edges.signals import Signals
from teddy.edges.simple_graph import SimpleGraph
from teddy.edges.sorted_graph import SortedGraph
from teddy.edges.sparsify import SparsifyEdges

__all__ = [
    "SCORES",
    "Arcs",
    "GraphHealth",
    "GraphUnion",
    "HeteroArcs",
    "Signals",
    "SimpleGraph",
    "SortedGraph",
    "SparsifyEdges",
    "edge_scores",
    "graph_health",
    "prune_edges",
    "prune_graphs",
    "prune_relations",
    "relation_scores",
]
