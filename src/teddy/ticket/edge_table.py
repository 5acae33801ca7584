"""The kept edges of a ticket as a table."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.ticket.changed import node_ids

if TYPE_CHECKING:
    import pyarrow as pa

    from teddy.ticket.ticket import Ticket


def kept_edges(ticket: Ticket, data: Data) -> pa.Table:
    """Each kept undirected edge once: ``source``, ``target``, and what belongs to edges.

    Nodes are called by the ids of the table that they came from (``node_ids``), else by their
    numbers. Every tensor of the data that has one value for each column of ``edge_index`` becomes
    a column; of an edge that is listed twice, the value that is listed first.

    Args:
        ticket: The ticket.
        data: Its graph.
    """
    import pyarrow as pa

    graph, keep, pair_of_column = ticket.prune(data)
    source, target = graph.pairs[:, keep].tolist()
    ids = node_ids(data)
    columns: dict[str, Any] = {
        "source": pa.array([ids[node] for node in source]),
        "target": pa.array([ids[node] for node in target]),
    }
    if not source:  # an empty list has no type
        kind = pa.array(list(ids)).type
        columns = {name: pa.array([], kind) for name in columns}
    first = _first_columns(pair_of_column, graph.num_edges)[keep]
    for name, value in data:
        if _belongs_to_edges(data, name, value):
            columns[name] = pa.array(value[first].cpu().numpy())
    return pa.table(columns)


def parquet(table: pa.Table) -> bytes:
    """A table as the content of a Parquet file."""
    from pyarrow.parquet import write_table

    buffer = io.BytesIO()
    write_table(table, buffer)
    return buffer.getvalue()


def _belongs_to_edges(data: Data, name: str, value: Any) -> bool:
    if name in ("edge_index", "source", "target") or not isinstance(value, Tensor):
        return False
    return value.dim() == 1 and bool(data.is_edge_attr(name))


def _first_columns(pair_of_column: Tensor, num_pairs: int) -> Tensor:
    """Where each edge is listed first.

    Example:
        >>> _first_columns(torch.tensor([1, -1, 0, 1]), 2).tolist()
        [2, 0]
    """
    columns = torch.arange(pair_of_column.numel(), device=pair_of_column.device)
    listed = pair_of_column >= 0
    first = torch.full_like(columns[:1], columns.numel()).repeat(num_pairs)
    return first.scatter_reduce(0, pair_of_column[listed], columns[listed], "amin")
