"""The part of a graph that some of its nodes span."""

from __future__ import annotations

from torch import Tensor

from teddy.edges.simple_graph import SimpleGraph


def induced_graph(graph: SimpleGraph, nodes: Tensor) -> tuple[SimpleGraph, Tensor]:
    """Return the graph of these nodes and the edges between them.

    Nodes are numbered anew, in the same order; so edges stay in theirs.

    Args:
        graph: The whole.
        nodes: bool ``[N]``.

    Returns:
        The part, and bool ``[M]``: the edges of the whole that are in it.

    Example:
        >>> import torch
        >>> path = SimpleGraph(3, torch.tensor([[0, 1], [1, 2]]))
        >>> part, within = induced_graph(path, torch.tensor([False, True, True]))
        >>> part.pairs.tolist(), within.tolist()
        ([[0], [1]], [False, True])
    """
    within = nodes[graph.pairs[0]] & nodes[graph.pairs[1]]
    number = nodes.long().cumsum(0) - 1
    return SimpleGraph(int(nodes.sum()), number[graph.pairs[:, within]]), within
