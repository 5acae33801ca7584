"""A ticket's network and the graph that it runs on, whatever it predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from teddy.data.graphs import as_batch
from teddy.edges import Arcs
from teddy.models import graph_head
from teddy.models.headed import Headed
from teddy.models.hetero import HeteroModel
from teddy.ticket.features import features_for
from teddy.ticket.graphs import graphs_kept
from teddy.ticket.heads import graph_for, head_for
from teddy.ticket.hetero import hetero_kept, target_nodes
from teddy.ticket.ticket import Ticket


@dataclass(frozen=True)
class TicketView:
    """Some data as a ticket takes them.

    Attributes:
        model: The network as training runs it: from features and messages to outputs.
        x: Features, of a heterogeneous graph those of the target.
        arcs: The edges, before they are pruned.
        keep: bool ``[M]``, those that stay.
        beside: Further inputs of the model, ``graph_of_node`` of several graphs.
    """

    model: nn.Module
    x: Tensor
    arcs: Arcs
    keep: Tensor
    beside: Mapping[str, Any] = field(default_factory=dict)

    def fields(self, keep: Tensor | None = None) -> dict[str, Any]:
        """Inputs of the model beside features, with all edges or those to keep."""
        return {**self.arcs.fields(keep), **self.beside}


def ticket_view(ticket: Ticket, data: Any) -> TicketView:
    """Return some data as a ticket takes them.

    Args:
        ticket: The ticket.
        data: A graph, a set of graphs or a heterogeneous graph, as the ticket was found on.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> view = ticket_view(teddy.find_ticket(data, "gcn", 0.5, epochs=2, hidden=8), data)
        >>> view.arcs.graph.num_edges, int(view.keep.sum())
        (4552, 2276)
    """
    info = ticket.info
    if info.hetero is not None:
        model = HeteroModel(ticket.model, info.hetero["target"])
        x = features_for(info, target_nodes(info, data))
        return TicketView(model, x, *hetero_kept(ticket, data))
    if info.graphs is not None:
        batch = as_batch(data)
        graphs = graph_head.of_graphs(ticket.model, info.graphs["readout"] or "mean")
        beside = {"graph_of_node": batch.batch}
        x = features_for(info, batch)
        return TicketView(graphs, x, *graphs_kept(ticket, batch), beside)
    data = graph_for(info, data)
    arcs, head = ticket.arcs(data), head_for(info, data)
    network: nn.Module = ticket.model if head is None else Headed(ticket.model, head)
    return TicketView(network, features_for(info, data), arcs, ticket.kept(data, arcs))
