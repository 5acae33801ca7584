"""Data that a ticket is used on: a split that is asked for or the ticket's own, and inputs."""

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
    """Return rows with the masks of a split that is asked for, or of the ticket's if it can be."""
    asked = split is not None
    if split_seed is None and split in (None, info.split):
        split_seed = info.split_seed
    split = split or info.split
    if split in ("public", "given") or split_number(split) is not None:
        return _came(data, str(split), asked, dataset)
    try:
        if data.get("y") is None:
            raise InputError(f"{dataset}: no labels, expected some to draw the split '{split}'")
        masks = split_nodes(data.y, str(split), split_seed or 0, of=of)
    except InputError:
        if asked:
            raise
        return data
    for key, mask in zip(MASKS, masks, strict=True):
        data[key] = mask
    return data


def _came(data: Data, split: str, asked: bool, dataset: str) -> Data:
    """A graph with the masks of a split that came with it, or without any."""
    if MASKS[0] not in data:
        if asked:
            raise InputError(f"{dataset}: no split came with it, pass split as {CHOICES}")
        return data
    if asked and split_number(split) is not None:
        return one_split(data, split, source=dataset)
    try:
        return same_split(data, split, dataset)
    except InputError:
        if asked:
            raise
        for key in MASKS:  # of other splits than the ticket's
            del data[key]
        return data


def require_fields(data: Data, names: Iterable[str], what: str = "data") -> None:
    """Raise unless some data have the values that a ticket was found with.

    Args:
        data: The data.
        names: Of the values.
        what: What the message calls the data.

    Example:
        >>> require_fields(Data(), ["edge_type"])
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: the ticket was found with edge_type, expected data that have it
    """
    for name in names:
        if data.get(name) is None:
            raise InputError(f"the ticket was found with {name}, expected {what} that have it")
