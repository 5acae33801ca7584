"""A graph that is served: its messages by target, and its features, which may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from teddy.errors import InputError
from teddy.kernels.neighbourhood import begin, expand
from teddy.kernels.sparse import SparseMatrix
from teddy.serving.features import DenseFeatures, SparseFeatures
from teddy.serving.sparse_rows import SparseRows
from teddy.serving.workspace import Workspace, Workspaces

Array = NDArray[Any]


class ServedGraph:
    """The kept messages of a graph by target, and the features of its nodes.

    Args:
        x: Features, dense or sparse.
        edge_index: int64 ``[2, E]``, the kept messages, each once.
        values: Values of messages ``[E, ...]`` by name.
        weighted: Whether entries hold ``edge_weight``, else the number of each message.
        directed: Whether an edge that is added carries a message in the given direction only.
        removed: int64 ``[2, P]``: undirected edges of the graph that are pruned.
    """

    def __init__(
        self,
        x: Tensor | SparseMatrix,
        edge_index: Tensor,
        values: Mapping[str, Tensor],
        weighted: bool | None,
        directed: bool = False,
        removed: Tensor | None = None,
    ) -> None:
        self.features: DenseFeatures | SparseFeatures
        self.features = SparseFeatures(x) if isinstance(x, SparseMatrix) else DenseFeatures(x)
        self.directed, self.workspaces = directed, Workspaces()
        source, target = (end.numpy() for end in edge_index)
        order = np.lexsort((source, target))
        if bool(((np.diff(source[order]) == 0) & (np.diff(target[order]) == 0)).any()):
            raise InputError("edge_index has a message twice, expected each once (use coalesce)")
        self.values = {name: value[torch.from_numpy(order)] for name, value in values.items()}
        entry: Array | None = None
        self._numbered, self._free = weighted is None, list[int]()
        if weighted is None:  # numbers of messages
            entry = np.arange(order.size)
        elif weighted:
            entry = self.values["edge_weight"].numpy()
        self.rows = SparseRows(target[order], source[order], self.num_nodes, entry)
        ends = np.zeros((2, 0), np.int64) if removed is None else removed.numpy()
        self._removed = np.sort((ends.min(axis=0) << 32) | ends.max(axis=0))

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.features.num_nodes

    @property
    def nbytes(self) -> int:
        """Bytes of messages, their values and features."""
        values = sum(value.nbytes for value in self.values.values())
        return self.rows.nbytes + self.features.nbytes + values + self._removed.nbytes

    def levels(self, workspace: Workspace, queries: Array, hops: int) -> list[int]:
        """Number the nodes within some hops of a query; return how many each hop reaches."""
        counts = [begin(queries, workspace.nodes, workspace.position)]
        for _ in range(hops):
            counts.append(expand(self.rows.arrays, counts[-1], workspace.nodes, workspace.position))
        workspace.count = counts[-1]
        return counts

    def drop_nodes(self, first: int) -> None:
        """Remove the nodes from a number on, which have no edges."""
        self.features.truncate(first)
        self.rows.truncate(first)

    def is_removed(self, first: int, second: int) -> bool:
        """Return whether an edge was pruned."""
        key = (min(first, second) << 32) | max(first, second)
        place = int(np.searchsorted(self._removed, key))
        return place < self._removed.size and int(self._removed[place]) == key

    def add_message(
        self, source: int, target: int, values: Mapping[str, Tensor], column: int
    ) -> bool:
        """Add a message unless it is there; return whether it was added.

        Args:
            source: Its source.
            target: Its target.
            values: Values of some edges by name.
            column: The edge that it belongs to.
        """
        if not self.values:
            return self.rows.add(target, source)
        if self.rows.find(target, source) >= 0:
            return False
        if self._numbered:
            return self.rows.add(target, source, self._store(values, column))
        return self.rows.add(target, source, float(values["edge_weight"][column]))

    def remove_message(self, source: int, target: int) -> bool:
        """Remove a message if it is there; return whether it was."""
        place = self.rows.find(target, source)
        if place >= 0 and self._numbered and self.values:
            self._free.append(int(self.rows.arrays[3][place]))
        return place >= 0 and self.rows.remove(target, source)

    def _store(self, values: Mapping[str, Tensor], column: int) -> int:
        """Store the values of a message where no message has its own; return its number."""
        if not self._free:
            count = next(iter(self.values.values())).size(0)
            spare = max(count, 16)
            self.values = {
                name: torch.cat([known, known.new_zeros(spare, *known.shape[1:])])
                for name, known in self.values.items()
            }
            self._free = list(range(count, count + spare))[::-1]
        number = self._free.pop()
        for name, known in self.values.items():
            known[number] = values[name][column]
        return number

    def key(self, source: int, target: int) -> tuple[int, int]:
        """The edge that a message belongs to."""
        return (source, target) if self.directed else (min(source, target), max(source, target))

    def directions(self, edges: Array) -> list[tuple[int, int]]:
        """Source and target of each message of some edges."""
        pairs = [(int(a), int(b)) for a, b in edges.T]
        return pairs if self.directed else [*pairs, *((b, a) for a, b in pairs if a != b)]

    def check_nodes(self, nodes: Array, name: str = "nodes") -> None:
        """Raise unless all nodes are in the graph."""
        if nodes.size and (nodes.min() < 0 or nodes.max() >= self.num_nodes):
            wrong = int(nodes[(nodes < 0) | (nodes >= self.num_nodes)][0])
            raise InputError(f"{name} has {wrong}, expected numbers from 0 to {self.num_nodes - 1}")
