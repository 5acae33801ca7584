"""Partitions of a graph by METIS, and batches of some of them, as Cluster-GCN trains on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy import cache
from teddy.edges import SimpleGraph
from teddy.errors import InputError
from teddy.numbers import check_count
from teddy.specs import read_option
from teddy.training.distributed import World
from teddy.training.loaders import Batch, FromFunction, Loader

#: What can be given as a loader: a word, an object, or a function from a graph to a PyG loader.
LoaderLike = str | Loader | Callable[[Data], Iterable[Data]]

# Edges from which on a partition is kept on disk for the next time: below, METIS takes a second.
_KEEP_FROM = 1 << 20


@dataclass(frozen=True)
class Partitions(Loader):
    """Batches as of `Cluster-GCN <https://arxiv.org/abs/1905.07953>`_.

    METIS cuts the graph once into parts of about equal size with few edges between them. In every
    epoch the parts are drawn into groups anew; a batch is a group's nodes and all edges between
    them.

    Args:
        parts: How many parts.
        batch: Parts of a batch.
        together: Batches of a step: their gradients are summed, and processes share them.

    Example:
        >>> str(Partitions(parts=1500, batch=20))
        'partitions:parts=1500:batch=20:together=2'
    """

    parts: int = 32
    batch: int = 4
    together: int = 2

    def __post_init__(self) -> None:
        for field in fields(self):
            check_count(getattr(self, field.name), field.name)
        if self.batch > self.parts:
            raise InputError(f"batch is {self.batch}, expected at most the {self.parts} parts")

    @staticmethod
    def parse(text: str) -> Partitions:
        """Read ``partitions:option=value:...``.

        Example:
            >>> Partitions.parse("partitions:parts=8:batch=2")
            Partitions(parts=8, batch=2, together=2)
            >>> Partitions.parse("metis")
            Traceback (most recent call last):
            ...
            teddy.errors.InputError: unknown loader 'metis', expected partitions
        """
        name, *options = text.strip().split(":")
        if name != "partitions":
            raise InputError(f"unknown loader '{name}', expected partitions")
        defaults = {field.name: field.default for field in fields(Partitions)}
        return Partitions(**dict(read_option(name, defaults, part) for part in options))

    def load(self, graph: Data) -> Iterable[Batch]:
        """Cut the graph; its batches."""
        num_nodes = int(graph.num_nodes or 0)
        if self.parts > num_nodes:
            raise InputError(f"parts is {self.parts}, expected at most the {num_nodes} nodes")
        world, part_of_node = World.current(), torch.zeros(num_nodes, dtype=torch.long)
        if world.first:
            part_of_node = metis(graph.edge_index, num_nodes, self.parts)
        world.broadcast_(part_of_node)
        return PartitionedGraph(graph.edge_index, part_of_node, self.batch)

    def __str__(self) -> str:
        options = (f"{field.name}={getattr(self, field.name)}" for field in fields(self))
        return ":".join(["partitions", *options])


class PartitionedGraph:
    """A graph cut into parts, whose edges are found by part.

    Args:
        edge_index: The edges.
        part_of_node: int64 ``[N]``.
        batch: Parts of a batch.

    Example:
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
        >>> halves = PartitionedGraph(path, torch.tensor([0, 0, 1, 1]), batch=1)
        >>> sorted(batch.nodes.tolist() for batch in halves)
        [[0, 1], [2, 3]]
    """

    def __init__(self, edge_index: Tensor, part_of_node: Tensor, batch: int) -> None:
        self.part_of_node, self.batch = part_of_node, batch
        nodes = torch.argsort(part_of_node, stable=True)
        sizes = torch.bincount(part_of_node)
        self.members = [part for part in nodes.split(sizes.tolist()) if part.numel()]
        source = part_of_node[edge_index[0]]
        counts = torch.bincount(source, minlength=sizes.numel()).tolist()
        # Edges by the part that their source is in.
        self.edges = edge_index[:, torch.argsort(source, stable=True)].split(counts, dim=1)
        self._place = torch.empty_like(part_of_node)

    def __iter__(self) -> Iterator[Batch]:
        """Batches of the parts in an order that torch draws."""
        for group in torch.randperm(len(self.members)).split(self.batch):
            nodes = torch.cat([self.members[part] for part in group.sort().values.tolist()])
            yield Batch(nodes, partial(self._induced, nodes), nodes.numel())

    def _induced(self, nodes: Tensor) -> Tensor:
        """Edges between nodes of whole parts."""
        parts = self.part_of_node[nodes].unique()
        chosen = torch.zeros(len(self.edges), dtype=torch.bool)
        chosen[parts] = True
        leaving = torch.cat([self.edges[part] for part in parts.tolist()], dim=1)
        self._place[nodes] = torch.arange(nodes.numel())
        return self._place[leaving[:, chosen[self.part_of_node[leaving[1]]]]]


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
    graph, _ = SimpleGraph.of(edge_index, num_nodes)
    if parts == 1 or graph.num_edges == 0:  # METIS has nothing to go by
        return torch.arange(num_nodes) * parts // max(num_nodes, 1)
    key = ""
    if graph.num_edges >= _KEEP_FROM:
        edges = hashlib.sha256(graph.pairs.contiguous().numpy().data).hexdigest()
        key = f"metis {pymetis.version} {num_nodes} {parts} {edges}"
        known = cache.load(key)
        if known is not None:
            return known["part"]
    both = graph.edge_index()
    starts = np.append(0, graph.degree.cumsum(0).numpy())
    adjacency = pymetis.CSRAdjacency(starts, both[1].numpy())
    found = pymetis.part_graph(parts, adjacency, options=pymetis.Options(seed=0))
    part = torch.from_numpy(np.asarray(found.vertex_part, dtype=np.int64).copy())
    if key:
        cache.save(key, {"part": part})
    return part


def as_loader(given: LoaderLike | None) -> Loader | None:
    """Read what a user gave as a loader.

    Example:
        >>> as_loader("partitions:parts=8")
        Partitions(parts=8, batch=4, together=2)
        >>> as_loader(3)
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: loader is 3, expected partitions:parts=32:batch=4, or a function
        from a graph to a loader
    """
    if given is None or isinstance(given, Loader):
        return given
    if isinstance(given, str):
        return Partitions.parse(given)
    if not callable(given):
        raise InputError(
            f"loader is {given}, expected partitions:parts=32:batch=4, or a function from a graph "
            "to a loader"
        )
    return FromFunction(given)
