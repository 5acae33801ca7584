"""Pruned graph of a cell with the model that runs on it, for every task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import HeteroData

from teddy.data.graphs import as_batch
from teddy.edges import Arcs
from teddy.methods import Problem
from teddy.models import graph_head
from teddy.models.headed import Headed
from teddy.ticket import Ticket
from teddy.ticket.features import features_for
from teddy.ticket.graphs import graphs_kept
from teddy.ticket.heads import graph_for


@dataclass(frozen=True)
class Pruned:
    """A graph, the edges that are kept, and a model.

    Attributes:
        model: The model with its head, from features to predictions.
        x: Features.
        arcs: The edges before pruning.
        keep: bool ``[M]``, the kept edges.
        classes: Classes of the nodes, for homophily; None where nodes are not classified.
        more: Values that the model takes beside features and edges.
    """

    model: nn.Module
    x: Tensor
    arcs: Arcs
    keep: Tensor
    classes: Tensor | None
    more: dict[str, Any] = field(default_factory=dict)

    def fields(self, keep: Tensor | None) -> dict[str, Any]:
        """Messages of some edges, and all else that the model takes; of all edges for None."""
        return {**self.arcs.fields(keep), **self.more}


def pruned_graph(ticket: Ticket, data: Any) -> Pruned | None:
    """Graph that a ticket runs on; None of a heterogeneous graph, which has several kinds of edge.

    Args:
        ticket: The ticket.
        data: The graph, or graphs, that it was found on, or tested on where that is another.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", 0.5, epochs=1, hidden=8)
        >>> int(pruned_graph(ticket, data).keep.sum())
        2276
    """
    info = ticket.info
    if info.hetero is not None:
        return None
    if info.graphs is not None:
        batch = as_batch(data)
        model = graph_head.of_graphs(ticket.model, info.graphs["readout"] or "mean")
        more = {"graph_of_node": batch.batch}
        return Pruned(model, features_for(info, batch), *graphs_kept(ticket, batch), None, more)
    data = graph_for(info, data)
    arcs, head = ticket.arcs(data), ticket.head(data)
    return Pruned(
        ticket.model if head is None else Headed(ticket.model, head),
        features_for(info, data),
        arcs,
        ticket.kept(data, arcs),
        data.y if ticket.task.name == "classification" else None,
    )


def whole_graph(problem: Problem) -> Pruned | None:
    """Graph of the dense model, with all of its edges; None of a heterogeneous graph."""
    if isinstance(getattr(problem, "hetero", None), HeteroData):
        return None
    arcs, data = problem.deployed.arcs, problem.deployed.data
    return Pruned(
        problem.initial_model(),
        data.x,
        arcs,
        torch.ones_like(arcs.graph.pairs[0]).bool(),
        data.y if problem.task.name == "classification" else None,
        {name: data[name] for name in ("graph_of_node",) if name in data},
    )
