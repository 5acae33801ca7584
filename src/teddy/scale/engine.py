"""What every engine does, and what it says about the graph."""

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

#: Called with what is being done, how much of it is done, and all of it.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class EngineJob:
    """Input of an engine.

    Attributes:
        work: A folder of its own, which is removed afterwards; of Spark's, a name it resolves.
        directed: Whether an edge and its reverse are two.
        digest_prefix: Text before an edge's own in the md5 that orders edges of equal scores.
        memory: Bytes that it may take.
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
    """Degrees of the simple graph, over nodes that have an edge; the median is the lower one."""

    nodes: int
    mean: float
    median: int
    max: int

    @staticmethod
    def from_counts(counts: dict[int, int]) -> Degrees:
        """From the number of nodes of each degree.

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
    """A way to score edges and to choose among them.

    Attributes:
        num_edges: Edges of the simple graph.
        num_loops: Rows that are self-loops.
        degrees: Its degrees.
        components: Connected components of what stays, nodes without an edge left among them;
            None where they weren't counted.
        failures: What it raises when it can't go on, as for want of disk.
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
        """Know the graph and the value of each node."""

    @abstractmethod
    def choose(self, num_pruned: int) -> Threshold:
        """The last edge that goes."""

    @abstractmethod
    def keep(self, batch: pa.RecordBatch, first_row: int) -> NDArray[np.bool_]:
        """Which rows of a batch stay."""

    def write(self, output: Output) -> int:
        """Write the rows that stay, in the order of the table; return how many."""
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
        """Let go of whatever it holds."""
