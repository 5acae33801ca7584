"""A ticket for a heterogeneous graph: what it says of relations, and how it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.data.checks import PRUNED_BY
from teddy.data.features import num_features
from teddy.data.hetero import target_data, target_edges
from teddy.data.splits import same_split
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.graph.columns import keep_relations, listed_columns
from teddy.graph.groups import relation_text
from teddy.graph.relations import nodes_of_types
from teddy.graph.surroundings import Surroundings
from teddy.ticket.features import features_for
from teddy.ticket.mark import marks
from teddy.training.inputs import dense_input

if TYPE_CHECKING:
    from teddy.ticket.chosen_edges import ChosenEdges
    from teddy.ticket.info import TicketInfo
    from teddy.ticket.ticket import Ticket


def hetero_facts(edges: Edges, keep: Tensor) -> dict[str, Any]:
    """Metadata of the relations, as plain data.

    Args:
        edges: The graph.
        keep: bool ``[M]``, the kept edges.
    """
    groups = edges.groups
    assert groups is not None
    parts = zip(groups.relations, keep.split(edges.num_in_group.tolist()), strict=True)
    return {
        "target": edges.target,
        "scope": groups.budget,
        "nodes": dict(groups.types),
        "features": _widths(edges),
        "relations": [
            {
                "edge_types": [list(kind) for kind in kinds],
                "total": stays.numel(),
                "kept": int(stays.sum()),
            }
            for kinds, stays in parts
        ],
    }


def refuse_hetero(info: TicketInfo) -> None:
    """Raise if a ticket is of a ``HeteroData``, for what takes those of a ``Data`` only."""
    if info.hetero is not None:
        raise InputError(
            "the ticket is of a HeteroData, which this doesn't take; expected apply, whose result "
            "has edge_index_dict, or a ticket of a Data"
        )


def hetero_kept(ticket: ChosenEdges, data: HeteroData, whole: bool = False) -> tuple[Edges, Tensor]:
    """The relations of some data, and which edges stay, bool ``[M]``: all of a pruned graph.

    Args:
        ticket: The ticket.
        data: The graph.
        whole: Whether a graph that is pruned already is refused.

    Raises:
        InputError: unless they are those that the ticket was found on, or those that it keeps; an
            inductive ticket takes any graph of the same types and relations.
    """
    info = ticket.info
    assert info.hetero is not None
    _check_kind(data)
    nodes, target = nodes_of_types(data), info.hetero["target"]
    groups = [
        tuple((first, name, last) for first, name, last in part["edge_types"])
        for part in info.hetero["relations"]
    ]
    kinds = sorted(kind for group in groups for kind in group)
    if sorted(data.edge_types) != kinds or nodes.keys() != info.hetero["nodes"].keys():
        found = ", ".join(relation_text(kind) for kind in sorted(data.edge_types))
        raise _another(info, f"{_listed(nodes)} nodes and the relations {found}")
    if info.inductive is None and nodes != info.hetero["nodes"]:
        raise _another(info, f"{_listed(nodes)} nodes")
    names = info.graph.get("edge_inputs", [])
    for name in names:
        if name not in data:
            raise InputError(f"the ticket was found with {name}, expected data that have it")
    edges = target_edges(data, target, info.hetero["scope"], names, groups)
    if whole:
        ticket.check_whole(data, edges)
    return edges, ticket.kept(data, edges)


def ids_of_types(data: HeteroData) -> list[str]:
    """Names of all nodes, type by type: the type and the id of its table, else the number.

    Example:
        >>> data = HeteroData(paper={"num_nodes": 2}, author={"num_nodes": 1, "node_ids": ["ann"]})
        >>> ids_of_types(data)
        ['author:ann', 'paper:0', 'paper:1']
    """
    found = []
    for name, count in nodes_of_types(data).items():
        ids = data[name].get("node_ids")
        found += [f"{name}:{node}" for node in (range(count) if ids is None else ids)]
    return found


def another_hetero(info: TicketInfo, edges: Edges) -> InputError:
    """The error of a graph that isn't the ticket's."""
    return _another(info, _counts(edges))


def check_widths(info: TicketInfo, edges: Edges) -> None:
    """Raise unless all types but the target's have as many features as the ticket's graph."""
    assert info.hetero is not None
    got, expected = _widths(edges), info.hetero["features"]
    for name in sorted({*got, *expected}):
        one, other = expected.get(name, 0), got.get(name, 0)
        if one != other:
            raise InputError(f"the ticket expects {one} features of '{name}', got {other}")


def target_nodes(info: TicketInfo, data: HeteroData) -> Data:
    """The nodes that are predicted, without targets and edges."""
    assert info.hetero is not None
    return target_data(data, info.hetero["target"], labelled=False)


def hetero_targets(info: TicketInfo, data: HeteroData) -> Data:
    """The nodes that are predicted: features, targets and masks."""
    assert info.hetero is not None
    _check_kind(data)
    return same_split(target_data(data, info.hetero["target"], info.task["name"]), info.split)


def hetero_apply(ticket: Ticket, data: HeteroData) -> HeteroData:
    """The graph as the ticket's network runs on it: each kept edge of a relation once."""
    edges, keep = hetero_kept(ticket, data)
    around: Surroundings = edges.fields(keep)["edge_index"]
    kept = around.edge_index_dict
    assert ticket.info.hetero is not None
    columns = {kind: listed_columns(data[kind].edge_index, kept[kind]) for kind in kept}
    sparse = keep_relations(data, columns)
    for name, found in {"edge_index": kept, **around.of_edges}.items():
        for kind, value in found.items():
            sparse[kind][name] = value
    target = ticket.info.hetero["target"]
    x = features_for(ticket.info, target_nodes(ticket.info, data))
    features = {**around.x_dict, target: x}
    for kind, own in features.items():
        sparse[kind].x = dense_input(ticket.model, own)
    if ticket.info.inductive is not None:
        messages, nodes = edges.columns(keep)
        setattr(sparse, PRUNED_BY, marks(ticket, messages, [nodes])[0])
    return sparse


def _check_kind(data: HeteroData) -> None:
    if not isinstance(data, HeteroData):
        raise InputError(f"got {type(data).__name__}, expected a HeteroData, as the ticket's")


def _another(info: TicketInfo, got: str) -> InputError:
    assert info.hetero is not None
    edges = ", ".join(
        f"{part['total']} {relation_text(tuple(part['edge_types'][0]))}"
        for part in info.hetero["relations"]
    )
    return InputError(
        f"the ticket belongs to {info.dataset} with {_listed(info.hetero['nodes'])} nodes and "
        f"edges {edges}; got another graph with {got}"
    )


def _widths(edges: Edges) -> dict[str, int]:
    """Features of each type but the target's."""
    return {name: num_features(x) for name, x in edges.features.items()}


def _counts(edges: Edges) -> str:
    assert edges.groups is not None
    parts = zip(edges.num_in_group.tolist(), edges.groups.relations, strict=True)
    return "edges " + ", ".join(f"{n} {relation_text(kinds[0])}" for n, kinds in parts)


def _listed(nodes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in nodes.items())
