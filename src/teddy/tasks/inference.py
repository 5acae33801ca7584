"""Which edges a ticket keeps of a graph that has grown past the one it was found on."""

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

#: What PyG's loaders leave in a piece of a graph.
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
    """Return the edges that stay, bool ``[M]``.

    Args:
        rule: ``scored``: the score that chose the edges of the training graph chooses those of the
            grown one, as sparse; where edges were learned, or the score looked at what the dense
            model said of its nodes, there is none that could, and the rule is the next.
            ``training``: edges that the ticket removed are gone, all new ones stay. ``none``: all
            stay.
        edges: The grown graph.
        known: bool ``[M]``: which of its edges are of the training graph, in the same order.
        keep: bool, of the training graph's edges those that stay.
        sparsity: Share of edges to remove.
        score: Name of the score; None: edges were learned.
        seed: For scores that draw.
        weighted: Whether the score's degrees are weighted.
        signals: Of the grown graph's nodes, for a score of features.

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
    """Whether a score can choose the edges of a graph that no dense model was trained on.

    Example:
        >>> scores_any_graph("teddy"), scores_any_graph("cosine"), scores_any_graph("gain")
        (True, True, False)
    """
    return score is not None and set(needed_signals(score)) <= {"x"}


def check_rule(rule: str, what: str = "inference") -> str:
    """Return a rule that there is, or raise.

    Args:
        rule: Its name.
        what: What the user calls it, for the message.

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
    """Warn, in a line, of a graph that looks like a piece of a larger one.

    Scores, budget and normalisation are by the degrees of the graph that is given: of a node they
    are others in a piece than in the whole, even if the piece has all nodes that its layers reach.

    Args:
        data: The graph.
        tested_nodes: Nodes of the graph that the ticket was tested on.
    """
    marks = [name for name in _OF_PIECES if name in data]
    if marks:
        why = f"has {marks[0]}, as pieces of PyG's loaders have"
    elif data.num_nodes < tested_nodes:
        why = f"has {data.num_nodes:,} nodes, the ticket was tested on {tested_nodes:,}"
    else:
        return
    warn(
        f"data {why}: edges are pruned, and messages normalised, by degrees in this graph; if it "
        "was cut out of a larger one, predict on the whole"
    )
