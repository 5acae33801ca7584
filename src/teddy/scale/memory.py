"""Engine ``memory``: the whole table at once, by the functions for an ``edge_index``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from teddy.errors import InputError
from teddy.graph.edges import Edges
from teddy.prune.select import lowest_edges, pair_digests
from teddy.scale.engine import Degrees, Engine, EngineJob
from teddy.scale.table import EdgeTable
from teddy.scale.threshold import NOTHING_REMOVED, Threshold

#: Maximum bytes of a row with integer ids, of a row with text ids, and of a byte of an id.
ROW, TEXT_ROW, TEXT_BYTE = 400, 600, 6


def bytes_needed(table: EdgeTable) -> float:
    """Maximum bytes that the engine uses for a table."""
    row = TEXT_ROW + TEXT_BYTE * table.id_bytes if table.text_ids else ROW
    return table.num_rows * row


class MemoryEngine(Engine):
    """Engine that holds the whole table; the reference of the other engines."""

    def __init__(self, job: EngineJob) -> None:
        super().__init__(job)
        needed = bytes_needed(job.table)
        if needed > job.memory:
            raise InputError(
                f"{job.table.num_rows:,} rows take about {needed / 1e9:.1f} GB, expected at most "
                f"{job.memory / 1e9:.1f} GB; give more memory or use another engine"
            )

    def score(self) -> None:
        """Build the graph and compute the score of each edge."""
        table = self.job.table
        kind = pa.string() if table.text_ids else pa.int64()
        batches = list(table.id_batches())
        self.job.progress("rows read", table.num_rows, table.num_rows)
        both = (pa.chunked_array([batch[end] for batch in batches], kind) for end in (0, 1))
        self.ids, edge_index = _number(*both)
        self.graph, self.edge_of_row = _simple_graph(edge_index, len(self.ids), self.job.directed)
        self.num_edges = self.graph.num_edges
        self.num_loops = int((self.edge_of_row < 0).sum())
        counts = torch.bincount(self.graph.degree)
        self.degrees = Degrees.from_counts(dict(enumerate(counts.tolist())))
        self.scores = self._scores()

    def choose(self, num_pruned: int) -> Threshold:
        """Return the threshold: the last removed edge."""
        removed = lowest_edges(
            self.scores, num_pruned, lambda edges: self._digests(self.graph.pairs[:, edges])
        )
        self.kept = ~removed
        self.components = self._components()
        if num_pruned == 0:
            return NOTHING_REMOVED
        score = self.scores[removed].max()
        last = self.graph.pairs[:, removed & (self.scores == score)]
        return Threshold(float(score), np.sort(self._digests(last))[-1].decode())

    def keep(self, batch: pa.RecordBatch, first_row: int) -> NDArray[np.bool_]:
        """Mask of the kept rows of a batch."""
        edges = self.edge_of_row[first_row : first_row + batch.num_rows]
        keep = torch.ones(edges.numel(), dtype=torch.bool)
        keep[edges >= 0] = self.kept[edges[edges >= 0]]
        mask: NDArray[np.bool_] = keep.numpy()
        return mask

    def _digests(self, pairs: torch.Tensor) -> NDArray[np.bytes_]:
        ends = (self.ids.take(end.numpy()) for end in pairs)
        text = self.job.table.text_ids
        lows, highs = (end.to_pylist() if text else end.to_numpy() for end in ends)
        return pair_digests(lows, highs, self.job.digest_prefix)

    def _scores(self) -> torch.Tensor:
        graph, score, highest, sums = self.graph, self.job.score, self.degrees.max, None
        if score.summed is not None:
            summed = torch.from_numpy(score.summed_of_degrees(highest))
            sums = graph.sum_over_neighbours(summed).numpy()
        values = torch.from_numpy(score.node_values(graph.degree.numpy(), sums, highest))
        scores: torch.Tensor = score.join(values[graph.pairs[0]], values[graph.pairs[1]])
        return scores

    def _components(self) -> int:
        rows, cols = self.graph.pairs[:, self.kept].numpy()
        shape = (self.graph.num_nodes, self.graph.num_nodes)
        matrix = coo_array((np.ones(rows.size, bool), (rows, cols)), shape=shape)
        lone = self.graph.num_nodes - self.degrees.nodes  # self-loops only
        return int(connected_components(matrix, directed=False)[0]) - lone


def _number(sources: pa.ChunkedArray, targets: pa.ChunkedArray) -> tuple[Any, torch.Tensor]:
    """Return the sorted ids, and the edges by index into them."""
    ids = pa.chunked_array([*sources.chunks, *targets.chunks], sources.type).unique()
    ids = ids.take(pc.sort_indices(ids))
    ends = [pc.index_in(end, value_set=ids).to_numpy() for end in (sources, targets)]
    return ids, torch.from_numpy(np.stack(ends).astype(np.int64))


def _simple_graph(
    edge_index: torch.Tensor, num_nodes: int, directed: bool
) -> tuple[Edges, torch.Tensor]:
    """Return the distinct edges, and the edge of each row, -1 for a self-loop."""
    if not directed:
        return Edges.from_columns(edge_index, num_nodes)
    no_loop = edge_index[0] != edge_index[1]
    pairs, edge = torch.unique(edge_index[:, no_loop], dim=1, return_inverse=True)
    edge_of_row = torch.full_like(edge_index[0], -1)
    edge_of_row[no_loop] = edge
    return Edges(num_nodes, pairs), edge_of_row
