"""Scores and exact selection of the edges of a large graph, against the published style."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

import teddy
from benchmarks.timing import Comparison, compare, milliseconds
from benchmarks.training import SPARSITY


def random_graph(num_columns: int, num_nodes: int, seed: int = 0) -> Tensor:
    """Simple graph of about ``num_columns`` random directed edges, in PyG's order."""
    generator = np.random.default_rng(seed)
    ends = generator.integers(0, num_nodes, (2, num_columns // 2))
    keys = ends.min(axis=0) * num_nodes + ends.max(axis=0)
    del ends
    keys.sort()
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    keys = keys[keys // num_nodes != keys % num_nodes]
    keys = np.concatenate([keys, keys % num_nodes * num_nodes + keys // num_nodes])
    keys.sort()
    edge_index = torch.empty(2, keys.size, dtype=torch.int64)
    np.floor_divide(keys, num_nodes, out=edge_index[0].numpy())
    np.remainder(keys, num_nodes, out=edge_index[1].numpy())
    return edge_index


def published_prune(edge_index: Tensor, num_nodes: int, sparsity: float) -> Tensor:
    """Prune with degrees and means by scatter, a score for each column, and `topk`."""
    row, col = edge_index
    degree = torch.zeros(num_nodes).scatter_add_(0, row, torch.ones(row.numel()))
    g = degree.pow(-0.5)
    g[torch.isinf(g)] = 0
    mean = torch.zeros(num_nodes).scatter_add_(0, row, g[col]) / degree.clamp(min=1)
    mean = mean / degree.clamp(min=1)
    scores = mean[row] * mean[col]
    lowest = torch.topk(scores, int(sparsity * row.numel()), largest=False).indices
    keep = torch.ones(row.numel(), dtype=torch.bool)
    keep[lowest] = False
    return keep


def scoring(num_columns: int = 10_000_000) -> Iterator[Comparison]:
    """Compare with the published style and, if installed, NetworKit's LocalDegree."""
    num_nodes = num_columns // 10
    edge_index = random_graph(num_columns, num_nodes)
    size = f"{num_columns // 10**6}M directed edges"

    def ours() -> list[float]:
        return milliseconds(lambda: teddy.prune_edges(edge_index, SPARSITY, num_nodes=num_nodes))

    yield compare(
        f"scores and selection, {size}",
        ours,
        lambda: milliseconds(lambda: published_prune(edge_index, num_nodes, SPARSITY)),
    )
    try:
        import networkit
    except ImportError:
        print("skipped: NetworKit is not installed (pip install networkit)")
        return
    networkit.setNumberOfThreads(torch.get_num_threads())
    once = edge_index[:, edge_index[0] < edge_index[1]].numpy()
    graph = networkit.GraphFromCoo((once[0], once[1]), n=num_nodes, directed=False)
    graph.indexEdges()
    yield compare(
        f"the same, against NetworKit LocalDegree scores, {size}",
        ours,
        lambda: milliseconds(lambda: networkit.sparsification.LocalDegreeScore(graph).run()),
    )
