"""SQL engine by ibis, which duckdb and spark share, and its expressions.

Results equal those of ``teddy.prune``: sums run over integers, and square root, division and
product of doubles are correctly rounded on every engine. Exact constants are written as integers,
since ``0.1`` is a decimal in SQL.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from teddy.errors import InputError
from teddy.prune.select import pair_digests
from teddy.scale.engine import Degrees, Engine, EngineJob
from teddy.scale.output import Output
from teddy.scale.row_writer import RowWriter
from teddy.scale.scores import TableScore, unit
from teddy.scale.threshold import Bins, CandidateEdges, Threshold, find_threshold

_BINS = 1 << 14
Expr = Any


class SQLEngine(Engine):
    """Engine on an ibis backend; edges and nodes are temporary tables, which may spill."""

    threshold: Threshold

    def __init__(self, job: EngineJob) -> None:
        super().__init__(job)
        odd = sorted(set("*?[]{}") & set(str(job.work)))
        if odd:
            raise InputError(
                f"{job.work}: has '{odd[0]}', a pattern in SQL engines, expected a plain "
                "name of the output and its folders; or use the engine memory or stream"
            )

    @abstractmethod
    def open(self, path: Path) -> Any:
        """Open a Parquet file."""

    @abstractmethod
    def batches(self, table: Any) -> Iterator[pa.RecordBatch]:
        """Compute a table in batches."""

    def read(self) -> Any:
        """Ids ``source`` and ``target`` of each row, and its number ``row``."""
        return self.open(copy_ids(self.job))

    @abstractmethod
    def make(self, name: str, table: Any) -> Any:
        """Compute and store a table."""

    def score(self) -> None:
        """Build the graph and compute the value of each node."""
        self.rows = rows = self.read()
        self.num_loops = int(rows.filter(rows.source == rows.target).count().execute())
        edges = distinct_edges(rows, self.job.directed)
        self.edges = self._make(1, "edges", edges)
        self.num_edges = int(self.edges.count().execute())
        degree = self._make(2, "degrees", degrees(self.edges))
        counts = degree.group_by("degree").agg(nodes=lambda table: table.count()).to_pyarrow()
        pairs = zip(counts["degree"].to_pylist(), counts["nodes"].to_pylist(), strict=True)
        self.degrees = Degrees.from_counts(dict(pairs))
        values = node_values(self.edges, degree, self.degrees.max, self.job.score)
        self.values = self._make(3, "node_values", values)
        self.scored = self._make(4, "scores", edge_scores(self.edges, self.values, self.job.score))

    def choose(self, num_pruned: int) -> Threshold:
        """Return the threshold: the last removed edge."""
        self.threshold = find_threshold(self, num_pruned)
        return self.threshold

    def histogram(self, low: float, high: float) -> Bins:
        """Ranges of all edges with scores from ``low`` to ``high``."""
        some = self._between(low, high)
        bins = some.group_by(bin=bin_of(some.score, low, high, _BINS)).agg(
            number=lambda table: table.count(),
            low=lambda table: table.score.min(),
            high=lambda table: table.score.max(),
        )
        table = bins.order_by("bin").to_pyarrow()
        lows, highs = table["low"].to_pylist(), table["high"].to_pylist()
        return Bins(table["number"].to_pylist(), lambda place: (lows[place], highs[place]))

    def digest_histogram(self, score: float) -> dict[str, int]:
        """Number of edges of one score by the first four digits of their md5."""
        ties = self._between(score, score)
        digits = self._digest(ties).substr(0, 4)
        table = ties.group_by(digits=digits).agg(number=lambda table: table.count()).to_pyarrow()
        return dict(zip(table["digits"].to_pylist(), table["number"].to_pylist(), strict=True))

    def candidates(self, low: float, high: float, digits: str = "") -> CandidateEdges:
        """Edges in a range whose md5 begins with these digits."""
        some = self._between(low, high)
        if digits:
            some = some.filter(self._digest(some).startswith(digits))
        table = some.select("score", "low", "high").to_pyarrow()

        def digests(places: Any) -> Any:
            chosen = table.take(places)
            lows, highs = chosen["low"].to_pylist(), chosen["high"].to_pylist()
            return pair_digests(lows, highs, self.job.digest_prefix)

        return CandidateEdges(table["score"].to_numpy().astype(np.float64), digests)

    def kept(self, rows: Any) -> Any:
        """Kept rows, self-loops included, with all columns."""
        no_loops = rows.filter(rows.source != rows.target)
        scored = edge_scores(no_loops, self.values, self.job.score, "source", "target")
        low, high = scored.source, scored.target
        if not self.job.directed:
            low, high = ibis.least(low, high), ibis.greatest(low, high)
        above = above_threshold(scored.score, low, high, self.threshold, self.job.digest_prefix)
        loops = rows.filter(rows.source == rows.target)
        return ibis.union(scored.filter(above).select(*rows.columns), loops)

    def write(self, output: Output) -> int:
        """Write the kept rows in the order of the table; return their number."""
        self.kept_bits = np.zeros(-(-self.job.table.num_rows // 8), np.uint8)
        done = 0
        for batch in self.batches(self.kept(self.rows).select("row")):
            rows = np.sort(batch.column(0).to_numpy())
            bits = np.uint8(1) << (rows & 7).astype(np.uint8)
            np.bitwise_or.at(self.kept_bits, rows >> 3, bits)
            done += rows.size
            self.job.progress("rows chosen", done, self.job.table.num_rows)
        return super().write(output)

    def keep(self, batch: pa.RecordBatch, first_row: int) -> NDArray[np.bool_]:
        """Mask of the kept rows of a batch."""
        begin, end = first_row >> 3, (first_row + batch.num_rows + 7) >> 3
        bits = np.unpackbits(self.kept_bits[begin:end], bitorder="little").astype(bool)
        return bits[first_row & 7 :][: batch.num_rows]

    def _digest(self, edges: Any) -> Any:
        return digest(edges.low, edges.high, self.job.digest_prefix)

    def _between(self, low: float, high: float) -> Any:
        return self.scored.filter(within(self.scored.score, low, high))

    def _make(self, step: int, name: str, table: Any) -> Any:
        self.job.progress("steps of scoring", step - 1, 4)
        made = self.make(name, table)
        self.job.progress("steps of scoring", step, 4)
        return made


def copy_ids(job: EngineJob) -> Path:
    """Write ``source``, ``target`` and ``row`` of a table to Parquet.

    Engines then need not support other columns, types and file names, and all refuse the same ids.
    """
    kind = pa.string() if job.table.text_ids else pa.int64()
    schema = pa.schema([("source", kind), ("target", kind), ("row", pa.int64())])
    writer = RowWriter(Path(job.work) / "ids.parquet", "parquet", schema, one_file=True)
    for sources, targets in job.table.id_batches():
        rows = pa.array(np.arange(writer.num_rows, writer.num_rows + len(sources)))
        writer.write(pa.record_batch([sources, targets, rows], schema=schema))
    writer.close()
    return writer.path


def distinct_edges(rows: Expr, directed: bool) -> Expr:
    """``low``, ``high`` of distinct edges; an edge equals its reverse unless directed."""
    rows = rows.filter(rows.source != rows.target)
    low, high = (
        (rows.source, rows.target)
        if directed
        else (ibis.least(rows.source, rows.target), ibis.greatest(rows.source, rows.target))
    )
    return rows.select(low=low, high=high).distinct()


def degrees(edges: Expr) -> Expr:
    """``node``, ``degree``."""
    return _ends(edges).group_by("node").agg(degree=lambda ends: ends.count())


def node_values(edges: Expr, degree: Expr, highest: int, score: TableScore) -> Expr:
    """``node``, ``value``, with the sum over neighbours in integers."""
    one = ibis.literal(unit(highest), "int64").cast("float64")
    nodes = degree.select("node", degree=degree.degree.cast("float64"))
    if score.summed is None:
        return nodes.select("node", value=score.value(nodes.degree, None, one))
    summed = score.summed(nodes.degree, nodes.degree.sqrt(), one).floor().cast("int64")
    ends = _ends(edges).join(nodes.select(other=nodes.node, summed=summed), "other")
    sums = ends.group_by("node").agg(
        total=ends.summed.sum().cast("int64"), degree=ends.count().cast("float64")
    )
    value = score.value(sums.degree, sums.total.cast("float64"), one)
    return sums.select("node", value=value)


def edge_scores(
    edges: Expr, values: Expr, score: TableScore, low: str = "low", high: str = "high"
) -> Expr:
    """Edges with their ``score``."""
    one = values.select(values.node.name(low), one=values.value)
    other = values.select(values.node.name(high), other=values.value)
    both = edges.join(one, low).join(other, high)
    return both.mutate(score=score.join(both.one, both.other)).drop("one", "other")


def digest(low: Expr, high: Expr, prefix: str) -> Expr:
    """md5 of a pair, see :func:`teddy.prune.select.pair_digests`."""
    if low.type().is_string():
        text = low.length().cast("string") + ":" + low + "-" + high
    else:
        text = low.cast("string") + "-" + high.cast("string")
    return (ibis.literal(prefix) + text if prefix else text).hexdigest("md5")


def above_threshold(score: Expr, low: Expr, high: Expr, threshold: Threshold, prefix: str) -> Expr:
    """Condition that an edge is above the threshold; the md5 breaks ties."""
    limit = number(threshold.score)
    return (score > limit) | ((score == limit) & (digest(low, high, prefix) > threshold.digest))


def within(score: Expr, low: float, high: float) -> Expr:
    """Condition that a score is in a range; the infinite range has all scores."""
    if math.isinf(high):
        return ibis.literal(True)
    return (score >= number(low)) & (score <= number(high))


def bin_of(score: Expr, low: float, high: float, count: int) -> Expr:
    """Bin of a score, monotone in the score.

    Bins of all scores are of their 16th roots, since scores may span many powers of ten; bins of a
    range go from 0 to ``count``.
    """
    if math.isinf(high):
        root = (score.abs().sqrt().sqrt().sqrt().sqrt() * count).floor().cast("int64")
        return ibis.ifelse(score < 0, -root, root)
    width = number(high) - number(low)
    return ((score - number(low)) / width * count).floor().cast("int64")


def number(value: float) -> Expr:
    """Exact double: an integer times a power of two.

    Example:
        >>> ibis.duckdb.connect().execute(number(0.1)) == 0.1
        True
    """
    mantissa, exponent = math.frexp(value)
    whole = ibis.literal(int(mantissa * 2**53), "int64").cast("float64")
    for step in _powers(exponent - 53):
        whole = whole * step if exponent > 53 else whole / step
    return whole


def _powers(exponent: int) -> list[Expr]:
    """Powers of two, as exact integers, whose product is two to the exponent."""
    left = abs(exponent)
    steps = [62] * (left // 62) + ([left % 62] if left % 62 else [])
    return [ibis.literal(1 << step, "int64").cast("float64") for step in steps]


def _ends(edges: Expr) -> Expr:
    """``node``, ``other``: each edge from both of its nodes."""
    return ibis.union(
        edges.select(node=edges.low, other=edges.high),
        edges.select(node=edges.high, other=edges.low),
    )
