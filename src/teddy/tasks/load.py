"""Data sets by name or from a path, checked and split for a task."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData

from teddy.data.checks import (
    MASKS,
    check_graph,
    check_masks,
    count_splits,
)
from teddy.data.features import compact
from teddy.data.source import StrPath, read_source
from teddy.data.splits import CHOICES, one_split, split_nodes, split_number
from teddy.data.targets import Targets
from teddy.errors import InputError
from teddy.graph.canonical import check_edge_values
from teddy.graph.edges import Edges
from teddy.graph.groups import relation_text
from teddy.graph.relations import check_relations, nodes_of_types
from teddy.tasks.graph_split import as_batch, given_split, graph_set
from teddy.tasks.graphs import GraphKind
from teddy.tasks.kind import Kind
from teddy.tasks.links import LinkKind
from teddy.tasks.registry import kind_for, parse_task
from teddy.tasks.target_nodes import check_target, other_features, target_nodes, with_target_nodes
from teddy.tasks.task import Task


def load_dataset(
    name: StrPath = "citeseer",
    *,
    split: str | int | None = None,
    seed: int = 0,
    data_dir: StrPath | None = None,
    nodes: StrPath | None = None,
    task: str | Task = "classification",
    directed: bool = False,
    target: str | None = None,
) -> Data | HeteroData:
    """Return a data set by name, or from your own files.

    Args:
        name: Name in :func:`teddy.data.list_datasets`, in any case, or a path: ``graph.npz``,
            ``graph.pt``, an edge list in CSV or Parquet, a folder with ``edges.*`` and
            ``nodes.*``, or one with tables of several node types and relations in ``nodes/`` and
            ``edges/``. ``docs/data.md`` describes the layouts.
        split: ``"public"``, ``"random"`` or percentages such as ``"20/40/40"``, see
            :func:`teddy.data.split_nodes`; or the number of one of several splits of the data. By
            default the split of the data, or all of them: then masks are ``[N, K]``, and
            :func:`teddy.find_ticket` takes that of the seed.
        seed: Seed of a drawn split.
        data_dir: Folder of PyG's raw files for data sets that are not bundled; by default the
            environment variable ``TEDDY_DATA``.
        nodes: Node table of an edge list; by default ``nodes.*`` in its folder.
        task: ``classification``, ``multilabel`` or ``regression`` of nodes;
            ``graph-classification`` for a set of graphs; or ``link-prediction``, which ignores
            labels and holds out edges as :func:`teddy.split_links`, by a split such as
            ``"85/5/10"``, the default.
        directed: Whether edges keep their listed direction.
        target: Node type with labels and split, in a heterogeneous graph; by default the only one
            with labels.

    Returns:
        A PyG ``Data``: ``x`` float32, CSR if less than a quarter of it is non-zero;
        ``edge_index`` of the simple graph, both directions unless directed; ``edge_weight`` if
        the file has weights; ``y``, -1 without a label (nan for other tasks); ``train_mask``,
        ``val_mask``, ``test_mask``; ``num_nodes``, ``name``, ``split``; ``node_ids`` and
        ``class_names`` if a table's ids and labels are not 0, 1, 2, ..., and ``feature_names``.
        A set of graphs is a ``Batch``, in which ``y`` and the masks have a row for each graph; see
        :func:`teddy.graph_set`. A heterogeneous graph is a ``HeteroData``: ``x``, ``num_nodes``
        and ``node_ids`` of each type, ``y`` and the masks of the target, ``edge_index`` and
        ``edge_weight`` of each relation, ``name``, ``split``.

    Raises:
        InputError: if the data are missing or invalid; the message is one line.

    Example:
        >>> data = load_dataset("citeseer")
        >>> data.num_nodes, data.num_edges, data.x.layout, data.split
        (3327, 9104, torch.sparse_csr, 'public')
    """
    split = split if split is None else str(split)
    of_links = issubclass(parse_task(task).kind, LinkKind)
    if of_links and directed:
        raise InputError(
            f"the task {parse_task(task).name} does not support directed graphs, expected "
            "directed=False"
        )
    kind, raw, source, label = read_for_task(
        name, task, data_dir, nodes, () if of_links else None, target, directed
    )
    targets = kind.task.targets
    if isinstance(kind, LinkKind):
        return _load_links(kind, raw, source, label, split, seed)
    if isinstance(raw, HeteroData):
        return checked_hetero(
            raw, target, source, label,
            lambda nodes, where: _with_split(nodes, where, split, seed, targets, integers=True),
        )  # fmt: skip
    if isinstance(raw, Batch):
        own_split = "public" if split is None and MASKS[0] in raw else split
        batch = graph_set(raw, own_split, seed, source, targets)
        batch.name = label
        return batch
    graph = _with_split(raw, source, split, seed, targets)
    data = Data(
        x=compact(graph.x),
        **simple_edges(graph, directed, source),
        y=graph.y,
        **{key: graph[key] for key in MASKS},
        num_nodes=graph.x.size(0),
        name=label,
        split=graph.split,
    )
    if "split_seed" in graph:
        data.split_seed = graph.split_seed
    return with_names(data, raw)


def check_loaded(data: Any, task: Task, source: str) -> None:
    """Raise if data are a set of graphs, and the task is for one graph."""
    if isinstance(data, Batch) and not issubclass(task.kind, GraphKind):
        raise InputError(
            f"{source}: is a set of graphs, expected one graph for the task {task.name}, or the "
            "task graph-classification"
        )


def read_for_task(
    name: StrPath,
    task: str | Task,
    data_dir: StrPath | None,
    nodes: StrPath | None,
    classes: Sequence[str] | None,
    target: str | None,
    directed: bool,
) -> tuple[Kind, Any, str, str]:
    """Return the kind of problem, the data, their name in messages, and their name."""
    wanted = parse_task(task)
    raw, source, label = read_source(
        name, data_dir, nodes, wanted.targets, classes, target, directed
    )
    raw = as_batch(raw, source) if isinstance(raw, list) else raw
    hetero, several = isinstance(raw, HeteroData), isinstance(raw, Batch)
    if hetero and wanted.kind is not Kind:
        raise InputError(
            f"{source}: has several node types, expected one for the task {wanted.name}"
        )
    if target is not None and not hetero:
        raise InputError(f"{source}: has one node type, expected no target (--target)")
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
    """Return a checked graph with the masks of its own split, or of a drawn one."""
    graph = copy.copy(check_graph(raw, source, targets, integers=integers))
    public = given_split(raw, source)
    number = split_number(split)
    if public is None and (split in (None, "public") or number is not None):
        raise InputError(f"{source}: has no split, pass split as {CHOICES}")
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


def checked_hetero(
    raw: HeteroData, target: str | None, source: str, label: str, check: Callable[[Data, str], Data]
) -> HeteroData:
    """Return a checked heterogeneous graph with its name; ``check`` checks the target nodes."""
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


def _load_links(
    kind: LinkKind, raw: Data, source: str, label: str, split: str | None, seed: int
) -> Data:
    """Return a graph with its own links, or with drawn ones."""
    if "edge_label_index" in raw:
        if split not in (None, "public"):
            raise InputError(f"{source}: has links already, expected no split '{split}'")
        data = kind.checked(raw, source)
        del data.y  # of the links, rebuilt where needed
        data.split = "public"
    else:
        data = kind.with_rows(bare_graph(raw), split, seed, source)
    data.x, data.name = compact(data.x), label
    return with_names(data, raw, of_classes=False)


def bare_graph(raw: Data) -> Data:
    """Return a graph with features and edges only."""
    kept = {key: raw[key] for key in ("x", "edge_index", "edge_weight") if key in raw}
    return Data(**kept, num_nodes=raw.num_nodes)


def with_names(data: Data, raw: Data, of_classes: bool = True) -> Data:
    """Copy the names of nodes, classes and features to data, and return them."""
    for key in ("node_ids", "class_names", "feature_names"):
        if key in raw and (of_classes or key != "class_names"):
            data[key] = raw[key]
    return data


def simple_edges(
    graph: Data, directed: bool, source: str, self_loops: bool = False
) -> dict[str, Tensor]:
    """Return edges and edge weights of the simple graph, optionally with self-loops."""
    values = {}
    if "edge_weight" in graph:
        columns = graph.edge_index.size(1)
        values["edge_weight"] = check_edge_values("edge_weight", graph.edge_weight, columns, source)
    edges = Edges.from_edge_index(graph.edge_index, graph.x.size(0), values, directed, self_loops)
    return {"edge_index": edges.edge_index, **edges.messages.values}
