"""The graph that a ticket's network runs on, as PyG data."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from torch_geometric.data import Data, HeteroData

from teddy.data.checks import PRUNED_BY
from teddy.data.feature_names import feature_names
from teddy.data.graphs import GraphsLike
from teddy.graph.columns import keep_messages, listed_columns
from teddy.models import GNN
from teddy.ticket.features import features_for, input_names
from teddy.ticket.graphs import graph_apply
from teddy.ticket.heads import graph_for
from teddy.ticket.hetero import hetero_apply
from teddy.ticket.mark import marks
from teddy.training.inputs import dense_input, own_types

if TYPE_CHECKING:
    from teddy.ticket.ticket import Ticket


def apply_ticket(ticket: Ticket, data: GraphsLike | HeteroData) -> Data | HeteroData:
    """Return the graph that a ticket's network runs on: ``ticket.model(out.x, out.edge_index)``.

    Each kept edge is there once, in both directions unless the ticket is directed, sorted; so are
    the self-loops that are listed, if the network is a module of the user's own. Whatever has a
    value for each column goes along: ``edge_weight`` and ``edge_attr`` as the network takes them,
    and of anything else the value of the first column that lists the edge in its direction, or in
    the other one if that isn't listed. Fields of nodes, masks and links stay. Only where the
    network takes ``x`` in another form it is in that: named columns in the order of
    ``info.features``, and for a module of the user's own dense, in the type of its parameters.

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
        return _as_taken(ticket, graph_apply(ticket, data))
    data = graph_for(ticket.info, data)
    edges = ticket.edges(data)
    fields = edges.fields(ticket.kept(data, edges))
    edge_index, nodes = fields["edge_index"], edges.num_nodes
    sparse = keep_messages(data, listed_columns(data.edge_index, edge_index))
    for name, value in fields.items():
        sparse[name] = value
    if sparse.num_nodes != nodes:
        sparse.num_nodes = nodes
    sparse[PRUNED_BY] = marks(ticket, edge_index, [nodes])[0]
    return _as_taken(ticket, sparse)


def _as_taken(ticket: Ticket, data: Data) -> Data:
    """The same with features and other inputs as the network takes them."""
    if data.get("x") is None:
        return data
    x, names = features_for(ticket.info, data), feature_names(data)
    taken = {"x": x if isinstance(ticket.model, GNN) else dense_input(ticket.model, x)}
    values = {name: data[name] for name in input_names(ticket.info)}
    if not isinstance(ticket.model, GNN):
        values = own_types(values, taken["x"])
    ready = copy.copy(data)
    for name, value in {**taken, **values}.items():
        ready[name] = value
    if names is not None and ticket.info.features is not None:
        ready.feature_names = ticket.info.features
    return ready
