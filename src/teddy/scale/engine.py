"""``Engine``, the base class of engines, its input and the degrees it reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from teddy.scale.output import Output
from teddy.scale.prefetch import prefetch_map
from teddy.scale.scores import TableScore
from teddy.scale.table import EdgeTable
from teddy.scale.threshold import Threshold

#: Called with the name of the work, the finished amount and the total.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class EngineJob:
    """Input of an engine.

    Attributes:
        table: The edge table.
        work: A temporary folder; for Spark, a name that it resolves.
        directed: Whether an edge and its reverse are distinct.
        score: The edge score.
        digest_prefix: Prefix of an edge's text in the md5 that orders edges of equal scores.
        memory: Bytes that it may use.
    """

    table: EdgeTable
    work: Path | str
    directed: bool
    score: TableScore
    digest_prefix: str
    memory: int
    progress: Progress
    spark_master: str | None = None


@dataclass(frozen=True)
class Degrees:
    """Degrees of the simple graph over nodes with an edge; the median is the lower one."""

    nodes: int
    mean: float
    median: int
    max: int

    @staticmethod
    def from_counts(counts: dict[int, int]) -> Degrees:
        """Compute them from the number of nodes of each degree.

        Example:
            >>> Degrees.from_counts({1: 2, 2: 1})  # a path
            Degrees(nodes=3, mean=1.3333333333333333, median=1, max=2)
        """
        present = sorted((degree, n) for degree, n in counts.items() if degree > 0 and n > 0)
        if not present:
            return Degrees(0, 0.0, 0, 0)
        nodes = sum(n for _, n in present)
        ends = np.cumsum([n for _, n in present])
        median = present[int(np.searchsorted(ends, (nodes + 1) // 2))][0]
        return Degrees(nodes, sum(d * n for d, n in present) / nodes, median, present[-1][0])


class Engine(ABC):
    """Base class of engines, which score edges and choose those to keep.

    Attributes:
        num_edges: Number of edges of the simple graph.
        num_loops: Number of rows that are self-loops.
        degrees: Degrees of the simple graph.
        components: Connected components of the kept edges, isolated nodes included; None if they
            were not counted.
        failures: Exceptions that it raises when it fails, such as on a full disk.
    """

    num_edges: int
    num_loops: int
    degrees: Degrees
    components: int | None = None
    failures: tuple[type[Exception], ...] = ()

    def __init__(self, job: EngineJob) -> None:
        self.job = job

    @abstractmethod
    def score(self) -> None:
        """Build the graph and compute the value of each node."""

    @abstractmethod
    def choose(self, num_pruned: int) -> Threshold:
        """Return the threshold: the last removed edge."""

    @abstractmethod
    def keep(self, batch: pa.RecordBatch, first_row: int) -> NDArray[np.bool_]:
        """Mask of the kept rows of a batch."""

    def write(self, output: Output) -> int:
        """Write the kept rows in the order of the table; return their number."""
        writer, table, done = output.writer(), self.job.table, 0

        def batches() -> Iterator[tuple[int, pa.RecordBatch]]:
            first_row = 0
            for batch in table.batches():
                yield first_row, batch
                first_row += batch.num_rows

        def kept(item: tuple[int, pa.RecordBatch]) -> tuple[int, pa.RecordBatch]:
            first_row, batch = item
            keep = self.keep(batch, first_row)
            return batch.num_rows, output.rows(batch, first_row).filter(keep)

        for rows, batch in prefetch_map(kept, batches()):
            writer.write(batch)
            done += rows
            self.job.progress("rows written", done, table.num_rows)
        writer.close()
        table.inputs.check_unchanged()
        output.publish(writer.path)
        return writer.num_rows

    def close(self) -> None:  # noqa: B027
        """Release its resources."""
