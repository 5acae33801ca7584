"""A ticket that classifies graphs: which edges stay in those that come, and how it is used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Batch

from teddy.data.checks import MASKS, PRUNED_BY
from teddy.data.graphs import GraphsLike, as_batch, graph_set, of_graphs
from teddy.errors import InputError
from teddy.graph import Edges, Groups
from teddy.graph.columns import keep_of_batch, listed_columns
from teddy.prune import Signals, choose_edges
from teddy.prune.choose import needed_signals
from teddy.ticket.features import beside_for, check_has, features_for, input_names
from teddy.ticket.fingerprint import borders_fingerprint
from teddy.ticket.mark import is_marked, marks, refuse_marked

if TYPE_CHECKING:
    from teddy.ticket.chosen_edges import ChosenEdges
    from teddy.ticket.info import TicketInfo
    from teddy.ticket.ticket import Ticket


def graphs_kept(ticket: ChosenEdges, batch: Batch, whole: bool = False) -> tuple[Edges, Tensor]:
    """The edges of some graphs, and which of them stay, bool ``[M]``.

    Those of the set that the ticket was found on have their fate in it. Of any others the ticket's
    score chooses, in each graph by itself: what is predicted of one doesn't depend on the others.
    They keep all edges if the ticket has no score, since its edges were chosen by learned masks, or
    if its rule ``inference`` is ``training`` or ``none``. Graphs that the ticket has pruned already
    stay as they are.

    Args:
        ticket: The ticket.
        batch: The graphs.
        whole: Whether graphs that are pruned already are refused.

    Raises:
        InputError: if edges have no weights or attributes that the ticket was found with, or
            another ticket has pruned the graphs.
    """
    info, edges = ticket.info, _edges(ticket.info, batch)
    fingerprint = _own_fingerprint(info, batch, edges)
    if fingerprint == "fingerprint":
        return edges, ticket.keep.to(edges.pairs.device)
    edge_index = edges.fields()["edge_index"]
    if fingerprint == "kept_fingerprint" or is_marked(ticket, batch, edge_index, _nodes(batch)):
        if whole:
            raise InputError(
                f"graphs are those that the ticket has pruned, with {edges.num_edges} edges, "
                "expected the whole graphs"
            )
        return edges, torch.ones_like(edges.pairs[0], dtype=torch.bool)
    refuse_marked(batch)
    assert info.graphs is not None
    if info.score is None or info.graphs.get("inference", "scored") != "scored":
        return edges, torch.ones_like(edges.pairs[0], dtype=torch.bool)
    looks = bool(needed_signals(info.score))
    signals = Signals(features_for(info, batch)) if looks else None
    groups = Groups.of_graphs(batch.batch, batch.num_graphs, alone=True)
    grouped = replace(edges, groups=groups)
    keep = choose_edges(grouped, info.graph_sparsity, info.score, info.seed, info.weighted, signals)
    return edges, keep


def graph_apply(ticket: Ticket, graphs: GraphsLike) -> Batch:
    """The graphs as the ticket's network runs on them; each can be taken out of the ``Batch``."""
    batch = as_batch(graphs)
    edges, keep = graphs_kept(ticket, batch)
    fields = edges.fields(keep)
    sparse = keep_of_batch(batch, listed_columns(batch.edge_index, fields["edge_index"]))
    for name, value in fields.items():
        sparse[name] = value
    return of_graphs(sparse, **{PRUNED_BY: marks(ticket, fields["edge_index"], _nodes(batch))})


def graph_targets(info: TicketInfo, graphs: GraphsLike) -> Batch:
    """The graphs with their classes and a split.

    If none came, the ticket's is drawn again, of the set that it was found on. Of any other there
    is no telling which graphs the ticket has learnt from.
    """
    batch = as_batch(graphs)
    if any(key in batch for key in MASKS):
        return graph_set(batch)
    if info.split_seed is None:
        raise InputError("graphs: no split came with them, expected the one of the ticket's graphs")
    if not found_on(info, batch):
        raise InputError(
            "graphs: no split came with them, and they aren't those that the ticket was found on; "
            "expected train_mask, val_mask and test_mask"
        )
    return graph_set(batch, info.split, info.split_seed)


def found_on(info: TicketInfo, batch: Batch) -> bool:
    """Whether these are the graphs that a ticket was found on, whole or pruned."""
    return _own_fingerprint(info, batch, _edges(info, batch)) is not None


def _edges(info: TicketInfo, batch: Batch) -> Edges:
    """The edges of some graphs, with what the ticket's had, or raise."""
    names = info.graph.get("edge_inputs", [])
    check_has(batch, input_names(info), "graphs")
    directed, self_loops = (bool(info.graph.get(key, False)) for key in ("directed", "self_loops"))
    edges = Edges.from_data(batch, names, directed, self_loops)
    return replace(edges, beside=beside_for(info, batch))


def _own_fingerprint(info: TicketInfo, batch: Batch, edges: Edges) -> str | None:
    """Which of the ticket's fingerprints some graphs have: of the whole ones, or of the kept."""
    assert info.graphs is not None
    if borders_fingerprint(batch.batch) != info.graphs["borders"]:
        return None
    found = edges.fingerprint()
    own = (key for key in ("fingerprint", "kept_fingerprint") if info.graph.get(key) == found)
    return next(own, None)


def _nodes(batch: Batch) -> list[int]:
    """Nodes of each graph."""
    sizes: list[int] = torch.bincount(batch.batch, minlength=batch.num_graphs).tolist()
    return sizes


def numbers_in_graphs(batch: Batch) -> list[str]:
    """What the nodes of several graphs are called: the graph's number, and theirs in it.

    Example:
        >>> from torch_geometric.data import Data
        >>> numbers_in_graphs(Batch.from_data_list([Data(num_nodes=2), Data(num_nodes=1)]))
        ['0:0', '0:1', '1:0']
    """
    return [f"{graph}:{node}" for graph, size in enumerate(_nodes(batch)) for node in range(size)]
