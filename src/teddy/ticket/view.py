"""A ticket's network and the graph that it runs on, whatever it predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from teddy.edges import Arcs
from teddy.ticket.network_inputs import network_inputs
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
    inputs, (arcs, keep) = network_inputs(ticket, data), ticket.chosen(data)
    beside = {name: inputs.of_edges[name] for name in ("graph_of_node",) if name in inputs.of_edges}
    return TicketView(inputs.model(ticket.model), inputs.x, arcs, keep, beside)
