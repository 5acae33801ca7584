"""A ticket that predicts links: what it says of them, and how it is used."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import LINK_FIELDS, MASKS
from teddy.data.links import check_links, with_links
from teddy.errors import InputError
from teddy.training.tasks import hits_at

if TYPE_CHECKING:
    from teddy.ticket.info import TicketInfo


def link_facts(data: Data, k: int, logits: dict[str, Tensor]) -> dict[str, Any]:
    """What a ticket says of links, as plain data.

    Args:
        data: ``y`` and the masks of the links.
        k: Of hits@k.
        logits: Of the ``dense`` model and the ``ticket``.
    """
    masks = {"val": data.val_mask, "test": data.test_mask}
    hits = {
        whose: {part: hits_at(k, z[mask], data.y[mask]) for part, mask in masks.items()}
        for whose, z in logits.items()
    }
    return {"decoder": "inner product", "hits_at": k, "hits": hits}


def linked(info: TicketInfo, data: Data, labelled: bool = True) -> Data:
    """A graph with links to predict, checked; one without is split as the ticket's was.

    Args:
        info: The ticket's header.
        data: The graph that training saw, with links; or the whole.
        labelled: Whether labels and masks of the links are looked at.
    """
    if isinstance(data, Data) and "edge_label_index" not in data and info.split_seed is not None:
        data = with_links(data, info.split, info.split_seed)
    return check_links(data, labelled=labelled)


def keep_messages(data: Data, columns: Tensor) -> Data:
    """The graph with some columns of its edges; links, where it has any, stay as they are.

    Args:
        data: The graph.
        columns: bool ``[E]``.

    Example:
        >>> import torch
        >>> links = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=3,
        ...     edge_label_index=torch.tensor([[1], [2]]), edge_label=torch.tensor([1.0]))
        >>> keep_messages(links, torch.tensor([False]))
        Data(edge_index=[2, 0], num_nodes=3, edge_label_index=[2, 1], edge_label=[1])
    """
    if LINK_FIELDS[0] not in data:
        return data.edge_subgraph(columns)
    # PyG takes what has a row for each edge by chance for the edges' own.
    bare = copy.copy(data)
    own = {key: data[key] for key in (*LINK_FIELDS, *MASKS, "y") if key in data}
    for key in own:
        del bare[key]
    kept = bare.edge_subgraph(columns)
    for key, value in own.items():
        kept[key] = value
    return kept


def refuse_links(info: TicketInfo) -> None:
    """Raise if a ticket predicts links, for what takes those that predict nodes only."""
    if info.links is not None:
        raise InputError(
            "the ticket predicts links of the graph that it was found on, expected one that "
            "predicts nodes for a graph that has changed"
        )
