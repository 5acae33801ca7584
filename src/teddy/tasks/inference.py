"""Pruning of grown graphs at inference, with new nodes and edges."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError, warn
from teddy.graph import Edges
from teddy.prune import choose_edges
from teddy.prune.choose import needed_signals
from teddy.prune.scores.score import Signals
from teddy.settings.groups import INFERENCE_RULES

#: Fields that PyG's loaders add to a part of a graph.
_OF_PIECES = ("n_id", "e_id", "input_id", "batch_size")


def edges_at_inference(
    rule: str,
    edges: Edges,
    known: Tensor,
    keep: Tensor,
    sparsity: float,
    score: str | None,
    seed: int,
    weighted: bool = False,
    signals: Signals | None = None,
) -> Tensor:
    """Return the mask of kept edges, bool ``[M]``.

    Args:
        rule: ``scored``: the edge score of the ticket prunes the grown graph to the same sparsity;
            without a score, or with one that needs the dense model, it is the next rule.
            ``training``: edges that the ticket removed are removed, all new ones are kept.
            ``none``: all edges are kept.
        edges: Grown graph.
        known: Mask of the edges that the training graph has, too, bool ``[M]``, in its order.
        keep: Mask of the kept edges of the training graph.
        sparsity: Share of edges to remove.
        score: Name of the edge score; None: edge masks were learned.
        seed: Seed of random scores.
        weighted: Whether the score's degrees are weighted.
        signals: Signals of the grown graph's nodes, for a score of features.

    Example:
        >>> path = Edges.from_edge_index(torch.tensor([[0, 1, 2], [1, 2, 3]]), 4)
        >>> known, keep = torch.tensor([True, True, False]), torch.tensor([False, True])
        >>> edges_at_inference("training", path, known, keep, 0.5, "teddy", 0).tolist()
        [False, True, True]
        >>> edges_at_inference("scored", path, known, keep, 0.3, "teddy", 0).tolist()
        [True, False, True]
    """
    check_rule(rule)
    if rule == "scored" and scores_any_graph(score):
        assert score is not None
        return choose_edges(edges, sparsity, score, seed, weighted, signals)
    kept = torch.ones_like(known)
    if rule != "none" and known.any():
        kept[known] = keep
    return kept


def scores_any_graph(score: str | None) -> bool:
    """Return whether a score can prune a graph without a dense model trained on it.

    Example:
        >>> scores_any_graph("teddy"), scores_any_graph("cosine"), scores_any_graph("gain")
        (True, True, False)
    """
    return score is not None and set(needed_signals(score)) <= {"x"}


def check_rule(rule: str, what: str = "inference") -> str:
    """Return the name of an existing rule, or raise.

    Args:
        rule: The name.
        what: Name of the setting in the message.

    Example:
        >>> check_rule("all")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: inference is 'all', expected one of: scored, training, none
    """
    if rule not in INFERENCE_RULES:
        raise InputError(f"{what} is '{rule}', expected one of: {', '.join(INFERENCE_RULES)}")
    return rule


def warn_of_piece(data: Data, tested_nodes: int) -> None:
    """Warn of a graph that looks like a part of a larger one.

    Scores, budget and normalisation use the degrees of the given graph. They differ in a part of a
    graph, even if it has all nodes within reach of the layers.

    Args:
        data: The graph.
        tested_nodes: Number of nodes of the graph that the ticket was tested on.
    """
    marks = [name for name in _OF_PIECES if name in data]
    if marks:
        why = f"have {marks[0]}, like batches of PyG's loaders"
    elif data.num_nodes < tested_nodes:
        why = f"have {data.num_nodes:,} nodes, the ticket was tested on {tested_nodes:,}"
    else:
        return
    warn(
        f"data {why}: pruning and normalisation use the degrees of this graph; if it is a part of "
        "a larger one, predict on the whole graph"
    )
