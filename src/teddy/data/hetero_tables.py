"""Heterogeneous graphs from a folder of tables, in CSV or Parquet.

::

    nodes/paper.csv                     id, label, split and features of the nodes of one type
    nodes/author.parquet                id and features
    edges/author__writes__paper.csv     source, target and optional weight of one relation
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_geometric.data import HeteroData

from teddy.data.reading import reading
from teddy.data.table_file import Table, as_integers
from teddy.data.tables import edge_fields, name_fields, read_nodes, read_plain_nodes
from teddy.data.targets import CLASSES, Targets
from teddy.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from teddy.graph.groups import EdgeType

_TABLES = (".csv", ".parquet")


def is_hetero_folder(folder: Path) -> bool:
    """Return True if a folder has a subfolder ``edges`` for tables of relations."""
    return (folder / "edges").is_dir()


def read_hetero_tables(
    folder: Path,
    target: str | None = None,
    targets: Targets = CLASSES,
    classes: Sequence[str] | None = None,
) -> HeteroData:
    """Read ``nodes/TYPE.csv`` and ``edges/TYPE__NAME__TYPE.csv``.

    The tables are those of :func:`teddy.data.tables.read_tables`. The table of the target
    has features and labels; ``label`` and ``split`` of other types are ignored. A type without a
    table has the nodes in its relations, sorted, and no features.

    Args:
        folder: The folder.
        target: The type whose labels are read; by default the only one whose table has them.
        targets: Checks of labels.
        classes: See :func:`teddy.data.tables.read_tables`.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("nodes", "edges"):
        ...         Path(folder, name).mkdir()
        ...     _ = Path(folder, "nodes/paper.csv").write_text("id,label,f\\np1,0,1.5\\np2,1,2\\n")
        ...     edges = Path(folder, "edges/author__writes__paper.csv")
        ...     _ = edges.write_text("source,target\\nbob,p1\\nann,p2\\nann,p1\\n")
        ...     data = read_hetero_tables(Path(folder))
        >>> data["author"].node_ids, data["paper"].y.tolist()
        (['ann', 'bob'], [0, 1])
        >>> data["author", "writes", "paper"].edge_index.tolist()
        [[1, 0, 0], [0, 1, 0]]
    """
    for ending in _TABLES:
        if (folder / f"edges{ending}").exists():
            raise InputError(
                f"{folder}: has edges{ending} and a folder edges, expected one of them"
            )
    relations = {_edge_type(file): file for file in _tables(folder / "edges")}
    nodes = {file.stem: file for file in _tables(folder / "nodes")}
    types = sorted({end for kind in relations for end in (kind[0], kind[2])})
    for name, file in nodes.items():
        if name not in types:
            raise InputError(
                f"{_shown(file)}: type '{name}' is in no relation of {folder / 'edges'}, "
                f"expected one of: {', '.join(types)}"
            )
    target = _target(folder, nodes, target)
    tables = {kind: Table.read(file, ("source", "target")) for kind, file in relations.items()}
    data, known = HeteroData(), {}
    for name in types:
        if name in nodes:
            read = read_nodes(nodes[name], targets, classes) if name == target else None
            _, ids, fields = read or read_plain_nodes(nodes[name])
            known[name] = ids, f"an id of {_shown(nodes[name])}"
            if "class_names" in fields:
                data.class_names = fields.pop("class_names")
        else:
            ids = _named_ids(name, tables)
            fields, known[name] = name_fields(ids), (ids, "an integer or a name")
        data[name].update({**fields, "num_nodes": len(ids)})
    for kind, table in sorted(tables.items()):
        with reading(relations[kind], "an edge list"):
            data[kind].update(edge_fields(table, known[kind[0]], known[kind[2]]))
    return data


def _tables(folder: Path) -> list[Path]:
    """Return the tables of a folder, one for each name, or raise."""
    files = sorted(file for file in folder.glob("*") if not file.name.startswith("."))
    for file in files:
        if file.suffix.lower() not in _TABLES:
            raise InputError(
                f"{_shown(file)}: ends in '{file.suffix}', expected tables, .csv or .parquet"
            )
        if any(other.stem == file.stem and other != file for other in files):
            raise InputError(f"{folder}: has two tables '{file.stem}', expected one")
    if not files:
        example = "paper.csv" if folder.name == "nodes" else "author__writes__paper.csv"
        raise InputError(f"{folder}: has no tables, expected one or more such as {example}")
    return files


def _edge_type(file: Path) -> EdgeType:
    parts = file.stem.split("__")
    if len(parts) != 3 or not all(parts):
        raise InputError(
            f"{_shown(file)}: invalid name, expected two types and their relation, such as "
            "author__writes__paper.csv"
        )
    first, name, last = parts
    return first, name, last


def _target(folder: Path, nodes: dict[str, Path], target: str | None) -> str:
    """Return the type whose labels are read; raise if it is ambiguous or has no table."""
    if target is not None:
        if target not in nodes:
            known = ", ".join(sorted(nodes))
            raise InputError(
                f"{folder}: target is '{target}', expected a type with a node table: {known}"
            )
        return target
    labelled = [name for name, file in nodes.items() if "label" in Table.read(file, ("id",)).names]
    if len(labelled) != 1:
        types = f"{' and '.join(labelled)} have" if labelled else "no type has"
        raise InputError(
            f"{folder}: target is missing and {types} a column 'label', expected one of: "
            f"{', '.join(sorted(nodes))} (--target)"
        )
    return labelled[0]


def _named_ids(name: str, tables: dict[EdgeType, Table]) -> pa.ChunkedArray:
    """Return the unique ids of the nodes of a type in its relations, sorted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for kind, table in tables.items():
        for end, column in ((kind[0], "source"), (kind[2], "target")):
            if end == name:
                columns.append(table.ids(column, "an integer or a name").cast(pa.string()))
    ids = pa.chunked_array(columns).unique()
    integers = as_integers(ids)
    ids = ids if integers is None else integers
    return pa.chunked_array([ids.take(pc.sort_indices(ids))])


def _shown(file: Path) -> str:
    """Return the text of a file for messages."""
    return f"{file.parent.name}/{file.name}"
