"""A ticket that predicts links: what it says of them, and how it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch_geometric.data import Data

from teddy.data.links import check_links, with_links
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


def linked(info: TicketInfo, data: Data, labelled: bool = True, source: str = "data") -> Data:
    """A graph with links to predict, checked; one without is split as the ticket's was.

    Args:
        info: The ticket's header.
        data: The graph that training saw, with links; or the whole.
        labelled: Whether labels and masks of the links are looked at.
        source: Where it came from, for the message.
    """
    if isinstance(data, Data) and "edge_label_index" not in data and info.split_seed is not None:
        data = with_links(data, info.split, info.split_seed, source)
    return check_links(data, source, labelled)
