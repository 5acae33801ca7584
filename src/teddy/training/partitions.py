"""Mini-batches of METIS partitions of a graph, or of graphs of a set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.graph import Edges
from teddy.sparsity import check_count
from teddy.store import cache
from teddy.tasks.batches import (
    Batch,
    check_divisible,
    check_one_graph,
    graph_of_node,
    subgraph,
)
from teddy.training.distributed import World
from teddy.training.loaders import NamedLoader

# Edges from which a partition is cached on disk; METIS takes a second for smaller graphs.
_KEEP_FROM = 1 << 20


@dataclass(frozen=True)
class Partitions(NamedLoader):
    """Mini-batches as in `Cluster-GCN <https://arxiv.org/abs/1905.07953>`_.

    METIS partitions the graph once into parts of about equal size with few edges between them. In
    every epoch the parts are grouped at random; a batch has a group's nodes and all edges between
    them. A directed graph is partitioned as an undirected one; messages keep their direction.

    Args:
        parts: Number of parts.
        batch: Number of parts in a batch.
        together: Number of batches in a step, whose gradients are summed; processes share them.

    Example:
        >>> str(Partitions(parts=1500, batch=20))
        'partitions:parts=1500:batch=20:together=2'
    """

    name: ClassVar[str] = "partitions"

    parts: int = 32
    batch: int = 4
    together: int = 2

    def __post_init__(self) -> None:
        for field in fields(self):
            check_count(getattr(self, field.name), field.name)
        if self.batch > self.parts:
            raise InputError(f"batch is {self.batch}, expected at most the {self.parts} parts")

    def load(self, data: Data) -> Iterable[Batch]:
        """Partition the graph, and return its batches."""
        check_one_graph(data, self.name)
        num_nodes = data.x.size(0)
        if self.parts > num_nodes:
            raise InputError(f"parts is {self.parts}, expected at most the {num_nodes} nodes")
        world, part_of_node = World.current(), torch.zeros(num_nodes, dtype=torch.long)
        if world.is_rank_zero:
            part_of_node = metis(data.edge_index.cpu(), num_nodes, self.parts)
        world.broadcast_(part_of_node)
        return PartitionedGraph(data, part_of_node, self.batch)


class PartitionedGraph:
    """Batches of parts of a graph, with all edges between their nodes.

    Args:
        data: Graph, or a set of graphs, which are the parts.
        part_of_node: Part of each node, int64 ``[N]``.
        batch: Number of parts in a batch.

    Example:
        >>> path = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
        >>> halves = PartitionedGraph(path, torch.tensor([0, 0, 1, 1]), batch=1)
        >>> sorted(batch.rows.tolist() for batch in halves)
        [[0, 1], [2, 3]]
    """

    def __init__(self, data: Data, part_of_node: Tensor, batch: int) -> None:
        check_divisible(data)
        self.data, self.part_of_node, self.batch = data, part_of_node, batch
        self.of_graphs = graph_of_node(data) is not None
        nodes = torch.argsort(part_of_node, stable=True)
        sizes = torch.bincount(part_of_node)
        self.members = [part for part in nodes.split(sizes.tolist()) if part.numel()]
        self.edge_index = data.edge_index.cpu()
        source = part_of_node[self.edge_index[0]]
        counts = torch.bincount(source, minlength=sizes.numel()).tolist()
        # Columns of edge_index by the part of their source.
        self.columns = torch.argsort(source, stable=True).split(counts)
        self._place = torch.empty_like(part_of_node)

    def __iter__(self) -> Iterator[Batch]:
        """Yield batches of the parts in random order."""
        for group in torch.randperm(len(self.members)).split(self.batch):
            nodes = torch.cat([self.members[part] for part in group.sort().values.tolist()])
            rows = self.part_of_node[nodes].unique_consecutive() if self.of_graphs else nodes
            yield Batch(rows, partial(self._induced, nodes))

    def _induced(self, nodes: Tensor) -> Data:
        """Return the graph of whole parts."""
        parts = self.part_of_node[nodes].unique()
        chosen = torch.zeros(len(self.columns), dtype=torch.bool)
        chosen[parts] = True
        columns = torch.cat([self.columns[part] for part in parts.tolist()])
        columns = columns[chosen[self.part_of_node[self.edge_index[1, columns]]]]
        self._place[nodes] = torch.arange(nodes.numel())
        return subgraph(self.data, nodes, self._place[self.edge_index[:, columns]], columns)


def metis(edge_index: Tensor, num_nodes: int, parts: int) -> Tensor:
    """Return the part of each node, int64 ``[N]``, of the simple undirected graph.

    The result is deterministic.

    Example:
        >>> two_pairs = torch.tensor([[0, 2], [1, 3]])
        >>> a, b, c, d = metis(two_pairs, 4, 2).tolist()
        >>> a == b, c == d, a == c
        (True, True, False)
    """
    try:
        pymetis: Any = import_module("pymetis")
    except ImportError:
        raise InputError("partitions need pymetis: pip install 'teddy-glt[metis]'") from None
    graph, _ = Edges.from_columns(edge_index, num_nodes)
    if parts == 1 or graph.num_edges == 0:  # nothing to partition
        return torch.arange(num_nodes) * parts // max(num_nodes, 1)
    key = ""
    if graph.num_edges >= _KEEP_FROM:
        edges = hashlib.sha256(graph.pairs.contiguous().numpy().data).hexdigest()
        key = f"metis {pymetis.version} {num_nodes} {parts} {edges}"
        known = cache.load(key)
        if known is not None:
            return known["part"]
    both = graph.edge_index
    starts = np.append(0, graph.degree.cumsum(0).numpy())
    adjacency = pymetis.CSRAdjacency(starts, both[1].numpy())
    result = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=0))
    part = torch.from_numpy(np.asarray(result.vertex_part, dtype=np.int64).copy())
    if key:
        cache.save(key, {"part": part})
    return part


@dataclass(frozen=True)
class Graphs(NamedLoader):
    """Mini-batches of training graphs, drawn at random in every epoch.

    Args:
        batch: Number of graphs in a batch.
        together: Number of batches in a step, whose gradients are summed; processes share them.

    Example:
        >>> str(Graphs(batch=8))
        'graphs:batch=8:together=1'
    """

    name: ClassVar[str] = "graphs"

    batch: int = 32
    together: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            check_count(getattr(self, field.name), field.name)

    def load(self, data: Data) -> Iterable[Batch]:
        """Return the batches of the training graphs."""
        of_node = graph_of_node(data)
        if of_node is None:
            raise InputError(
                f"loader {self} needs a set of graphs, expected the task graph-classification"
            )
        return PartitionedGraph(data, of_node.cpu(), self.batch)
