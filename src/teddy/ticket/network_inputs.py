"""Inputs of a ticket's network on some data, whatever is predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from teddy.graph.surroundings import Surroundings
from teddy.ticket.compiled import CompiledTicket
from teddy.ticket.features import features_for, order_for
from teddy.ticket.heads import graph_for, head_for
from teddy.ticket.hetero import check_widths, target_nodes
from teddy.training.runner import Runner

if TYPE_CHECKING:
    from teddy.ticket.ticket import Ticket


@dataclass(frozen=True)
class NetworkInputs:
    """Inputs of a network, and the head that makes logits of its outputs.

    Attributes:
        x: Features; of a heterogeneous graph those of the nodes that are predicted.
        edge_index: Edges, each direction that messages take; of a heterogeneous graph
            :class:`~teddy.graph.surroundings.Surroundings`.
        of_edges: Other inputs by name, such as ``edge_weight``; ``graph_of_node`` for a module
            that reads graphs out itself.
        head: From the outputs to the logits; None: they are the logits.
        target: Node type that is predicted, of a heterogeneous graph.
        order: For each column of ``x``, its place in the data; None: the same.
    """

    x: Tensor
    edge_index: Any
    of_edges: dict[str, Any]
    head: nn.Module | None = None
    target: str | None = None
    order: Tensor | None = None

    def logits(self, network: nn.Module) -> Tensor:
        """Run a network in evaluation."""
        network = network.to(self.x.device)
        runner = Runner(network, self.x, self.edge_index, self.of_edges, head=self.head)
        return runner.evaluation_logits()

    def compile(self, network: nn.Module, shrink: bool = True) -> CompiledTicket:
        """Prepare a network for many passes over these inputs."""
        return CompiledTicket(
            network, self.x, self.edge_index, self.of_edges, shrink, self.order, self.head,
            self.target,
        )  # fmt: skip


def network_inputs(ticket: Ticket, data: Any, every_edge: bool = False) -> NetworkInputs:
    """Return the inputs of a ticket's network on the edges that it keeps of some data.

    Args:
        ticket: The ticket.
        data: Its graph, graphs or heterogeneous graph.
        every_edge: Whether all edges are kept, as the dense model has them; then data that are
            pruned already are refused.
    """
    info = ticket.info
    edges, keep = ticket.chosen(data, whole=every_edge)
    if info.hetero is not None:
        nodes, head, target = target_nodes(info, data), None, info.hetero["target"]
    else:
        graph, target = graph_for(info, data), None
        nodes, head = graph if info.graphs is not None else data, head_for(info, graph)
    x = features_for(info, nodes)
    if edges.target:
        check_widths(info, edges)
    fields = {
        name: value.to(x.device) if isinstance(value, Tensor) else value
        for name, value in edges.fields(None if every_edge else keep).items()
    }
    if info.graphs is not None and head is None:
        fields["graph_of_node"] = nodes.batch.to(x.device)
    edge_index = fields.pop("edge_index")
    if isinstance(edge_index, Surroundings):  # which edge a message is of matters to masks alone
        edge_index = replace(edge_index, edge_of={})
    return NetworkInputs(x, edge_index, fields, head, target, order_for(info, nodes))
