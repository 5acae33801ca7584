"""Scores and pruning of several graphs at once."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.data.data import BaseData
from torch_geometric.utils import select

from teddy.data.checks import check_edges, check_features
from teddy.edges.prune import keep_columns, needed_signals, prune_pairs, score_pairs
from teddy.edges.scores import SCORES
from teddy.edges.scores.node_score import NodeScore
from teddy.edges.scores.signal_score import SignalScore
from teddy.edges.select import lowest_edges, lowest_of_groups
from teddy.edges.signals import Signals
from teddy.edges.simple_graph import SimpleGraph
from teddy.errors import InputError
from teddy.sparsity import check_sparsity, num_pruned_edges

#: What a budget is over: each graph by itself, or all together.
BUDGETS = ("graph", "all")


def check_budget(budget: str) -> str:
    """Return it, or raise unless it is ``graph`` or ``all``."""
    if budget not in BUDGETS:
        raise InputError(f"budget is '{budget}', expected one of: {', '.join(BUDGETS)}")
    return budget


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


@dataclass(frozen=True)
class GraphUnion:
    r"""Several graphs side by side as one, with no edge between two of them.

    A node's degree and neighbours are those of its own graph, so one pass over the union scores
    all. The budget is :math:`\lceil p_g M_g \rceil` edges of each graph, or
    :math:`\lceil p_g \sum_g M_g \rceil` of all.

    Attributes:
        graph: The union.
        graph_of_node: int64 ``[N]``, ascending.
        num_graphs: Number of graphs.

    Example:
        >>> path, edge = torch.tensor([[0, 1], [1, 2]]), torch.tensor([[3], [4]])
        >>> graph, _ = SimpleGraph.of(torch.cat([path, edge], dim=1))
        >>> union = GraphUnion(graph, torch.tensor([0, 0, 0, 1, 1]), 2)
        >>> union.num_edges.tolist(), union.num_pruned(0.5).tolist()
        ([2, 1], [1, 1])
    """

    graph: SimpleGraph
    graph_of_node: Tensor
    num_graphs: int

    @cached_property
    def graph_of_edge(self) -> Tensor:
        """int64 ``[M]``, ascending."""
        return self.graph_of_node[self.graph.pairs[0]]

    @cached_property
    def num_edges(self) -> Tensor:
        """Undirected edges of each graph, int64 ``[G]``."""
        return torch.bincount(self.graph_of_edge, minlength=self.num_graphs)

    def num_pruned(self, sparsity: float, budget: str = "graph") -> Tensor:
        """Edges that go, of each graph, int64 ``[G]``, or of all together, ``[1]``."""
        counts = self.num_edges
        if check_budget(budget) == "all":
            counts = counts.sum().view(1)
        known, place = torch.unique(counts, return_inverse=True)
        found = [num_pruned_edges(sparsity, count) for count in known.tolist()]
        return counts.new_tensor(found)[place]

    def _each(self) -> Iterator[tuple[SimpleGraph, slice, slice]]:
        """Each graph alone, its nodes and its edges among all."""
        sizes = torch.bincount(self.graph_of_node, minlength=self.num_graphs).tolist()
        node = edge = 0
        for size, count in zip(sizes, self.num_edges.tolist(), strict=True):
            nodes, edges = slice(node, node + size), slice(edge, edge + count)
            yield SimpleGraph(size, self.graph.pairs[:, edges] - node), nodes, edges
            node, edge = nodes.stop, edges.stop

    def scores(
        self,
        method: str = "teddy",
        seed: int = 0,
        signals: Signals | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        """The score of each edge in its own graph, float64 ``[M]``.

        A score that draws, or solves a system, does so once over all graphs.

        Args:
            method: A name in ``teddy.edges.SCORES``.
            seed: For scores that draw.
            signals: Features of the nodes, for a score that looks at them.
            weights: Weights of the edges, float64 ``[M]``, for weighted degrees.
        """
        graph = self.graph
        if weights is not None:
            scores = torch.empty_like(graph.pairs[0], dtype=torch.float64)
            for alone, _, edges in self._each():
                scores[edges] = score_pairs(alone, alone.pairs, method, seed, weights[edges])
            return scores
        if not isinstance(SCORES[method], NodeScore | SignalScore) or not graph.num_edges:
            return score_pairs(graph, graph.pairs, method, seed, None, signals)
        # TEDDY's integer sums have as many binary places as the bits of the highest degree leave:
        # graphs that have as many together are scored to the last bit as each alone.
        highest = torch.zeros_like(self.num_edges)
        highest.scatter_reduce_(0, self.graph_of_node, graph.degree, "amax")
        bits = torch.frexp(highest.double()).exponent[self.graph_of_edge]
        scores = torch.empty_like(graph.pairs[0], dtype=torch.float64)
        for value in bits.unique():
            own = bits == value
            part = SimpleGraph(graph.num_nodes, graph.pairs[:, own])
            scores[own] = score_pairs(part, part.pairs, method, seed, None, signals)
        return scores

    def keep(
        self,
        sparsity: float,
        method: str = "teddy",
        seed: int = 0,
        budget: str = "graph",
        signals: Signals | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        """Choose the edges that stay, bool ``[M]``; see :func:`prune_graphs`."""
        return self.keep_highest(self.scores(method, seed, signals, weights), sparsity, budget)

    def keep_highest(self, scores: Tensor, sparsity: float, budget: str = "graph") -> Tensor:
        """Keep all edges but those of lowest score, as many as the budget says, bool ``[M]``.

        Args:
            scores: float64 ``[M]``.
            sparsity: Share of edges to remove.
            budget: ``graph`` or ``all``.

        Example:
            >>> graph = SimpleGraph(5, torch.tensor([[0, 1, 3], [1, 2, 4]]))
            >>> union = GraphUnion(graph, torch.tensor([0, 0, 0, 1, 1]), 2)
            >>> scores = torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64)
            >>> union.keep_highest(scores, 0.5), union.keep_highest(scores, 0.3, "all")
            (tensor([ True, False, False]), tensor([ True,  True, False]))
        """
        budgets, pairs = self.num_pruned(sparsity, budget), self.graph.pairs
        if budget == "all":
            return ~lowest_edges(scores, pairs, int(budgets))
        nodes = torch.bincount(self.graph_of_node, minlength=self.num_graphs)
        own_numbers = pairs - (nodes.cumsum(0) - nodes)[self.graph_of_edge]
        return ~lowest_of_groups(scores, own_numbers, self.graph_of_edge, budgets)

    def keep_alone(
        self,
        sparsity: float,
        method: str = "teddy",
        seed: int = 0,
        signals: Signals | None = None,
        weights: Tensor | None = None,
    ) -> Tensor:
        """Edges that stay of each graph if there were no other, bool ``[M]``.

        The same as :meth:`keep`, but for scores that draw: each graph has draws of its own.
        """
        if isinstance(SCORES[method], NodeScore):
            return self.keep(sparsity, method, seed, weights=weights)
        x, keep = None if signals is None else signals.x, torch.ones_like(self.graph_of_edge).bool()
        for alone, nodes, edges in self._each():
            own = None if x is None else Signals(x[nodes])
            keep[edges] = prune_pairs(alone, sparsity, method, seed, signals=own)
        return keep


def prune_graphs(
    graphs: Batch | Sequence[Data],
    sparsity: float,
    method: str = "teddy",
    seed: int = 0,
    budget: str = "graph",
) -> Batch | list[Data]:
    r"""Return several graphs with fewer edges each, and what belongs to those that stay.

    Of each graph exactly :math:`\lceil p_g M_g \rceil` undirected edges go, those that
    :func:`teddy.prune_edges` removes from it alone, unless the score draws; or
    :math:`\lceil p_g M \rceil` of all together. Self-loops stay, and what goes at one
    sparsity goes at every higher one.

    Args:
        graphs: A PyG ``Batch``, as of a ``DataLoader``, or a list of ``Data``.
        sparsity: Share :math:`p_g` of undirected edges to remove, in [0, 1].
        method: A name in ``teddy.edges.SCORES``. One that draws does so over all graphs together.
        seed: For scores that draw.
        budget: ``graph``, of each by itself; or ``all``, which compares edges of different graphs:
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
    if isinstance(graphs, Batch) and isinstance(graphs, Data):
        union, edge_of_column = union_of(graphs)
        signals = Signals(graphs.get("x")) if needed_signals(method) else None
        keep = union.keep(sparsity, method, seed, budget, signals)
        return keep_of_batch(graphs, keep_columns(keep, edge_of_column))
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
    union, edge_of_column = union_of(Batch.from_data_list(bare))
    signals = Signals(_features_of(parts)) if needed_signals(method) else None
    keep = union.keep(sparsity, method, seed, budget, signals)
    columns = keep_columns(keep, edge_of_column).split([g.edge_index.size(1) for g in parts])
    return [graph.edge_subgraph(own) for graph, own in zip(parts, columns, strict=True)]


def union_of(batch: Batch) -> tuple[GraphUnion, Tensor]:
    """The graphs of a batch, and for each column of ``edge_index`` its edge (-1: a self-loop)."""
    graph, edge_of_column = SimpleGraph.of(batch.edge_index, batch.num_nodes)
    return GraphUnion(graph, batch.batch, batch.num_graphs), edge_of_column


def keep_of_batch(batch: Batch, keep: Tensor) -> Batch:
    """A batch with some columns of its ``edge_index``, and what belongs to them; all nodes stay.

    It can be taken apart again (``to_data_list``) if the edges are those that it was made of; if a
    transform has changed them since, PyG says that it can't.

    Args:
        batch: The batch.
        keep: bool ``[E]``; or int64, the numbers of the columns in their new order, those of one
            graph after the other.
    """
    if not _as_it_was_made(batch):
        sparse = batch.edge_subgraph(keep)
        if hasattr(sparse, "_slice_dict"):
            del sparse._slice_dict  # what it would be taken apart into is wrong
        return sparse
    sparse, before = copy.copy(batch), batch._slice_dict["edge_index"]
    sparse._slice_dict = dict(batch._slice_dict)
    graph = batch.batch[batch.edge_index[0][keep]].cpu()
    ends = torch.bincount(graph, minlength=batch.num_graphs).cumsum(0)
    stays = torch.cat([torch.zeros(1, dtype=torch.long), ends])
    # A ring that is listed once has as many nodes as columns: then, as in PyG, the name tells.
    others = (torch.arange(batch.num_graphs + 1), batch.ptr.cpu())
    for key, places in batch._slice_dict.items():
        by_chance = "edge" not in key and any(torch.equal(places, other) for other in others)
        if by_chance or not torch.equal(places, before):
            continue
        sparse[key] = select(batch[key], keep, dim=batch.__cat_dim__(key, batch[key]))
        sparse._slice_dict[key] = stays
    return sparse


def _as_it_was_made(batch: Batch) -> bool:
    """Whether its columns are still those of one graph after the other."""
    if not hasattr(batch, "_slice_dict"):
        return False
    slices = batch._slice_dict["edge_index"]
    if int(slices[-1]) != batch.edge_index.size(1):
        return False
    graph = torch.arange(batch.num_graphs).repeat_interleave(slices.diff())
    return torch.equal(batch.batch[batch.edge_index[0]].cpu(), graph)


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
