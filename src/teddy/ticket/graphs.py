"""A ticket that classifies graphs: which edges stay in those that come, and how it is used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Batch

from teddy.data.checks import MASKS
from teddy.data.graphs import GraphsLike, as_batch, graph_set
from teddy.edges import Arcs, GraphUnion, Signals, SimpleGraph
from teddy.edges.graphs import keep_of_batch
from teddy.edges.prune import keep_columns, needed_signals
from teddy.errors import InputError
from teddy.models.graph_head import of_graphs
from teddy.ticket.features import beside_for, check_has, features_for, input_names
from teddy.ticket.fingerprint import arcs_fingerprint, borders_fingerprint
from teddy.training.passes import forward_passes

if TYPE_CHECKING:
    from teddy.ticket.chosen_edges import ChosenEdges
    from teddy.ticket.info import TicketInfo
    from teddy.ticket.ticket import Ticket


def refuse_graphs(info: TicketInfo) -> None:
    """Raise if a ticket is of a set of graphs, for what takes those of one graph only."""
    if info.graphs is not None:
        raise InputError(
            "the ticket is of a set of graphs, which this doesn't take; expected logits, predict, "
            "evaluate, verify or apply with it, or a ticket of one graph"
        )


def graphs_kept(ticket: ChosenEdges, batch: Batch) -> tuple[Arcs, Tensor]:
    """The edges of some graphs, and which of them stay, bool ``[M]``.

    Those of the set that the ticket was found on have their fate in it. Of any others the ticket's
    score chooses, in each graph by itself: what is predicted of one doesn't depend on the others.

    Raises:
        InputError: if edges have no weights or attributes that the ticket was found with.
    """
    info, arcs = ticket.info, _arcs(ticket.info, batch)
    if _is_its_own(info, batch, arcs):
        return arcs, ticket.keep.to(arcs.graph.pairs.device)
    assert info.score is not None
    looks = bool(needed_signals(info.score))
    signals = Signals(features_for(info, batch)) if looks else None
    union = GraphUnion(arcs.graph, batch.batch, batch.num_graphs)
    return arcs, union.keep_alone(info.graph_sparsity, info.score, info.seed, signals)


@torch.no_grad()
def graph_logits(ticket: Ticket, graphs: GraphsLike) -> Tensor:
    """Logits of graphs, ``[G, C]``."""
    info, batch = ticket.info, as_batch(graphs)
    assert info.graphs is not None
    arcs, keep = graphs_kept(ticket, batch)
    x = features_for(info, batch)
    model = of_graphs(ticket.model, info.graphs["readout"] or "mean").to(x.device)
    fields = {name: value.to(x.device) for name, value in arcs.fields(keep).items()}
    fields["graph_of_node"] = batch.batch.to(x.device)
    return forward_passes(model, x, fields.pop("edge_index"), **fields).evaluation_logits()


def graph_apply(ticket: Ticket, graphs: GraphsLike) -> Batch:
    """The graphs with the kept edges only, and what belongs to them."""
    batch = as_batch(graphs)
    _, keep = graphs_kept(ticket, batch)
    _, edge_of_column = SimpleGraph.of(batch.edge_index, batch.num_nodes)
    return keep_of_batch(batch, keep_columns(keep, edge_of_column))


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
    """Whether these are the graphs that a ticket was found on."""
    return _is_its_own(info, batch, _arcs(info, batch))


def _arcs(info: TicketInfo, batch: Batch) -> Arcs:
    """The edges of some graphs, with what the ticket's had, or raise."""
    names = info.graph.get("edge_inputs", [])
    check_has(batch, input_names(info), "graphs")
    arcs = Arcs.of_data(batch, names, info.graph.get("directed", False))
    return replace(arcs, beside=beside_for(info, batch))


def _is_its_own(info: TicketInfo, batch: Batch, arcs: Arcs) -> bool:
    assert info.graphs is not None
    expected = info.graph["fingerprint"], info.graphs["borders"]
    return (arcs_fingerprint(arcs), borders_fingerprint(batch.batch)) == expected


def numbers_in_graphs(batch: Batch) -> list[str]:
    """What the nodes of several graphs are called: the graph's number, and theirs in it.

    Example:
        >>> from torch_geometric.data import Data
        >>> numbers_in_graphs(Batch.from_data_list([Data(num_nodes=2), Data(num_nodes=1)]))
        ['0:0', '0:1', '1:0']
    """
    sizes = torch.bincount(batch.batch, minlength=batch.num_graphs).tolist()
    return [f"{graph}:{node}" for graph, size in enumerate(sizes) for node in range(size)]
