"""Data sets for a ticket, in which labels may be missing."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch_geometric.data import Batch, Data, HeteroData

from teddy.data.checks import MASKS, PRUNED_BY, check_graph, check_mask
from teddy.data.features import compact
from teddy.data.source import StrPath
from teddy.data.targets import Targets
from teddy.errors import InputError
from teddy.tasks.graph_split import as_batch, given_split, with_graph_values
from teddy.tasks.links import LinkKind
from teddy.tasks.load import (
    bare_graph,
    checked_hetero,
    read_for_task,
    simple_edges,
    with_names,
)
from teddy.tasks.registry import kind_from, task_from
from teddy.tasks.task import Task


def load_to_predict(
    name: StrPath,
    *,
    classes: Sequence[str] | None = None,
    data_dir: StrPath | None = None,
    nodes: StrPath | None = None,
    task: str | Task = "classification",
    directed: bool = False,
    self_loops: bool = False,
    integers: bool = False,
    target: str | None = None,
) -> Data | HeteroData:
    """Return a data set for prediction: labels and split may be missing.

    It is :func:`load_dataset` otherwise, which describes the other arguments.

    Args:
        name: Name or path.
        classes: Names of the model's classes, in order; every label of a table must be one of
            them. None: labels are numbers.
        self_loops: Whether self-loops are kept, for a module that takes them.
        integers: Whether integer ``x`` is kept, as ids for an embedding.
        target: Predicted node type; required without labels.

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
    kind, raw, source, label = read_for_task(
        name, task, data_dir, nodes, classes or (), target, directed
    )
    targets = kind.task.targets
    if isinstance(raw, HeteroData):
        return checked_hetero(
            raw, target, source, label,
            lambda nodes, where: _to_predict(nodes, where, targets, classes, integers=True),
        )  # fmt: skip
    if isinstance(kind, LinkKind):
        has_links = "edge_label_index" in raw
        data = kind.checked(raw, source, labelled=False) if has_links else bare_graph(raw)
        data.x, data.name = compact(data.x), label
        return with_names(data, raw, of_classes=False)
    if isinstance(raw, Batch):
        batch = as_batch(raw, source)
        if "y" in batch:
            y = targets.check(batch.y, batch.num_graphs, source)
            batch = with_graph_values(batch, y=y)
        batch.name = label
        _check_classes(batch, classes, source)
        return batch
    graph = _to_predict(raw, source, targets, classes, integers)
    data = Data(
        x=compact(graph.x) if graph.x.is_floating_point() else graph.x,
        **simple_edges(graph, directed, source, self_loops),
        num_nodes=graph.x.size(0),
        name=label,
    )
    for key in (PRUNED_BY, "y", *MASKS):
        if graph.get(key) is not None:
            data[key] = graph[key]
    return with_names(data, raw)


def _to_predict(
    raw: Data, source: str, targets: Targets, classes: Sequence[str] | None, integers: bool
) -> Data:
    """Return a checked graph with its labels and masks, if any."""
    graph = copy.copy(check_graph(raw, source, targets, labelled=False, integers=integers))
    if graph.get("y") is not None:
        _check_classes(graph, classes, source)
    if given_split(raw, source) is not None:
        for key in MASKS:
            graph[key] = check_mask(raw, key, graph.x.size(0), source, several=True)
    return graph


def load_for_ticket(
    dataset: str,
    info: Any,
    split: str | None = None,
    split_seed: int | None = None,
    nodes: Path | None = None,
    data_dir: Path | None = None,
) -> Data | HeteroData:
    """Load data for a ticket.

    Labels may be missing, and have the ticket's numbers. A requested split must exist or be drawn;
    the ticket's own one is drawn if possible.

    Args:
        dataset: Name or path.
        info: Header of the ticket.
        split: Name of a split; None: the ticket's.
        split_seed: Seed of a split that is drawn; None: the ticket's.
        nodes: Node table of an edge list.
        data_dir: Folder of raw data sets.
    """
    task = task_from(info.task)
    kind, classes = kind_from(task, info), list[str]()
    if "classes" in info.graph:
        classes = info.classes or [str(number) for number in range(info.graph["classes"])]
    data = load_to_predict(
        dataset, classes=classes, data_dir=data_dir, nodes=nodes, task=task,
        directed=kind.directed,
        target=kind.header.get("target"), self_loops=info.graph.get("self_loops", False),
        integers="integer_x" in info.graph,
    )  # fmt: skip
    return kind.with_split(data, split, split_seed, dataset)


def _check_classes(data: Data, classes: Sequence[str] | None, source: str) -> None:
    """Raise if a label is not one of a model's classes."""
    if classes and "y" in data and int(data.y.max()) >= len(classes):
        place = int(data.y.argmax())
        raise InputError(
            f"{source}: y[{place}] is {int(data.y[place])}, expected a class of the model, "
            f"0 to {len(classes) - 1}, or -1"
        )
