"""Mini-batches of whole parts: partitions of a graph by METIS, or the graphs of a set."""

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

# Edges from which on a partition is kept on disk for the next time: below, METIS takes a second.
_KEEP_FROM = 1 << 20


@dataclass(frozen=True)
class Partitions(NamedLoader):
    """Batches as of `Cluster-GCN <https://arxiv.org/abs/1905.07953>`_.

    METIS cuts the graph once into parts of about equal size with few edges between them. In every
    epoch the parts are drawn into groups anew; a batch is a group's nodes and all edges between
    them. A directed graph is cut as if it were undirected; its messages keep their direction.

    Args:
        parts: How many parts.
        batch: Parts of a batch.
        together: Batches of a step: their gradients are summed, and processes share them.

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
        """Cut the graph; its batches."""
        check_one_graph(data)
        num_nodes = data.x.size(0)
        if self.parts > num_nodes:
            raise InputError(f"parts is {self.parts}, expected at most the {num_nodes} nodes")
        world, part_of_node = World.current(), torch.zeros(num_nodes, dtype=torch.long)
        if world.is_rank_zero:
            part_of_node = metis(data.edge_index.cpu(), num_nodes, self.parts)
        world.broadcast_(part_of_node)
        return PartitionedGraph(data, part_of_node, self.batch)


class PartitionedGraph:
    """Batches of some parts of a graph each, with all edges between their nodes.

    Args:
        data: The graph, perhaps directed; or a set of graphs, whose parts are the graphs.
        part_of_node: int64 ``[N]``.
        batch: Parts of a batch.

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
        # Columns of edge_index by the part that their source is in.
        self.columns = torch.argsort(source, stable=True).split(counts)
        self._place = torch.empty_like(part_of_node)

    def __iter__(self) -> Iterator[Batch]:
        """Batches of the parts in an order that torch draws."""
        for group in torch.randperm(len(self.members)).split(self.batch):
            nodes = torch.cat([self.members[part] for part in group.sort().values.tolist()])
            rows = self.part_of_node[nodes].unique_consecutive() if self.of_graphs else nodes
            yield Batch(rows, partial(self._induced, nodes))

    def _induced(self, nodes: Tensor) -> Data:
        """The graph of whole parts."""
        parts = self.part_of_node[nodes].unique()
        chosen = torch.zeros(len(self.columns), dtype=torch.bool)
        chosen[parts] = True
        columns = torch.cat([self.columns[part] for part in parts.tolist()])
        columns = columns[chosen[self.part_of_node[self.edge_index[1, columns]]]]
        self._place[nodes] = torch.arange(nodes.numel())
        return subgraph(self.data, nodes, self._place[self.edge_index[:, columns]], columns)


def metis(edge_index: Tensor, num_nodes: int, parts: int) -> Tensor:
    """The part of each node, int64 ``[N]``; the graph is taken as simple and undirected.

    The same graph is cut in the same way every time.

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
    if parts == 1 or graph.num_edges == 0:  # METIS has nothing to go by
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
    found = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=0))
    part = torch.from_numpy(np.asarray(found.vertex_part, dtype=np.int64).copy())
    if key:
        cache.save(key, {"part": part})
    return part


@dataclass(frozen=True)
class Graphs(NamedLoader):
    """Batches of training graphs, drawn anew in every epoch.

    Args:
        batch: Graphs of a batch.
        together: Batches of a step: their gradients are summed, and processes share them.

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
        """Batches of the graphs that training sees."""
        of_node = graph_of_node(data)
        if of_node is None:
            raise InputError(
                f"loader {self} draws from a set of graphs, expected the task graph-classification"
            )
        return PartitionedGraph(data, of_node.cpu(), self.batch)
