"""Transfer of a ticket to a changed graph, with new or removed nodes and edges."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.features import node_ids
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.tasks.inference import check_rule, edges_at_inference, scores_any_graph
from teddy.ticket.features import input_names
from teddy.ticket.header import TransferInfo
from teddy.ticket.info import Count, Macs
from teddy.ticket.operations import check_operation
from teddy.ticket.pruned_mark import refuse_marked

if TYPE_CHECKING:
    from teddy.ticket.ticket import Ticket

#: Name of the rule in messages: the Python keyword and the command-line option.
RULE = "inference (--changed)"


def transfer(
    ticket: Ticket, data: Data, inference: str = "scored", original: Data | None = None
) -> Ticket:
    """Return the ticket for a changed version of the graph that it was found on.

    The network stays the same. A rule chooses the edges:

    - ``scored``: the ticket's edge score prunes the changed graph to the same sparsity. It needs
      a ticket whose edges were chosen by a score.
    - ``training``: edges of the original graph are kept or removed as before, new ones are kept.
      It needs the original graph, which a ticket does not store. Nodes are matched by
      ``node_ids`` if both graphs have them, else by number.
      ``info.transferred["recognised"]`` counts the matched nodes and edges.
    - ``none``: all edges are kept.

    Edge weights, edge attributes and directions are those of the changed graph. An edge and its
    reverse are kept or removed together.

    Args:
        ticket: Ticket of the original graph.
        data: Changed graph.
        inference: Rule.
        original: Original graph, for ``training``.

    Raises:
        InputError: if the rule does not apply, no nodes match, or the model has labels of nodes by
            number.
    """
    check_rule(inference, RULE)
    info = ticket.info
    check_operation("transfer", info)
    if info.inductive is not None:
        rule = info.inductive["inference"]
        raise InputError(
            f"the ticket is inductive and prunes any graph itself ({rule}), expected no transfer"
        )
    if inference == "training" and original is None:
        raise InputError(f"{RULE} is 'training', expected original (--original) with it")
    if inference != "training" and original is not None:
        raise InputError(f"{RULE} is '{inference}', expected no original (--original) with it")
    if inference == "scored" and not scores_any_graph(info.score):
        how = "without a score" if info.score is None else "by a score of the trained dense model"
        raise InputError(
            f"the ticket's edges were chosen by {info.method} {how}, expected "
            f"{RULE} 'training' with the original graph, or 'none'"
        )
    if getattr(ticket.model, "known_nodes", torch.empty(0)).numel():
        raise InputError(
            "the model takes training labels of nodes as inputs, expected a ticket of a model with "
            "label_rate=0"
        )
    if isinstance(data, Data):
        data = copy.copy(data).cpu("edge_index", *input_names(info))
    graph, edges = ticket.edges(data)
    if ticket.is_pruned(graph, edges):
        raise InputError(
            "data are already pruned by this ticket, expected the whole graph, or no transfer "
            "(--changed)"
        )
    if inference == "scored":
        refuse_marked(data)
    known, keep = torch.zeros(edges.num_edges, dtype=torch.bool), ticket.keep[:0]
    if original is not None:
        before, stays = ticket.prune(original)
        numbers = _numbers(original, data)
        known, keep = _known_edges(edges, before, stays, numbers)
    kept = edges_at_inference(
        inference, edges, known, keep, info.graph_sparsity, info.score, info.seed, info.weighted,
        ticket.signals(graph, info.score if inference == "scored" else None),
    )  # fmt: skip
    first: TransferInfo | dict[str, Any] = info.transferred or {
        "dataset": info.dataset,
        "graph": info.graph,
    }
    origin: TransferInfo = {
        "dataset": first["dataset"], "graph": first["graph"], "inference": inference
    }  # fmt: skip
    if original is not None:
        origin["recognised"] = {"nodes": int((numbers >= 0).sum()), "edges": int(known.sum())}
    changed = replace(
        info,
        dataset=str(data.get("name", "data")),
        graph={
            **info.graph,
            "nodes": edges.num_nodes,
            "edges": edges.num_edges,
            "fingerprint": edges.fingerprint(),
            "kept_fingerprint": edges.fingerprint(kept),
        },
        edges=Count(edges.num_edges, int(kept.sum())),
        macs=Macs(None, None),
        transferred=origin,
    )
    return replace(ticket, info=changed, keep=kept)


def _numbers(original: Data, data: Data) -> Tensor:
    """Return the number in the changed graph of each node of the original; -1: removed.

    Example:
        >>> before = Data(num_nodes=2, node_ids=["ann", "bob"])
        >>> _numbers(before, Data(num_nodes=3, node_ids=["bob", "cid", "dan"])).tolist()
        [-1, 0]
        >>> _numbers(Data(num_nodes=2), Data(num_nodes=3)).tolist()
        [0, 1]
        >>> _numbers(before, Data(num_nodes=3))
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: the original has node_ids, such as 'ann', the changed graph has
        none, expected both with ids, or ids that are the nodes' numbers
    """
    # A column of numbers becomes one of names as soon as one id is a name.
    before, now = ([str(node) for node in node_ids(graph)] for graph in (original, data))
    _check_comparable(original, data, before, now)
    place = {node: number for number, node in enumerate(now)}
    numbers = torch.tensor([place.get(node, -1) for node in before], dtype=torch.long)
    if not (numbers >= 0).any():
        raise InputError(
            f"no node of the original is in the changed graph, with ids such as '{before[0]}' and "
            f"'{now[0]}', expected shared ids"
        )
    return numbers


def _check_comparable(original: Data, data: Data, before: list[str], now: list[str]) -> None:
    """Raise if one graph has node ids and the other only numbers that may not match."""
    sides = ("the original", original, before), ("the changed graph", data, now)
    for (named, with_ids, ids), (other, without, numbers) in (sides, sides[::-1]):
        if with_ids.get("node_ids") is None or without.get("node_ids") is not None:
            continue
        # The ids of a table, which names its features, are 0, 1, 2, ... if it has no node_ids.
        if without.get("feature_names") is None and not set(numbers) <= set(ids):
            raise InputError(
                f"{named} has node_ids, such as '{ids[0]}', {other} has none, expected both with "
                "ids, or ids that are the nodes' numbers"
            )


def _known_edges(
    graph: Edges, before: Edges, stays: Tensor, numbers: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the mask of edges that the original has, bool ``[M]``, and of those it kept.

    Example:
        >>> now = Edges(3, torch.tensor([[0, 1], [2, 2]]))
        >>> before = Edges(3, torch.tensor([[0, 0], [1, 2]]))
        >>> _known_edges(now, before, torch.tensor([True, False]), torch.arange(3))
        (tensor([ True, False]), tensor([False]))
    """
    ends = numbers[before.pairs.cpu()]
    both = (ends >= 0).all(dim=0)
    ends, stays = ends[:, both], stays.cpu()[both]
    keys = ends.amin(dim=0) * graph.num_nodes + ends.amax(dim=0)
    order = torch.argsort(keys)
    keys, stays = keys[order], stays[order]
    now = graph.pairs[0] * graph.num_nodes + graph.pairs[1]
    place = torch.searchsorted(keys, now).clamp(max=max(keys.numel() - 1, 0))
    known = keys[place] == now if keys.numel() else torch.zeros_like(now, dtype=torch.bool)
    return known, stays[place[known]]
