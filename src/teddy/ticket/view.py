"""A ticket's network and the graph that it runs on, whatever it predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from teddy.graph import Edges
from teddy.ticket.network_inputs import network_inputs
from teddy.ticket.ticket import Ticket
from teddy.training.runner import Runner


@dataclass(frozen=True)
class TicketView:
    """Some data as a ticket takes them.

    Attributes:
        model: The network, from features and messages to outputs.
        x: Features, of a heterogeneous graph those of the target.
        edges: The edges, before they are pruned.
        keep: bool ``[M]``, those that stay.
        beside: Further inputs of the model, ``graph_of_node`` of several graphs.
        head: From its outputs to logits; None: they are the logits.
    """

    model: nn.Module
    x: Tensor
    edges: Edges
    keep: Tensor
    beside: Mapping[str, Any] = field(default_factory=dict)
    head: nn.Module | None = None

    def runner(self, model: nn.Module, keep: Tensor | None = None) -> Runner:
        """Run a model like this one, on all edges or those to keep."""
        values = {**self.edges.fields(keep), **self.beside}
        return Runner(model, self.x, values.pop("edge_index"), values, head=self.head)


def ticket_view(ticket: Ticket, data: Any) -> TicketView:
    """Return some data as a ticket takes them.

    Args:
        ticket: The ticket.
        data: A graph, a set of graphs or a heterogeneous graph, as the ticket was found on.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> view = ticket_view(teddy.find_ticket(data, "gcn", 0.5, epochs=2, hidden=8), data)
        >>> view.edges.num_edges, int(view.keep.sum())
        (4552, 2276)
    """
    inputs, (edges, keep) = network_inputs(ticket, data), ticket.chosen(data)
    beside = {name: inputs.of_edges[name] for name in ("graph_of_node",) if name in inputs.of_edges}
    return TicketView(ticket.model.to(inputs.x.device), inputs.x, edges, keep, beside, inputs.head)
