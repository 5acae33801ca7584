"""A ticket for a heterogeneous graph: what it says of relations, and how it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from teddy.data.hetero import nodes_of_types, relation_text, target_data
from teddy.data.splits import same_split
from teddy.edges import HeteroArcs
from teddy.edges.hetero import keep_relations
from teddy.errors import InputError
from teddy.models.hetero import HeteroModel
from teddy.ticket.features import features_for
from teddy.ticket.fingerprint import arcs_fingerprint
from teddy.training.passes import forward_passes

if TYPE_CHECKING:
    from teddy.ticket.info import TicketInfo
    from teddy.ticket.ticket import Ticket


def hetero_facts(arcs: HeteroArcs, target: str, keep: Tensor) -> dict[str, Any]:
    """What a ticket says of its relations, as plain data.

    Args:
        arcs: The graph.
        target: The type of the nodes that are predicted.
        keep: bool ``[M]``, the edges that stay.
    """
    graph = arcs.relations
    parts = zip(graph.relations, keep.split(graph.num_edges), strict=True)
    return {
        "target": target,
        "scope": graph.scope,
        "nodes": dict(graph.nodes),
        "features": _widths(arcs),
        "relations": [
            {
                "edge_types": [list(kind) for kind in relation.edge_types],
                "total": stays.numel(),
                "kept": int(stays.sum()),
            }
            for relation, stays in parts
        ],
    }


def refuse_hetero(info: TicketInfo) -> None:
    """Raise if a ticket is of a ``HeteroData``, for what takes those of a ``Data`` only."""
    if info.hetero is not None:
        raise InputError(
            "the ticket is of a HeteroData, which this doesn't take; expected logits, predict, "
            "evaluate, verify or apply with it, or a ticket of a Data"
        )


def hetero_arcs(info: TicketInfo, data: HeteroData) -> HeteroArcs:
    """The relations of some data, or raise unless they are those that a ticket was found on."""
    assert info.hetero is not None
    _check_kind(data)
    nodes, target = nodes_of_types(data), info.hetero["target"]
    if nodes != info.hetero["nodes"]:
        raise _another(info, f"{_listed(nodes)} nodes")
    names = info.graph.get("edge_inputs", [])
    for name in names:
        if name not in data:
            raise InputError(f"the ticket was found with {name}, expected data that have it")
    arcs = HeteroArcs.of_hetero(data, target, names, info.hetero["scope"])
    if arcs_fingerprint(arcs) != info.graph["fingerprint"]:
        raise _another(info, _counts(arcs))
    return arcs


def hetero_targets(info: TicketInfo, data: HeteroData) -> Data:
    """The nodes that are predicted: features, targets and masks."""
    assert info.hetero is not None
    _check_kind(data)
    return same_split(target_data(data, info.hetero["target"], info.task["name"]), info.split)


def hetero_apply(ticket: Ticket, data: HeteroData) -> HeteroData:
    """The graph with the kept edges of each relation only, and what belongs to them."""
    graph = hetero_arcs(ticket.info, data).relations
    keep = ticket.keep.to(graph.relations[0].graph.pairs.device)
    return keep_relations(data, graph.of_columns(keep))


@torch.no_grad()
def hetero_logits(ticket: Ticket, data: HeteroData) -> Tensor:
    """Logits of the target's nodes, ``[N, C]``."""
    info = ticket.info
    assert info.hetero is not None
    arcs, target = hetero_arcs(info, data), info.hetero["target"]
    x = features_for(info, target_data(data, target, labelled=False))
    got, expected = _widths(arcs), info.hetero["features"]
    for name in sorted({*got, *expected}):
        one, other = expected.get(name, 0), got.get(name, 0)
        if one != other:
            raise InputError(f"the ticket expects {one} features of '{name}', got {other}")
    model = HeteroModel(ticket.model, target).to(x.device)
    around = arcs.fields(ticket.keep.to(x.device))["edge_index"]
    return forward_passes(model, x, around).evaluation_logits()


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


def _widths(arcs: HeteroArcs) -> dict[str, int]:
    """Features of each type but the target's."""
    return {name: x.size(1) for name, x in arcs.features.items()}


def _counts(arcs: HeteroArcs) -> str:
    graph = arcs.relations
    parts = zip(graph.num_edges, graph.relations, strict=True)
    return "edges " + ", ".join(f"{n} {relation_text(r.edge_types[0])}" for n, r in parts)


def _listed(nodes: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in nodes.items())
