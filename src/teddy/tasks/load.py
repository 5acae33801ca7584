"""Data sets by name or from a path, checked and split for a task."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData

from teddy.data.checks import (
    MASKS,
    PRUNED_BY,
    check_graph,
    check_mask,
    check_masks,
    count_splits,
)
from teddy.data.features import compact
from teddy.data.source import StrPath, read_source
from teddy.data.splits import CHOICES, Masks, one_split, split_nodes, split_number
from teddy.data.targets import Targets
from teddy.errors import InputError
from teddy.graph.edge_values import check_edge_values
from teddy.graph.edges import Edges
from teddy.graph.groups import relation_text
from teddy.graph.relations import check_relations, nodes_of_types
from teddy.tasks.graph_split import as_batch, graph_set, of_graphs
from teddy.tasks.graphs import GraphKind
from teddy.tasks.kind import Kind
from teddy.tasks.links import LinkKind
from teddy.tasks.registry import kind_for, parse_task
from teddy.tasks.target_nodes import check_target, other_features, target_nodes, with_target_nodes


def load_dataset(
    name: StrPath = "citeseer",
    *,
    split: str | int | None = None,
    seed: int = 0,
    data_dir: StrPath | None = None,
    nodes: StrPath | None = None,
    task: str = "classification",
    directed: bool = False,
    target: str | None = None,
) -> Data | HeteroData:
    """Return a graph by its name, or from the user's own files.

    Args:
        name: A name of :func:`teddy.data.list_datasets`, in any case, or a path: ``graph.npz``,
            ``graph.pt``, an edge list in CSV or Parquet, a folder with ``edges.*`` and
            ``nodes.*``, or one with tables of several node types and relations in ``nodes/`` and
            ``edges/``. ``docs/data.md`` has the layouts.
        split: ``"public"``, ``"random"`` or percentages such as ``"20/40/40"``, see
            :func:`teddy.data.split_nodes`; or the number of one of several splits that came with
            the data. By default the split that came, or all of them: then masks are ``[N, K]``,
            and :func:`teddy.find_ticket` takes the seed's.
        seed: For a split that is drawn.
        data_dir: Folder of PyG's raw files for sets that aren't bundled; by default the
            environment variable ``TEDDY_DATA``.
        nodes: The node table of an edge list; by default ``nodes.*`` beside it.
        task: What ``y`` is: ``classification``, ``multilabel`` or ``regression``; of a set of
            graphs always ``graph-classification``. Or ``link-prediction``: labels aren't looked
            at, and edges are held out as of :func:`teddy.split_links`, by a split such as
            ``"85/5/10"``, which is the default.
        directed: Whether edges stay in the direction that they are listed in.
        target: Node type that has labels and split, in a heterogeneous graph; by default the only
            one that has labels.

    Returns:
        A PyG ``Data``: ``x`` float32, CSR if less than a quarter of it is non-zero;
        ``edge_index`` of the simple graph, both directions unless directed; ``edge_weight`` where
        a file has weights; ``y``, -1 where there is no label (of other tasks nan);
        ``train_mask``, ``val_mask``, ``test_mask``; ``num_nodes``, ``name``, ``split``; and
        ``node_ids``, ``class_names`` where a table's ids and labels weren't 0, 1, 2, ..., and its
        ``feature_names``. Of a set of graphs a ``Batch``, in which ``y`` and the masks have a row
        for each graph; see :func:`teddy.graph_set`. Of a heterogeneous graph a ``HeteroData``:
        ``x``, ``num_nodes`` and ``node_ids`` of each type, ``y`` and the masks of the target,
        ``edge_index`` and ``edge_weight`` of each relation, ``name``, ``split``.

    Raises:
        InputError: What came can't be used; one line.

    Example:
        >>> data = load_dataset("citeseer")
        >>> data.num_nodes, data.num_edges, data.x.layout, data.split
        (3327, 9104, torch.sparse_csr, 'public')
    """
    split = split if split is None else str(split)
    of_links = issubclass(parse_task(task).kind, LinkKind)
    if of_links and directed:
        raise InputError(f"links have no direction, expected no directed graph for {task}")
    kind, raw, source, label = _read(
        name, task, data_dir, nodes, () if of_links else None, target, directed
    )
    targets = kind.task.targets
    if isinstance(kind, LinkKind):
        return _load_links(kind, raw, source, label, split, seed)
    if isinstance(raw, HeteroData):
        return _hetero(
            raw, target, source, label,
            lambda nodes, where: _with_split(nodes, where, split, seed, targets, integers=True),
        )  # fmt: skip
    if isinstance(raw, Batch):
        came = "public" if split is None and MASKS[0] in raw else split
        batch = graph_set(raw, came, seed, source, targets)
        batch.name = label
        return batch
    graph = _with_split(raw, source, split, seed, targets)
    data = Data(
        x=compact(graph.x),
        **_edges(graph, directed, source),
        y=graph.y,
        **{key: graph[key] for key in MASKS},
        num_nodes=graph.x.size(0),
        name=label,
        split=graph.split,
    )
    if "split_seed" in graph:
        data.split_seed = graph.split_seed
    return _named(data, raw)


def _read(
    name: StrPath,
    task: str,
    data_dir: StrPath | None,
    nodes: StrPath | None,
    classes: Sequence[str] | None,
    target: str | None,
    directed: bool,
) -> tuple[Kind, Any, str, str]:
    """Read the data of a task: their level, the data, their name in messages, their name."""
    wanted = parse_task(task)
    raw, source, label = read_source(
        name, data_dir, nodes, wanted.targets, classes, target, directed
    )
    raw = as_batch(raw, source) if isinstance(raw, list) else raw
    hetero, several = isinstance(raw, HeteroData), isinstance(raw, Batch)
    if hetero and wanted.kind is not Kind:
        raise InputError(
            f"{source}: has several kinds of nodes, expected one kind for the task {wanted.name}"
        )
    if target is not None and not hetero:
        raise InputError(f"{source}: has one kind of node, expected no target (--target)")
    if several and wanted.name == "classification":
        wanted = parse_task("graph-classification")
    of_graphs = issubclass(wanted.kind, GraphKind)
    if several and not of_graphs:
        raise InputError(
            f"{source}: is a set of graphs, expected the task graph-classification (--task)"
        )
    if of_graphs and not several:
        raise InputError(f"{source}: is one graph, expected several for the task {wanted.name}")
    return kind_for(wanted, raw), raw, source, label


def _with_split(
    raw: Data, source: str, split: str | None, seed: int, targets: Targets, integers: bool = False
) -> Data:
    """A graph, checked, with the masks of a split that came with it or is drawn."""
    graph = copy.copy(check_graph(raw, source, targets, integers=integers))
    public = _public(raw, source)
    number = split_number(split)
    if public is None and (split in (None, "public") or number is not None):
        raise InputError(f"{source}: no split came with it, pass split as {CHOICES}")
    graph.split = "public" if number is not None else split or "public"
    masks = split_nodes(graph.y, graph.split, seed, public=public)
    for key, mask in zip(MASKS, masks, strict=True):
        graph[key] = mask
    check_masks(graph, source, targets, several=True)
    if graph.split != "public":
        graph.split_seed = seed
    if number is not None or count_splits({key: graph[key] for key in MASKS}, source) == 1:
        return one_split(graph, number, source=source)
    return graph


def _hetero(
    raw: HeteroData, target: str | None, source: str, label: str, check: Callable[[Data, str], Data]
) -> HeteroData:
    """A heterogeneous graph, checked, with its name; ``check`` returns the target's nodes."""
    target = check_target(raw, target)
    of_target = check(target_nodes(raw, target), f"{source} '{target}'")
    data, nodes = copy.copy(raw), nodes_of_types(raw, source)
    for name, x in other_features(raw, target, nodes).items():
        data[name].x = x
    for kind, edge_index in check_relations(raw, nodes, source).items():
        data[kind].edge_index = edge_index
        for key in ("edge_weight", "edge_attr"):
            if key in raw[kind]:
                where, columns = f"{source} {relation_text(kind)}", edge_index.size(1)
                data[kind][key] = check_edge_values(key, raw[kind][key], columns, where)
    data.name = label
    return with_target_nodes(data, target, of_target)


def load_to_predict(
    name: StrPath,
    *,
    classes: Sequence[str] | None = None,
    data_dir: StrPath | None = None,
    nodes: StrPath | None = None,
    task: str = "classification",
    directed: bool = False,
    self_loops: bool = False,
    integers: bool = False,
    target: str | None = None,
) -> Data | HeteroData:
    """Return a graph of which labels are to be predicted: they and a split may be missing.

    The same as :func:`load_dataset` otherwise, with the masks that came with the data if any did;
    the arguments that are not listed here are described there.

    Args:
        name: A name or a path.
        classes: Names of the classes that the model has learned, in the order of their numbers,
            which labels of a table get; any label has to be one of them. None: they have none, and
            labels are their numbers.
        self_loops: Whether self-loops are kept, for a module that is given them.
        integers: Whether integer ``x``, ids that a module looks up, stays as it is.
        target: Node type that is predicted; without labels it has to be given.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "edges.csv").write_text("source,target\\nann,bob\\n")
        ...     _ = Path(folder, "nodes.csv").write_text("id,label,size\\nann,,1.5\\nbob,dog,2\\n")
        ...     data = load_to_predict(folder, classes=["cat", "dog"])
        >>> data.y.tolist(), "test_mask" in data
        ([-1, 1], False)
    """
    kind, raw, source, label = _read(name, task, data_dir, nodes, classes or (), target, directed)
    targets = kind.task.targets
    if isinstance(raw, HeteroData):
        return _hetero(
            raw, target, source, label,
            lambda nodes, where: _to_predict(nodes, where, targets, classes, integers=True),
        )  # fmt: skip
    if isinstance(kind, LinkKind):
        has_links = "edge_label_index" in raw
        data = kind.checked(raw, source, labelled=False) if has_links else _bare(raw)
        data.x, data.name = compact(data.x), label
        return _named(data, raw, of_classes=False)
    if isinstance(raw, Batch):
        batch = as_batch(raw, source)
        if "y" in batch:
            y = targets.check(batch.y, batch.num_graphs, source)
            batch = of_graphs(batch, y=y)
        batch.name = label
        _check_classes(batch, classes, source)
        return batch
    graph = _to_predict(raw, source, targets, classes, integers)
    data = Data(
        x=compact(graph.x) if graph.x.is_floating_point() else graph.x,
        **_edges(graph, directed, source, self_loops),
        num_nodes=graph.x.size(0),
        name=label,
    )
    for key in (PRUNED_BY, "y", *MASKS):
        if graph.get(key) is not None:
            data[key] = graph[key]
    return _named(data, raw)


def _to_predict(
    raw: Data, source: str, targets: Targets, classes: Sequence[str] | None, integers: bool
) -> Data:
    """A graph, checked, with the labels and masks that came with it, if any did."""
    graph = copy.copy(check_graph(raw, source, targets, labelled=False, integers=integers))
    if graph.get("y") is not None:
        _check_classes(graph, classes, source)
    if _public(raw, source) is not None:
        for key in MASKS:
            graph[key] = check_mask(raw, key, graph.x.size(0), source, several=True)
    return graph


def _load_links(
    kind: LinkKind, raw: Data, source: str, label: str, split: str | None, seed: int
) -> Data:
    """A graph with the links that came with it, or that are drawn."""
    if "edge_label_index" in raw:
        if split not in (None, "public"):
            raise InputError(f"{source}: has links, expected no split '{split}'")
        data = kind.checked(raw, source)
        del data.y  # the links' own, made anew wherever it is needed
        data.split = "public"
    else:
        data = kind.with_rows(_bare(raw), split, seed, source)
    data.x, data.name = compact(data.x), label
    return _named(data, raw, of_classes=False)


def _bare(raw: Data) -> Data:
    """A graph without what nodes have beside features."""
    kept = {key: raw[key] for key in ("x", "edge_index", "edge_weight") if key in raw}
    return Data(**kept, num_nodes=raw.num_nodes)


def _check_classes(data: Data, classes: Sequence[str] | None, source: str) -> None:
    """Raise if a label is none of those that a model has learned."""
    if classes and "y" in data and int(data.y.max()) >= len(classes):
        place = int(data.y.argmax())
        raise InputError(
            f"{source}: y[{place}] is {int(data.y[place])}, expected classes that the model knows, "
            f"0 to {len(classes) - 1}, or -1"
        )


def _named(data: Data, raw: Data, of_classes: bool = True) -> Data:
    """The same with the names of nodes, classes and features that came."""
    for key in ("node_ids", "class_names", "feature_names"):
        if key in raw and (of_classes or key != "class_names"):
            data[key] = raw[key]
    return data


def _edges(graph: Data, directed: bool, source: str, self_loops: bool = False) -> dict[str, Tensor]:
    """The simple graph, perhaps with self-loops, and weights of edges where they have any."""
    values = {}
    if "edge_weight" in graph:
        columns = graph.edge_index.size(1)
        values["edge_weight"] = check_edge_values("edge_weight", graph.edge_weight, columns, source)
    edges = Edges.from_index(graph.edge_index, graph.x.size(0), values, directed, self_loops)
    return {"edge_index": edges.edge_index, **edges.messages.values}


def _public(raw: Data, source: str) -> Masks | None:
    there = [key for key in MASKS if key in raw]
    if there and len(there) < len(MASKS):
        missing = next(key for key in MASKS if key not in raw)
        raise InputError(f"{source}: {there[0]} but no {missing}, expected all three or none")
    return (raw.train_mask, raw.val_mask, raw.test_mask) if there else None
