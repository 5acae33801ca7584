"""A heterogeneous graph of the user's as a folder of tables, in CSV or Parquet.

::

    nodes/paper.csv                     id, label, split and features of the nodes of one type
    nodes/author.parquet                id and features
    edges/author__writes__paper.csv     source, target and perhaps weight of one relation
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
    """Whether a folder has tables of relations in its subfolder ``edges``."""
    return (folder / "edges").is_dir()


def read_hetero_tables(
    folder: Path,
    target: str | None = None,
    targets: Targets = CLASSES,
    classes: Sequence[str] | None = None,
) -> HeteroData:
    """Read ``nodes/TYPE.csv`` and ``edges/TYPE__NAME__TYPE.csv``.

    The tables are those of :func:`teddy.data.tables.read_tables`. The target's table has features
    and labels; ``label`` and ``split`` of other types are left out. A type without a table has the
    nodes that its relations name, sorted, and no features.

    Args:
        folder: The folder.
        target: The type whose labels are read; by default the only one whose table has them.
        targets: What labels are.
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
                f"{folder}: has edges{ending} and the folder edges, expected one of both"
            )
    relations = {_edge_type(file): file for file in _tables(folder / "edges")}
    nodes = {file.stem: file for file in _tables(folder / "nodes")}
    types = sorted({end for kind in relations for end in (kind[0], kind[2])})
    for name, file in nodes.items():
        if name not in types:
            raise InputError(
                f"{_shown(file)}: no relation in {folder / 'edges'} has the type '{name}', "
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
    """The tables of a folder, one for each name, or raise."""
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
        raise InputError(f"{folder}: there are no tables, expected one or more such as {example}")
    return files


def _edge_type(file: Path) -> EdgeType:
    parts = file.stem.split("__")
    if len(parts) != 3 or not all(parts):
        raise InputError(
            f"{_shown(file)}: expected a name of two types and their relation, such as "
            "author__writes__paper.csv"
        )
    first, name, last = parts
    return first, name, last


def _target(folder: Path, nodes: dict[str, Path], target: str | None) -> str:
    """The type whose labels are read, or raise if it has no table or can't be told."""
    if target is not None:
        if target not in nodes:
            known = ", ".join(sorted(nodes))
            raise InputError(
                f"{folder}: target is '{target}', expected a type with a node table: {known}"
            )
        return target
    labelled = [name for name, file in nodes.items() if "label" in Table.read(file, ("id",)).names]
    if len(labelled) != 1:
        found = f"have {' and '.join(labelled)}" if labelled else "has none"
        raise InputError(
            f"{folder}: target is not given, and a column 'label' {found}, expected one of: "
            f"{', '.join(sorted(nodes))} (--target)"
        )
    return labelled[0]


def _named_ids(name: str, tables: dict[EdgeType, Table]) -> pa.ChunkedArray:
    """The ids by which relations name the nodes of a type, each once, sorted."""
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
    """A file as a message names it."""
    return f"{file.parent.name}/{file.name}"
