"""Pruned graph of a ticket, as PyG data."""

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
    """Return the pruned graph of a ticket: ``ticket.model(out.x, out.edge_index)`` runs on it.

    Each kept edge is listed once, sorted, and in both directions unless the ticket is directed.
    Listed self-loops are kept if the network is your own module. Values of edges follow:
    ``edge_weight`` and ``edge_attr`` as the network takes them; of other values, that of the
    first column that lists the edge, preferably in the same direction. Values of nodes, masks and
    links are unchanged. ``x`` is as the network takes it: named columns in the order of
    ``info.features``, and for your own module dense, in the dtype of its parameters.

    The ticket takes the result in place of the whole graph, and recognises it by ``pruned_by``.

    Args:
        ticket: The ticket.
        data: Its graph, whole or pruned; any graph for inductive and graph-classification tickets.
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
    """Return features as the network takes them."""
    return x if isinstance(ticket.model, GNN) else dense_input(ticket.model, x)
