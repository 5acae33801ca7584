"""Scores and pruning of several graphs at once."""

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
from teddy.graph.edges import Edges, keep_columns
from teddy.graph.groups import Groups, check_budget
from teddy.prune.choose import choose_edges, needed_signals
from teddy.prune.signals import Signals
from teddy.sparsity import check_sparsity


def check_of_graphs(method: str) -> None:
    """Raise if a score looks at classes of nodes, which graphs that have one each don't have.

    Example:
        >>> check_of_graphs("agreement")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: agreement looks at logits of nodes, expected a score of the graph
        or of features where graphs have the classes
    """
    needs = [name for name in needed_signals(method) if name != "x"]
    if needs:
        raise InputError(
            f"{method} looks at {', '.join(needs)} of nodes, expected a score of the graph or of "
            "features where graphs have the classes"
        )


def prune_graphs(
    graphs: Batch | Sequence[Data],
    sparsity: float,
    method: str = "teddy",
    seed: int = 0,
    budget: str = "each",
) -> Batch | list[Data]:
    r"""Return several graphs with fewer edges each, and what belongs to those that stay.

    Of each graph exactly :math:`\lceil p_g M_g \rceil` undirected edges go, those that
    :func:`teddy.prune_edges` removes from it alone, unless the score draws; or
    :math:`\lceil p_g M \rceil` of all together. Self-loops stay, and what goes at one
    sparsity goes at every higher one.

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
    """
    check_of_graphs(method)
    check_sparsity(sparsity)
    check_budget(budget)
    if isinstance(graphs, Batch) and isinstance(graphs, Data):
        edges, pair_of_column = batch_edges(graphs, budget)
        signals = Signals(graphs.get("x")) if needed_signals(method) else None
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
    signals = Signals(_features_of(parts)) if needed_signals(method) else None
    keep = choose_edges(edges, sparsity, method, seed, signals=signals)
    columns = keep_columns(keep, pair_of_column).split([g.edge_index.size(1) for g in parts])
    return [graph.edge_subgraph(own) for graph, own in zip(parts, columns, strict=True)]


def batch_edges(batch: Batch, budget: str = "each") -> tuple[Edges, Tensor]:
    """Return the edges of a batch, and the edge of each column (-1: a self-loop).

    Args:
        batch: The graphs.
        budget: ``each`` graph by itself, or ``all`` together.
    """
    edges, pair_of_column = Edges.from_columns(batch.edge_index, batch.num_nodes)
    groups = Groups.of_graphs(batch.batch, batch.num_graphs, budget)
    return replace(edges, groups=groups), pair_of_column


def _dense(x: Tensor) -> Tensor:
    return x if x.layout == torch.strided else x.to_dense()


def _features_of(graphs: Sequence[Data]) -> Tensor:
    """Features of all nodes, or raise."""
    x = [check_features(graph.x, f"graphs[{place}]") for place, graph in enumerate(graphs)]
    for place, own in enumerate(x):
        if own.size(1) != x[0].size(1):
            raise InputError(
                f"graphs[{place}]: x has {own.size(1)} columns, expected {x[0].size(1)} as of "
                "graphs[0]"
            )
    return torch.cat([_dense(own) for own in x])
