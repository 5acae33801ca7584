"""Tickets that predict something else than nodes: what there is to predict, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn
from torch_geometric.data import Data

from teddy.data import check_data
from teddy.data.graphs import as_batch
from teddy.data.splits import same_split
from teddy.models.graph_head import Readout
from teddy.models.link_head import LinkHead
from teddy.ticket.graphs import graph_targets
from teddy.ticket.links import linked

if TYPE_CHECKING:
    from teddy.ticket.info import TicketInfo


def graph_for(info: TicketInfo, data: Data) -> Data:
    """The graph that messages run on: some data as they are, or what a ticket's split leaves.

    Of a set of graphs: all of them, in a ``Batch``.
    """
    if info.graphs is not None:
        return as_batch(data)
    return data if info.links is None else linked(info, data, labelled=False)


def head_for(info: TicketInfo, data: Data) -> nn.Module | None:
    """What makes logits of the network's outputs; None: they are the logits.

    Args:
        info: The ticket's header.
        data: As of :func:`graph_for`.
    """
    if info.graphs is not None:
        kind = info.graphs["readout"]
        return None if kind is None else Readout(kind, data.batch.to(data.x.device))
    return None if info.links is None else LinkHead(data.edge_label_index.to(data.x.device))


def targets_for(info: TicketInfo, data: Data) -> Data:
    """The graph, or graphs, with ``y`` and masks of all that is predicted."""
    if info.graphs is not None:
        return graph_targets(info, data)
    if info.links is not None:
        return linked(info, data)
    checked = check_data(data, task=info.task["name"], integers="integer_x" in info.graph)
    return same_split(checked, info.split)
