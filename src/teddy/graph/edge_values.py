"""Values of edges, such as ``edge_weight``: one for each message."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.tensors import as_tensor, dtype_text, shape_text

# What to do with a graph that has several edges from one node to another.
_PARALLEL = "; add up parallel edges, or make each kind a relation of a HeteroData"


def check_rows(values: Mapping[str, Tensor], num_columns: int) -> None:
    """Raise unless values have a row for each column of an ``edge_index``."""
    for name, value in values.items():
        if value.size(0) != num_columns:
            raise InputError(
                f"{name} has shape {shape_text(value)}, expected {num_columns} rows, one for "
                "each column of edge_index"
            )


def one_each(name: str, value: Tensor, messages: Tensor, place: Tensor, directed: bool) -> Tensor:
    """Return the value of each message; raise if its columns have different ones.

    Args:
        name: What the values are called.
        value: Of each column, ``[E, ...]``.
        messages: int64 ``[2, E]``.
        place: The message of each column.
        directed: Whether both directions may have different ones, for the message.

    Example:
        >>> messages, place = torch.tensor([[0], [1]]), torch.tensor([0, 0])
        >>> one_each("edge_weight", torch.tensor([2.0, 2.0]), messages, place, directed=True)
        tensor([2.])
    """
    found = value.new_empty((messages.size(1), *value.shape[1:]))
    found[place] = value
    same = found[place] == value
    differs = ~(same if same.dim() == 1 else same.flatten(1).all(dim=1))
    if differs.any():
        column = int(differs.nonzero()[0])
        source, target = messages[:, place[column]].tolist()
        one, other = (_short(part[i]) for part, i in ((found, place[column]), (value, column)))
        what, hint = f"edge ({source}, {target})", "; directed=True has one for each direction"
        if source == target:
            what, hint = f"the self-loop of node {source}", ""
        elif directed or _parallel(value, place == place[column]):
            what, hint = f"the edge from {source} to {target}", _PARALLEL
        raise InputError(f"{name} of {what} is {one} and {other}, expected one value{hint}")
    return found


def _parallel(value: Tensor, listed: Tensor) -> bool:
    """Whether one direction of an edge is listed with several values.

    Args:
        value: Of each column, then of each column reversed.
        listed: bool, which of these are the edge's.
    """
    halves = zip(value.chunk(2), listed.chunk(2), strict=True)
    return any(len(part[own].unique(dim=0)) > 1 for part, own in halves)


def check_edge_values(name: str, value: object, num_columns: int, source: str = "data") -> Tensor:
    """Return ``edge_weight`` as float32 ``[E]``, ``edge_attr`` as it is, or raise.

    Example:
        >>> check_edge_values("edge_weight", torch.tensor([[1], [2]]), 2)
        tensor([1., 2.])
        >>> check_edge_values("edge_weight", torch.tensor([1.0, torch.nan]), 2)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: data: edge_weight[1] is nan, expected finite numbers
    """
    found = as_tensor(value, name, "a value for each column of edge_index", source)
    weights = name == "edge_weight"
    if weights and found.dim() == 2 and found.size(1) == 1:
        found = found.squeeze(1)
    shape = f"[{num_columns}]" if weights else f"[{num_columns}, ...]"
    if found.dim() == 0 or found.size(0) != num_columns or (weights and found.dim() != 1):
        raise InputError(f"{source}: {name} has shape {shape_text(found)}, expected {shape}")
    if found.is_complex():
        raise InputError(f"{source}: {name} is {dtype_text(found)}, expected real numbers")
    if weights:
        found = found.to(torch.float32)
    finite = found.isfinite()
    if not finite.all():
        place = tuple((~finite).nonzero()[0].tolist())
        where = ", ".join(map(str, place))
        got = found[place].item()
        raise InputError(f"{source}: {name}[{where}] is {got}, expected finite numbers")
    return found.detach()


def _short(value: Tensor) -> str:
    text = str(value.tolist())
    return text if len(text) <= 40 else f"{text[:37]}..."
