"""Mini-batches of whole graphs, for graph classification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import ClassVar

from torch_geometric.data import Data

from teddy.errors import InputError
from teddy.numbers import check_count
from teddy.training.loaders import Batch, NamedLoader
from teddy.training.partitions import PartitionedGraph


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
        if "graph_of_node" not in data:
            raise InputError(
                f"loader {self} draws from a set of graphs, expected the task graph-classification"
            )
        return PartitionedGraph(data, data.graph_of_node.cpu(), self.batch)
