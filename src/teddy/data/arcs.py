"""The arcs of a graph, the directed edges that messages run along, with what belongs to each."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from teddy.data.checks import check_edges
from teddy.data.tensors import as_tensor, dtype_text, shape_text
from teddy.errors import InputError

# What to do with a graph that has several edges from one node to another.
_PARALLEL = "; add up parallel edges, or make each kind a relation of a HeteroData"


def simple_arcs(
    edge_index: Tensor,
    num_nodes: int,
    values: Mapping[str, Tensor] | None = None,
    directed: bool = False,
    self_loops: bool = False,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return each arc once, sorted by source, then target, and its values.

    Of an undirected graph both directions are arcs, with the same values: those of an edge that is
    listed once hold for both. Of a directed graph the arcs are those that are listed. What is
    listed more often must have the same values each time: an edge, or of a directed graph an arc,
    has one weight.

    Args:
        edge_index: Integer ``[2, E]``.
        num_nodes: Number of nodes.
        values: Tensors ``[E, ...]`` by name, such as ``edge_weight``.
        directed: Whether messages run along the listed direction only.
        self_loops: Whether self-loops are returned, each once; else they are left out.

    Example:
        >>> edges, weights = torch.tensor([[1, 2], [0, 1]]), torch.tensor([0.5, 2.0])
        >>> arcs, values = simple_arcs(edges, 3, {"edge_weight": weights})
        >>> arcs.tolist(), values["edge_weight"].tolist()
        ([[0, 1, 1, 2], [1, 0, 2, 1]], [0.5, 0.5, 2.0, 2.0])
        >>> simple_arcs(edges, 3, directed=True)[0].tolist()
        [[1, 2], [0, 1]]
    """
    edges = check_edges(edge_index, num_nodes)
    for name, value in (values or {}).items():
        if value.size(0) != edges.size(1):
            raise InputError(
                f"{name} has shape {shape_text(value)}, expected {edges.size(1)} rows, one for "
                "each column of edge_index"
            )
    own = dict(values or {})
    if not self_loops:
        no_loop = edges[0] != edges[1]
        edges, own = edges[:, no_loop], {name: value[no_loop] for name, value in own.items()}
    if not directed:
        edges = torch.cat([edges, edges.flip(0)], dim=1)
        own = {name: torch.cat([value, value]) for name, value in own.items()}
    keys, arc_of_column = torch.unique(edges[0] * num_nodes + edges[1], return_inverse=True)
    arcs = torch.stack([keys // max(num_nodes, 1), keys % max(num_nodes, 1)])
    return arcs, {
        name: one_each(name, value, arcs, arc_of_column, directed) for name, value in own.items()
    }


def one_each(name: str, value: Tensor, arcs: Tensor, place: Tensor, directed: bool) -> Tensor:
    """The value of each arc; raise if its columns have different ones.

    Args:
        name: What the values are called.
        value: Of each column, ``[E, ...]``.
        arcs: int64 ``[2, A]``.
        place: The arc of each column.
        directed: Whether both directions may have different ones, for the message.

    Example:
        >>> arcs, place = torch.tensor([[0], [1]]), torch.tensor([0, 0])
        >>> one_each("edge_weight", torch.tensor([2.0, 2.0]), arcs, place, directed=True)
        tensor([2.])
    """
    found = value.new_empty((arcs.size(1), *value.shape[1:]))
    found[place] = value
    same = found[place] == value
    differs = ~(same if same.dim() == 1 else same.flatten(1).all(dim=1))
    if differs.any():
        column = int(differs.nonzero()[0])
        source, target = arcs[:, place[column]].tolist()
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
