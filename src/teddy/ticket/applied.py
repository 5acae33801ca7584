"""The graph that a ticket's network runs on, as PyG data."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from torch_geometric.data import Data, HeteroData

from teddy.data.checks import PRUNED_BY
from teddy.data.features import take_columns
from teddy.data.graphs import GraphsLike
from teddy.edges.messages import keep_messages, listed_columns
from teddy.ticket.features import order_for
from teddy.ticket.graphs import graph_apply
from teddy.ticket.heads import graph_for
from teddy.ticket.hetero import hetero_apply
from teddy.ticket.mark import marks

if TYPE_CHECKING:
    from teddy.ticket.ticket import Ticket


def apply_ticket(ticket: Ticket, data: GraphsLike | HeteroData) -> Data | HeteroData:
    """Return the graph that a ticket's network runs on: ``ticket.model(out.x, out.edge_index)``.

    Each kept edge is there once, in both directions unless the ticket is directed, sorted; so are
    the self-loops that are listed, if the network is a module of the user's own. Whatever has a
    value for each column goes along: ``edge_weight`` and ``edge_attr`` as the network takes them,
    and of anything else the value of the first column that lists the edge in its direction, or in
    the other one if that isn't listed. Fields of nodes, masks and links stay, but that named
    columns of ``x`` are in the order of ``info.features``.

    The ticket takes the result as it takes the whole graph, and doesn't prune it again:
    ``pruned_by`` says which ticket left which edges.

    Args:
        ticket: The ticket.
        data: Its graph, whole or pruned; of an inductive ticket, or one that classifies graphs,
            any.
    """
    if ticket.info.hetero is not None:
        return hetero_apply(ticket, data)
    if ticket.info.graphs is not None:
        return _ordered(ticket, graph_apply(ticket, data))
    data = graph_for(ticket.info, data)
    arcs = ticket.arcs(data)
    fields = arcs.fields(ticket.kept(data, arcs))
    edge_index, nodes = fields["edge_index"], arcs.graph.num_nodes
    sparse = keep_messages(data, listed_columns(data.edge_index, edge_index))
    for name, value in fields.items():
        sparse[name] = value
    if sparse.num_nodes != nodes:
        sparse.num_nodes = nodes
    sparse[PRUNED_BY] = marks(ticket, edge_index, [nodes])[0]
    return _ordered(ticket, sparse)


def _ordered(ticket: Ticket, data: Data) -> Data:
    """The same with the columns of ``x`` where the network expects them."""
    order = None if data.get("x") is None else order_for(ticket.info, data)
    if order is None:
        return data
    ordered = copy.copy(data)
    ordered.x, ordered.feature_names = take_columns(data.x, order), ticket.info.features
    return ordered
