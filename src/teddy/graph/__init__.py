"""Canonical edge sets (:class:`Edges`), their groups, exact sums and graph health.

No other subpackage sorts or deduplicates edges.
"""

from teddy.graph.edges import Edges
from teddy.graph.groups import Groups
from teddy.graph.health import GraphHealth, graph_health
from teddy.graph.messages import Messages
from teddy.graph.relations import relation_edges

__all__ = ["Edges", "GraphHealth", "Groups", "Messages", "graph_health", "relation_edges"]
