"""Table 9: the data sets."""

from __future__ import annotations

from teddy.errors import InputError
from teddy.graph import Edges
from teddy.tasks import load_dataset
from teddy_paper.published import published_value
from teddy_paper.reproduction import Finding, Result, ResultTable, Scope, reproduction
from teddy_paper.results import Results

_QUANTITIES = (
    "nodes", "edges", "classes", "features", "train_nodes", "validation_nodes", "test_nodes",
)  # fmt: skip


@reproduction("datasets", ("Table 9",), "Statistics of the data sets")
def datasets(results: Results, scope: Scope) -> Result:
    """Statistics of the data sets, beside the paper's."""
    rows, wrong = [], []
    for name in scope.datasets:
        try:
            counted = statistics(name, scope)
        except InputError:  # not available
            continue
        for quantity, ours in counted.items():
            paper = published_value("datasets", dataset=name, quantity=quantity)
            theirs = None if paper is None else int(paper.value)
            rows.append([name, quantity, ours, theirs, None if theirs is None else ours - theirs])
            if theirs is not None and ours != theirs:
                wrong.append(f"{name} {quantity}: {ours}, paper {theirs}")
    table = ResultTable(
        "datasets", "Data sets", ("dataset", "quantity", "ours", "paper", "difference"), rows
    )
    evidence = "; ".join(wrong) or "all as printed"
    note = (
        "Edges are those of the simple undirected graph: no self-loops, no duplicates. The "
        "paper's counts are those of the citation files, with both; its training nodes of Cora "
        "and CiteSeer are swapped."
    )
    return Result([table], findings=[Finding("datasets-statistics", not wrong, evidence)],
                  notes=[note])  # fmt: skip


def statistics(name: str, scope: Scope) -> dict[str, int]:
    """Statistics of Table 9 for a data set.

    Example:
        >>> statistics("citeseer", Scope())["edges"]
        4552
    """
    data = load_dataset(name, data_dir=scope.data_dir)
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    masks = (data.train_mask, data.val_mask, data.test_mask)
    sizes = (
        graph.num_nodes, graph.num_edges, int(data.y.max()) + 1, data.x.size(1),
        *(int(mask.sum()) for mask in masks),
    )  # fmt: skip
    return dict(zip(_QUANTITIES, sizes, strict=True))
