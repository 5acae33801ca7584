"""Mark of graphs that a ticket has pruned already: the field ``pruned_by``."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import PRUNED_BY
from teddy.errors import InputError
from teddy.store.tensors import pack

if TYPE_CHECKING:
    from teddy.ticket.view import TicketEdges


def pruned_marks(ticket: TicketEdges, edge_index: Tensor, nodes: list[int]) -> Tensor:
    """Return a digest of the ticket and the edges for each pruned graph, int64 ``[G]``.

    Args:
        ticket: The ticket that pruned them.
        edge_index: Messages of all graphs, sorted by source.
        nodes: Nodes of each graph.
    """
    ticket_digest = hashlib.sha256(json.dumps(ticket.info.to_dict(), sort_keys=True).encode())
    ticket_digest.update(pack(ticket.keep).numpy().tobytes())
    ends = torch.tensor([0, *nodes]).cumsum(0)
    messages = edge_index.cpu()
    columns = torch.searchsorted(messages[0].contiguous(), ends).tolist()
    numbers = []
    for number, first in enumerate(ends[:-1].tolist()):
        digest = ticket_digest.copy()
        digest.update(f"\n{nodes[number]} nodes\n".encode())
        part = messages[:, columns[number] : columns[number + 1]] - first
        digest.update(part.contiguous().numpy().astype("<i8").tobytes())
        numbers.append(int.from_bytes(digest.digest()[:8], "little", signed=True))
    return torch.tensor(numbers)


def is_marked(ticket: TicketEdges, data: Data, edge_index: Tensor, nodes: list[int]) -> bool:
    """Return whether graphs have the mark of this ticket and these edges.

    Args:
        ticket: The ticket.
        data: The graph, or graphs.
        edge_index: Its messages, sorted by source.
        nodes: Nodes of each graph.
    """
    mark = getattr(data, PRUNED_BY, None)
    if not isinstance(mark, Tensor):
        return False
    return torch.equal(mark.cpu().flatten(), pruned_marks(ticket, edge_index, nodes))


def refuse_marked(data: Data) -> None:
    """Raise if a graph has a mark.

    Example:
        >>> refuse_marked(Data(pruned_by=torch.tensor(7)))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data was pruned by another ticket, or has changed since
        (pruned_by), expected the whole graph, or what this ticket's apply returned
    """
    if PRUNED_BY in data:
        raise InputError(
            "data was pruned by another ticket, or has changed since (pruned_by), expected the "
            "whole graph, or what this ticket's apply returned"
        )
