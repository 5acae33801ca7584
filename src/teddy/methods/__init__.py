"""One file a method; each takes a graph and a model and returns a ticket.

May import: data, edges, weights, models, training, ticket.
"""

from teddy.methods import teddy
from teddy.methods.find import METHODS, find_ticket

__all__ = ["METHODS", "find_ticket", "teddy"]
