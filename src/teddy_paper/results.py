"""Results of a sweep by data set, model, method and level, beside the paper's numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from teddy.report.chart import Chart, Line, Panel
from teddy.sweep.statistics import Difference, known_mean, paired_difference, spread
from teddy.sweep.summary import Summary, summarize
from teddy_paper.published import published_value


class Results:
    """Means over seeds of all computed cells.

    Args:
        rows: Rows of :func:`teddy.sweep.read_table`.

    Example:
        >>> Results([]).get("cora", "gcn", "teddy", 20) is None
        True
    """

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = list(rows)
        self._summaries = {(s.dataset, s.model, s.method, s.level): s for s in summarize(self.rows)}
        self._cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self.rows:
            key = row["dataset"], row["model"], row["method"], row["simulation"]
            self._cells.setdefault(key, []).append(row)

    def get(self, dataset: str, model: str, method: str, level: int) -> Summary | None:
        """Summary of a cell over seeds, or None."""
        return self._summaries.get((dataset, model, method, level))

    def mean(self, dataset: str, model: str, method: str, level: int, name: str) -> float | None:
        """Mean of a column over the seeds that have it."""
        rows = self._cells.get((dataset, model, method, level), [])
        return known_mean(row.get(name) for row in rows)

    def difference(
        self, dataset: str, model: str, ours: str, theirs: str, level: int
    ) -> Difference | None:
        """Difference of two methods in test accuracy, paired over their common seeds."""
        rows, other_rows = (
            {row["seed"]: row for row in self._cells.get(key, [])}
            for key in ((dataset, model, name, level) for name in (ours, theirs))
        )
        both = sorted(rows.keys() & other_rows.keys())
        if not both:
            return None
        return paired_difference(
            [rows[seed]["test"] for seed in both],
            [other_rows[seed]["test"] for seed in both],
            test_rows=rows[both[0]]["test_rows"],
        )

    def differences(
        self, datasets: Sequence[str], models: Sequence[str], ours: str, theirs: str,
        levels: Sequence[int],
    ) -> list[Difference | None]:  # fmt: skip
        """Differences of two methods in every cell; None without common seeds."""
        cells = product(datasets, models, levels)
        return [self.difference(d, m, ours, theirs, i) for d, m, i in cells]

    def to_dense(
        self, datasets: Sequence[str], models: Sequence[str], method: str,
        levels: Sequence[int],
    ) -> list[Difference | None]:  # fmt: skip
        """Differences of tickets to dense models in every cell, or None."""
        cells = (self.get(d, m, method, i) for d, m, i in product(datasets, models, levels))
        return [None if s is None else s.difference for s in cells]

    def dense(self, dataset: str, model: str) -> tuple[float, float, int] | None:
        """Mean, standard deviation and number of the dense models' test accuracies."""
        by_seed = {
            row["seed"]: row["dense_test"]
            for row in self.rows
            if (row["dataset"], row["model"]) == (dataset, model)
        }
        tests = list(by_seed.values())
        return (sum(tests) / len(tests), spread(tests), len(tests)) if tests else None

    def settings(self, datasets: Sequence[str], models: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs of data set and model with results."""
        return [(d, m) for d in datasets for m in models if self.dense(d, m) is not None]

    def panels(
        self, settings: Iterable[tuple[str, str]], methods: Sequence[str],
        levels: Sequence[int], x: str = "graph_sparsity",
    ) -> list[Panel]:  # fmt: skip
        """Panels of accuracy against a sparsity in percent, for each data set and model.

        A pair without results of these methods has no panel.
        """
        what = "edges" if x == "graph_sparsity" else "weights"
        panels = []
        for dataset, model in settings:
            lines = []
            for method in methods:
                cells = [self.get(dataset, model, method, i) for i in levels]
                if summaries := [s for s in cells if s is not None]:
                    shares = [100 * getattr(s, x) for s in summaries]
                    deviations = [s.deviation for s in summaries]
                    lines.append(Line(method, shares, [s.mean for s in summaries], deviations))
            if lines:
                dense = self.dense(dataset, model)
                title = f"{display_name(model)}, {display_name(dataset)}"
                panels.append(
                    Panel(title, f"{what} removed (%)", "test accuracy (%)", lines,
                          level=dense and dense[0])
                )  # fmt: skip
        return panels

    def sparsity_charts(
        self, name: str, title: str, settings: Sequence[tuple[str, str]], methods: Sequence[str],
        levels: Sequence[int],
    ) -> list[Chart]:  # fmt: skip
        """Charts of accuracy against graph sparsity and against weight sparsity."""
        charts = []
        for what in ("graph", "weight"):
            panels = self.panels(settings, methods, levels, f"{what}_sparsity")
            charts.append(Chart(f"{name}-{what}", f"{title} against {what} sparsity", panels))
        return charts


#: Columns of a comparison: ours, the paper's, the difference in points and in the paper's standard
#: deviations, and our dense models.
COMPARISON_COLUMNS = (
    "dataset", "model", "method", "simulation", "seeds", "ours", "deviation",
    "paper", "paper deviation", "difference", "in deviations",
    "dense", "last epoch", "verdict",
)  # fmt: skip


def compare_with_paper(
    results: Results, artefact: str, dataset: str, model: str, method: str, level: int, *,
    theirs: str | None = None,
) -> list[Any]:  # fmt: skip
    """Row of test accuracies beside the paper's, with the columns :data:`COMPARISON_COLUMNS`.

    ``method`` may be ``dense``, and ``theirs`` is the paper's name of the method if it differs.

    Example:
        >>> row = compare_with_paper(Results([]), "extreme", "cora", "gin", "teddy", 40)
        >>> row[7:9]
        [76.82, 1.0]
    """
    summary = None if method == "dense" else results.get(dataset, model, method, level)
    dense = results.dense(dataset, model)
    ours = dense if method == "dense" else None
    if summary is not None:
        ours = summary.mean, summary.deviation, summary.seeds
    paper = published_value(
        artefact, dataset=dataset, model=model, method=theirs or method, level=level,
        quantity="test_accuracy",
    )  # fmt: skip
    mean, deviation, seeds = (None, None, 0) if ours is None else ours
    if seeds == 1:
        deviation = None
    difference = scaled = None
    if mean is not None and paper is not None:
        difference = mean - paper.value
        scaled = difference / paper.deviation if paper.deviation else None
    return [
        dataset, model, method, level, seeds, mean, deviation,
        None if paper is None else paper.value, None if paper is None else paper.deviation,
        difference, scaled,
        summary.dense if summary is not None else None if dense is None else dense[0],
        None if summary is None else summary.last,
        None if summary is None else summary.verdict,
    ]  # fmt: skip


_TITLES = {
    "cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed",
    "gcn": "GCN", "gat": "GAT", "gin": "GIN", "sage": "SAGE",
    "unimp": "UniMP", "nagphormer": "NAGphormer", "specformer": "Specformer",
}  # fmt: skip


def display_name(name: str) -> str:
    """Name of a data set or model in the spelling of papers.

    Example:
        >>> display_name("pubmed"), display_name("sage:num_layers=3"), display_name("my-graph")
        ('PubMed', 'SAGE:num_layers=3', 'my-graph')
    """
    first, colon, options = name.partition(":")
    return _TITLES.get(first, first) + colon + options
