"""Table of the kept edges of a ticket."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Batch

from teddy.data.checks import LINK_FIELDS, MASKS, PRUNED_BY
from teddy.errors import InputError
from teddy.graph.edge_subgraph import column_of_message
from teddy.tensors import dtype_text

if TYPE_CHECKING:
    import pyarrow as pa

    from teddy.ticket.ticket import DataLike, Ticket

# Values of graphs, whose number may equal that of the edges.
_OF_GRAPHS = ("y", *MASKS, PRUNED_BY, "batch", "ptr")
# Floating-point types of NumPy, and therefore of a table.
_FLOATS = (torch.float16, torch.float32, torch.float64)


def kept_edges(ticket: Ticket, data: DataLike) -> pa.Table:
    """Return a table of the kept undirected edges: ``source``, ``target`` and values of edges.

    A directed ticket has a row for each message. Self-loops are included if the network takes
    them. Nodes have the ids of their table (``node_ids``), else their numbers. Every tensor of the
    data with a value or a row for each column of ``edge_index`` becomes a column; an edge that is
    listed twice has its first value. ``edge_weight`` is named ``weight``, as in edge tables.

    A set of graphs has a column ``graph``, and nodes are numbered within each. A ``HeteroData``
    has a column ``relation``, such as ``author__writes__paper``; an edge has a row for each
    relation that keeps it, and values that a relation lacks are null.

    Args:
        ticket: The ticket.
        data: Its graph or graphs.
    """
    import pyarrow as pa

    graph, edges, keep = ticket.chosen(data, inputs=False)
    tables = []
    for part in ticket.kind.edge_lists(data, graph, edges, keep):
        first = {
            name: pa.array(values.tolist(), pa.int64())
            if isinstance(values, Tensor)
            else pa.array(values, pa.string())
            for name, values in part.columns.items()
        }
        tables.append(_table(part.ids, part.edges, part.listed, part.store, first))
    if len(tables) == 1:
        return tables[0]
    aligned = (table.cast(pa.schema(map(_of_any_length, table.schema))) for table in tables)
    return pa.concat_tables(aligned, promote_options="permissive")


def _of_any_length(field: pa.Field) -> pa.Field:
    """Return a field whose lists may have any length, as they differ between relations."""
    import pyarrow as pa

    fixed = pa.types.is_fixed_size_list(field.type)
    return field.with_type(pa.list_(field.type.value_type)) if fixed else field


def _table(
    ids: tuple[Sequence[Any], Sequence[Any]],
    edges: Tensor,
    listed: Tensor,
    store: Any,
    first: dict[str, Any] | None = None,
) -> pa.Table:
    """Return edges as a table.

    Args:
        ids: Ids of source nodes and of target nodes.
        edges: Kept edges, int64 ``[2, K]``.
        listed: All edges as listed in the data, int64 ``[2, E]``.
        store: Data with a value for each listed edge.
        first: First columns of the table.
    """
    import pyarrow as pa

    columns = dict(first or {})
    for name, names, nodes in zip(("source", "target"), ids, edges.tolist(), strict=True):
        kind = pa.array(list(names)).type if len(names) else pa.int64()
        columns[name] = pa.array([names[node] for node in nodes], kind)
    place, taken = column_of_message(listed, edges), set(columns)
    for name, value in store.to_dict().items():
        if name not in taken and _belongs_to_edges(store, name, value):
            column = "weight" if name == "edge_weight" else name
            columns[column] = _column(name, value[place].detach().cpu())
    return pa.table(columns)


def parquet(table: pa.Table) -> bytes:
    """Return a table as the content of a Parquet file."""
    from pyarrow.parquet import write_table

    buffer = io.BytesIO()
    write_table(table, buffer)
    return buffer.getvalue()


def _belongs_to_edges(data: Any, name: str, value: Any) -> bool:
    if name == "edge_index" or not isinstance(value, Tensor):
        return False
    if isinstance(data, Batch) and name in _OF_GRAPHS:
        return False
    if LINK_FIELDS[0] in data and name in (*LINK_FIELDS, *MASKS):
        return False  # of links, of which there may be as many as columns
    return value.dim() in (1, 2) and bool(data.is_edge_attr(name))


def _column(name: str, values: Tensor) -> pa.Array:
    """Return a column of numbers ``[E]``, or of lists ``[E, D]``.

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
