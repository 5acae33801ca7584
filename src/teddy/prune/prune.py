"""Scores and pruning of an ``edge_index``, and of several graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.data.data import BaseData

from teddy.data.checks import check_features
from teddy.errors import InputError
from teddy.graph.canonical import check_edges
from teddy.graph.columns import keep_of_batch
from teddy.graph.edges import Edges
from teddy.graph.groups import Groups, check_budget
from teddy.graph.messages import keep_columns
from teddy.graph.weighted_graph import WeightedGraph
from teddy.numbers import check_sparsity, num_pruned_edges
from teddy.prune.choose import choose_edges, keep_highest, needed_signals, score_edges, score_of
from teddy.prune.scores.score import Signals
from teddy.prune.sorted_graph import SortedGraph


def edge_scores(
    edge_index: Tensor,
    num_nodes: int | None = None,
    method: str = "teddy",
    seed: int = 0,
    edge_weight: Tensor | None = None,
    **signals: Tensor,
) -> Tensor:
    r"""Score each column of ``edge_index``: how much the edge matters (Eq. 6 to 8).

    ``edge_index`` may list an undirected edge once or twice and have duplicates and self-loops.
    Degrees are those of the simple graph; both directions of an edge have the same score. A
    self-loop has the score of the pair (i, i); it is never pruned.

    Args:
        edge_index: Integer ``[2, E]``.
        num_nodes: Number of nodes; by default the highest index plus one.
        method: A name in ``teddy.prune.SCORES``.
        seed: For scores that draw.
        edge_weight: Of each column, above 0, for weighted degrees
            (:func:`teddy.prune.scores.teddy.weighted_node_values`); an edge has the mean of its
            columns'. Only scores made of degrees take it.
        signals: Inputs of the score beside the graph: ``x``, ``logits``, ``alone``, ``labels``, see
            :class:`~teddy.prune.scores.score.Signals`.

    Returns:
        float64 ``[E]``; the lowest are pruned first.

    Example:
        >>> import torch, teddy
        >>> triangle_with_tail = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> teddy.edge_scores(triangle_with_tail)
        tensor([0.1031, 0.0861, 0.0861, 0.1549], dtype=torch.float64)
    """
    score, known = score_of(method), _signals(method, signals)
    if score.join is not None and edge_weight is None:
        fast = SortedGraph.of(edge_index, num_nodes)
        if fast is not None:
            return fast.scores(score)
    graph, pair_of_column = Edges.from_columns(edge_index, num_nodes)
    weights = _weights(graph, pair_of_column, edge_weight)
    scores = torch.empty(edge_index.size(1), dtype=torch.float64, device=edge_index.device)
    loop = pair_of_column < 0
    found = score_edges(graph, method, seed, weights, known)
    scores[~loop] = found[pair_of_column[~loop]]
    own = graph if weights is None else WeightedGraph(graph, weights)
    scores[loop] = score.of_pairs(own, edge_index[:, loop].long())
    return scores


def prune_edges(
    edge_index: Tensor,
    sparsity: float,
    num_nodes: int | None = None,
    method: str = "teddy",
    seed: int = 0,
    edge_weight: Tensor | None = None,
    **signals: Tensor,
) -> Tensor:
    r"""Choose the kept edges (Algorithm 1, *Searching Subgraph*).

    Exactly :math:`\lceil p_g M \rceil` of the :math:`M` undirected edges are removed, with all
    their columns: those of the lowest score. Self-loops are kept, and an edge that is removed at
    one sparsity is removed at every higher one.

    Args:
        edge_index: Integer ``[2, E]``; see :func:`edge_scores` for what it may hold.
        sparsity: Share :math:`p_g` of undirected edges to remove, in [0, 1].
        num_nodes: Number of nodes; by default the highest index plus one.
        method: A name in ``teddy.prune.SCORES``.
        seed: For scores that draw.
        edge_weight: Of each column, for weighted degrees; see :func:`edge_scores`.
        signals: Inputs of the score beside the graph; see :func:`edge_scores`.

    Returns:
        bool ``[E]``: keep this column.

    Example:
        >>> import torch, teddy
        >>> triangle_with_tail = torch.tensor([[0, 1, 2, 2], [1, 2, 0, 3]])
        >>> teddy.prune_edges(triangle_with_tail, 0.5)
        tensor([ True, False, False,  True])
    """
    score, known = score_of(method), _signals(method, signals)
    if score.join is not None and edge_weight is None:
        fast = SortedGraph.of(edge_index, num_nodes)
        if fast is not None:
            return fast.keep(score, num_pruned_edges(sparsity, fast.num_edges))
    graph, pair_of_column = Edges.from_columns(edge_index, num_nodes)
    weights = _weights(graph, pair_of_column, edge_weight)
    scores = score_edges(graph, method, seed, weights, known)
    return keep_columns(keep_highest(graph, scores, sparsity), pair_of_column)


def prune_graphs(
    graphs: Batch | Sequence[Data],
    sparsity: float,
    method: str = "teddy",
    seed: int = 0,
    budget: str = "each",
) -> Batch | list[Data]:
    r"""Return several graphs with fewer edges each, and the values of the kept edges.

    Exactly :math:`\lceil p_g M_g \rceil` undirected edges of each graph are removed, those that
    :func:`teddy.prune_edges` removes from it alone, unless the score draws; or
    :math:`\lceil p_g M \rceil` of all together. Self-loops are kept, and an edge that is removed
    at one sparsity is removed at every higher one.

    Args:
        graphs: A PyG ``Batch``, as of a ``DataLoader``, or a list of ``Data``.
        sparsity: Share :math:`p_g` of undirected edges to remove, in [0, 1].
        method: A name in ``teddy.prune.SCORES``. One that draws does so over all graphs together.
        seed: For scores that draw.
        budget: ``each`` graph by itself; or ``all``, which compares edges of different graphs:
            some may lose all, others none.

    Example:
        >>> import teddy
        >>> path = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> star = Data(edge_index=torch.tensor([[0, 0, 0], [1, 2, 3]]), num_nodes=4)
        >>> [graph.num_edges for graph in teddy.prune_graphs([path, star], 0.5)]
        [1, 1]
        >>> [graph.num_edges for graph in teddy.prune_graphs([path, star], 0.5, budget="all")]
        [2, 1]
        >>> teddy.prune_graphs([path, star], 0.5, "agreement")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: agreement looks at logits of nodes, expected a score of the graph
        or of features where graphs have the classes
    """
    needs = needed_signals(method)
    if set(needs) - {"x"}:
        raise InputError(
            f"{method} looks at {', '.join(n for n in needs if n != 'x')} of nodes, expected a "
            "score of the graph or of features where graphs have the classes"
        )
    check_sparsity(sparsity)
    check_budget(budget)
    if isinstance(graphs, Batch) and isinstance(graphs, Data):
        edges, pair_of_column = batch_edges(graphs, budget)
        signals = Signals(graphs.get("x")) if needs else None
        keep = choose_edges(edges, sparsity, method, seed, signals=signals)
        return keep_of_batch(graphs, keep_columns(keep, pair_of_column))
    if isinstance(graphs, BaseData) or not isinstance(graphs, Iterable):
        got = type(graphs).__name__
        raise InputError(f"graphs is a {got}, expected a Batch or a list of Data")
    parts = list(graphs)
    for place, graph in enumerate(parts):
        if not isinstance(graph, Data) or graph.edge_index is None:
            raise InputError(
                f"graphs[{place}] is a {type(graph).__name__}, expected a Data with an edge_index"
            )
        check_edges(graph.edge_index, graph.num_nodes, f"graphs[{place}]")
    if not parts:
        return []
    bare = [Data(edge_index=graph.edge_index, num_nodes=graph.num_nodes) for graph in parts]
    edges, pair_of_column = batch_edges(Batch.from_data_list(bare), budget)
    signals = Signals(_features_of(parts)) if needs else None
    keep = choose_edges(edges, sparsity, method, seed, signals=signals)
    columns = keep_columns(keep, pair_of_column).split([g.edge_index.size(1) for g in parts])
    return [graph.edge_subgraph(own) for graph, own in zip(parts, columns, strict=True)]


def batch_edges(batch: Batch, budget: str = "each") -> tuple[Edges, Tensor]:
    """Return the edges of a batch, and the edge of each column (-1: a self-loop)."""
    edges, pair_of_column = Edges.from_columns(batch.edge_index, batch.num_nodes)
    groups = Groups.of_graphs(batch.batch, batch.num_graphs, budget)
    return replace(edges, groups=groups), pair_of_column


def _weights(graph: Edges, pair_of_column: Tensor, edge_weight: Tensor | None) -> Tensor | None:
    if edge_weight is None:
        return None
    return WeightedGraph.of(graph, pair_of_column, edge_weight).weight


def _signals(method: str, given: dict[str, Tensor]) -> Signals:
    """Signals given by name, if the score reads them."""
    needs = needed_signals(method)
    for name in given:
        if name not in needs:
            wanted = ", ".join(needs) or "nothing beside the graph"
            raise InputError(f"got {name}, expected what the score {method} looks at: {wanted}")
    return Signals(**given)


def _features_of(graphs: Sequence[Data]) -> Tensor:
    """Features of all nodes, or raise."""
    x = [check_features(graph.x, f"graphs[{place}]") for place, graph in enumerate(graphs)]
    for place, own in enumerate(x):
        if own.size(1) != x[0].size(1):
            raise InputError(
                f"graphs[{place}]: x has {own.size(1)} columns, expected {x[0].size(1)} as of "
                "graphs[0]"
            )
    return torch.cat([own if own.layout == torch.strided else own.to_dense() for own in x])
