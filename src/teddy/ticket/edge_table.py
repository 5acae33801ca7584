"""The kept edges of a ticket as a table."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from teddy.data.checks import LINK_FIELDS, MASKS
from teddy.data.tensors import dtype_text
from teddy.edges.messages import listed_columns
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

    Of a directed ticket: each direction that there is, as messages run. Self-loops are among them
    if the network is given any. Nodes are called by the ids of the table that they came from
    (``node_ids``), else by their numbers. Every tensor of the data with a value, or a row of
    values, for each column of ``edge_index`` becomes a column, of lists if it has rows; of an edge
    that is listed twice, the value that is listed first. ``edge_weight`` is called ``weight``, as a
    table of edges is read.

    Args:
        ticket: The ticket.
        data: Its graph.
    """
    import pyarrow as pa

    data = graph_for(ticket.info, data)
    edges, listed = ticket.edge_index(data), data.edge_index
    if not ticket.info.graph.get("directed"):
        edges, listed = edges[:, edges[0] <= edges[1]], listed.sort(dim=0).values
    source, target = edges.tolist()
    ids = node_ids(data)
    columns: dict[str, Any] = {
        "source": pa.array([ids[node] for node in source]),
        "target": pa.array([ids[node] for node in target]),
    }
    if not source:  # an empty list has no type
        kind = pa.array(list(ids)).type
        columns = {name: pa.array([], kind) for name in columns}
    first = listed_columns(listed, edges)
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
