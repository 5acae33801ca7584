"""Splits and required fields of data for a ticket."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from torch_geometric.data import Data

from teddy.data.checks import MASKS
from teddy.data.splits import CHOICES, one_split, same_split, split_nodes, split_number
from teddy.errors import InputError

if TYPE_CHECKING:
    from teddy.tasks.ticket_kind import TicketHeader


def with_split(
    data: Data,
    info: TicketHeader,
    split: str | None,
    split_seed: int | None,
    dataset: str,
    of: str = "node",
) -> Data:
    """Return rows with the masks of the requested split, or of the ticket's if possible."""
    requested = split is not None
    if split_seed is None and split in (None, info.split):
        split_seed = info.split_seed
    split = split or info.split
    if split in ("public", "given") or split_number(split) is not None:
        return _given(data, str(split), requested, dataset)
    try:
        if data.get("y") is None:
            raise InputError(f"{dataset}: has no labels, expected them to draw the split '{split}'")
        masks = split_nodes(data.y, str(split), split_seed or 0, of=of)
    except InputError:
        if requested:
            raise
        return data
    for key, mask in zip(MASKS, masks, strict=True):
        data[key] = mask
    return data


def _given(data: Data, split: str, requested: bool, dataset: str) -> Data:
    """Return a graph with the masks of one of its own splits, or without any."""
    if MASKS[0] not in data:
        if requested:
            raise InputError(f"{dataset}: has no split, pass split as {CHOICES}")
        return data
    if requested and split_number(split) is not None:
        return one_split(data, split, source=dataset)
    try:
        return same_split(data, split, dataset)
    except InputError:
        if requested:
            raise
        for key in MASKS:  # of other splits than the ticket's
            del data[key]
        return data


def require_fields(data: Data, names: Iterable[str], what: str = "data") -> None:
    """Raise unless data have the fields that a ticket was found with.

    Args:
        data: The data.
        names: Names of the fields.
        what: Name of the data in the message.

    Example:
        >>> require_fields(Data(), ["edge_type"])
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data have no edge_type, expected it, as in the ticket's graph
    """
    for name in names:
        if data.get(name) is None:
            raise InputError(f"{what} have no {name}, expected it, as in the ticket's graph")
