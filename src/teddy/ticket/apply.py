"""The graph that a ticket's network runs on, as PyG data."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.data.features import feature_names
from teddy.models import GNN
from teddy.models.inputs import dense_input, match_dtype
from teddy.tasks.graph_split import GraphsLike
from teddy.ticket.features import features_for, input_names
from teddy.ticket.pruned_mark import pruned_marks

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
    info, kind = ticket.info, ticket.kind
    graph, edges, keep = ticket.chosen(data)
    own = partial(_own_form, ticket)
    features = {name: own(x) for name, x in edges.features.items()}
    fields = replace(edges, features=features).fields(keep)
    mark = pruned_marks(ticket, *kind.sizes(edges.subset(keep), graph))
    x = own(features_for(info, graph)) if graph.get("x") is not None else None
    if x is not None and not isinstance(ticket.model, GNN):
        values = {name: fields[name] for name in input_names(info) if name in fields}
        fields |= match_dtype(values, x)
    sparse = kind.pruned(data, graph, edges, fields, mark)
    store = kind.store(sparse)
    if x is not None:
        store.x = x
        if feature_names(graph) is not None and info.features is not None:
            store.feature_names = info.features
    return sparse


def _own_form(ticket: Ticket, x: Tensor) -> Tensor:
    """Features as the network takes them."""
    return x if isinstance(ticket.model, GNN) else dense_input(ticket.model, x)
