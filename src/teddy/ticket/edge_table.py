"""The kept edges of a ticket as a table."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import LINK_FIELDS, MASKS
from teddy.data.tensors import dtype_text
from teddy.edges import Arcs
from teddy.errors import InputError
from teddy.ticket.changed import node_ids
from teddy.ticket.heads import graph_for

if TYPE_CHECKING:
    import pyarrow as pa

    from teddy.ticket.ticket import Ticket

# What NumPy, and so a table, has.
_FLOATS = (torch.float16, torch.float32, torch.float64)


def kept_edges(ticket: Ticket, data: Data) -> pa.Table:
    """Each kept undirected edge once: ``source``, ``target``, and what belongs to edges.

    Of a directed ticket: each direction that there is, as messages run. Nodes are called by the
    ids of the table that they came from (``node_ids``), else by their numbers. Every tensor of the
    data with a value, or a row of values, for each column of ``edge_index`` becomes a column, of
    lists if it has rows; of an edge that is listed twice, the value that is listed first.
    ``edge_weight`` is called ``weight``, as a table of edges is read.

    Args:
        ticket: The ticket.
        data: Its graph.
    """
    import pyarrow as pa

    data = graph_for(ticket.info, data)
    graph, keep, place = ticket.prune(data)
    edges = graph.pairs
    if ticket.info.graph.get("directed"):
        arcs = Arcs.of(data.edge_index, graph.num_nodes, directed=True)
        edges, keep = arcs.fields()["edge_index"], keep[arcs.edge]
        place = _arc_of_column(edges, data.edge_index, graph.num_nodes)
    source, target = edges[:, keep].tolist()
    ids = node_ids(data)
    columns: dict[str, Any] = {
        "source": pa.array([ids[node] for node in source]),
        "target": pa.array([ids[node] for node in target]),
    }
    if not source:  # an empty list has no type
        kind = pa.array(list(ids)).type
        columns = {name: pa.array([], kind) for name in columns}
    first = _first_columns(place, edges.size(1))[keep]
    for name, value in data:
        if _belongs_to_edges(data, name, value):
            column = "weight" if name == "edge_weight" else name
            columns[column] = _column(name, value[first].detach().cpu())
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
    if LINK_FIELDS[0] in data and name in (*LINK_FIELDS, *MASKS):
        return False  # of links, of which there may be as many as columns
    return value.dim() in (1, 2) and bool(data.is_edge_attr(name))


def _column(name: str, values: Tensor) -> pa.Array:
    """Numbers ``[E]``, or lists of them, ``[E, D]``.

    Example:
        >>> _column("edge_weight", torch.tensor([0.5], dtype=torch.bfloat16)).to_pylist()
        [0.5]
    """
    import pyarrow as pa

    if values.is_complex():
        raise InputError(f"{name} is {dtype_text(values)}, expected real numbers in a table")
    if values.is_floating_point() and values.dtype not in _FLOATS:
        values = values.float()  # bfloat16 and narrower: exact
    if values.dim() == 1:
        return pa.array(values.numpy())
    flat = pa.array(values.flatten().numpy())
    return pa.FixedSizeListArray.from_arrays(flat, values.size(1))


def _arc_of_column(arcs: Tensor, edge_index: Tensor, num_nodes: int) -> Tensor:
    """Which arc each column is; -1: a self-loop.

    Example:
        >>> arcs = torch.tensor([[0, 1, 1], [1, 0, 2]])
        >>> _arc_of_column(arcs, torch.tensor([[1, 0, 2], [2, 1, 2]]), 3).tolist()
        [2, 0, -1]
    """
    keys, columns = (index[0] * num_nodes + index[1] for index in (arcs, edge_index))
    return torch.searchsorted(keys, columns).masked_fill(edge_index[0] == edge_index[1], -1)


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
