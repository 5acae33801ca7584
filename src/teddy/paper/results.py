"""A sweep's results, looked up by what they are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from teddy.chart import Line, Panel
from teddy.sweep.statistics import Difference, paired_difference, spread
from teddy.sweep.summary import Summary, summarize


class Results:
    """Means over seeds of all cells that are there.

    Args:
        rows: As of :func:`teddy.sweep.read_table`.

    Example:
        >>> Results([]).get("cora", "gcn", "teddy", 20) is None
        True
    """

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self.rows = list(rows)
        self._summaries = {
            (s.dataset, s.model, s.method, s.simulation): s for s in summarize(self.rows)
        }
        self._cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self.rows:
            key = row["dataset"], row["model"], row["method"], row["simulation"]
            self._cells.setdefault(key, []).append(row)

    def get(self, dataset: str, model: str, method: str, simulation: int) -> Summary | None:
        """The seeds of a cell together; None if there are none."""
        return self._summaries.get((dataset, model, method, simulation))

    def column(
        self, dataset: str, model: str, method: str, simulation: int, name: str
    ) -> list[Any]:
        """A column's values that are known, one a seed."""
        rows = self._cells.get((dataset, model, method, simulation), [])
        return [row[name] for row in rows if row.get(name) is not None]

    def mean(
        self, dataset: str, model: str, method: str, simulation: int, name: str
    ) -> float | None:
        """A column's mean over seeds."""
        return mean(self.column(dataset, model, method, simulation, name))

    def difference(
        self, dataset: str, model: str, ours: str, theirs: str, simulation: int
    ) -> Difference | None:
        """Test accuracy of one method minus another's, paired over the seeds that both have."""
        mine, others = (
            {row["seed"]: row for row in self._cells.get(key, [])}
            for key in ((dataset, model, name, simulation) for name in (ours, theirs))
        )
        both = sorted(mine.keys() & others.keys())
        if not both:
            return None
        return paired_difference(
            [mine[seed]["test"] for seed in both],
            [others[seed]["test"] for seed in both],
            test_rows=mine[both[0]]["test_rows"],
        )

    def to_dense(
        self,
        datasets: Sequence[str],
        models: Sequence[str],
        method: str,
        simulations: Sequence[int],
    ) -> list[Difference | None]:
        """Ticket minus dense of every cell; None where there is none."""
        cells = product(datasets, models, simulations)
        found = [self.get(d, m, method, i) for d, m, i in cells]
        return [None if s is None else s.difference for s in found]

    def dense(self, dataset: str, model: str) -> tuple[float, float, int] | None:
        """Mean, deviation and number of the dense models' test accuracies."""
        by_seed = {
            row["seed"]: row["dense_test"]
            for row in self.rows
            if (row["dataset"], row["model"]) == (dataset, model)
        }
        tests = list(by_seed.values())
        return (sum(tests) / len(tests), spread(tests), len(tests)) if tests else None

    def settings(self, datasets: Sequence[str], models: Sequence[str]) -> list[tuple[str, str]]:
        """The pairs of data set and model of which there is something."""
        return [(d, m) for d in datasets for m in models if self.dense(d, m) is not None]

    def line(
        self,
        dataset: str,
        model: str,
        method: str,
        simulations: Sequence[int],
        x: str = "graph_sparsity",
    ) -> Line | None:
        """A method's accuracy against a sparsity, in percent; None if there is nothing."""
        found = [self.get(dataset, model, method, i) for i in simulations]
        there = [s for s in found if s is not None]
        if not there:
            return None
        return Line(
            method,
            [100 * getattr(s, x) for s in there],
            [s.mean for s in there],
            [s.deviation for s in there],
        )

    def panel(
        self,
        dataset: str,
        model: str,
        methods: Sequence[str],
        simulations: Sequence[int],
        x: str = "graph_sparsity",
    ) -> Panel:
        """Accuracy of some methods against a sparsity, with the dense model's."""
        lines = [self.line(dataset, model, method, simulations, x) for method in methods]
        dense = self.dense(dataset, model)
        what = "edges" if x == "graph_sparsity" else "weights"
        return Panel(
            f"{known_as(model)}, {known_as(dataset)}",
            f"{what} removed (%)",
            "test accuracy (%)",
            [line for line in lines if line is not None],
            level=None if dense is None else dense[0],
        )

    def panels(
        self,
        settings: Iterable[tuple[str, str]],
        methods: Sequence[str],
        simulations: Sequence[int],
        x: str = "graph_sparsity",
    ) -> list[Panel]:
        """A panel for each pair of data set and model that has something to show."""
        panels = [self.panel(d, m, methods, simulations, x) for d, m in settings]
        return [panel for panel in panels if panel.marks]


#: Data sets as the paper's readers know them.
_TITLES = {
    "cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed",
    "gcn": "GCN", "gat": "GAT", "gin": "GIN", "sage": "SAGE",
    "unimp": "UniMP", "nagphormer": "NAGphormer", "specformer": "Specformer",
}  # fmt: skip


def known_as(name: str) -> str:
    """A data set or a model as papers write it.

    Example:
        >>> known_as("pubmed"), known_as("sage:hidden=256"), known_as("my-graph")
        ('PubMed', 'SAGE:hidden=256', 'my-graph')
    """
    first, colon, options = name.partition(":")
    return _TITLES.get(first, first) + colon + options


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing.

    Example:
        >>> mean([1.0, 2.0]), mean([])
        (1.5, None)
    """
    return sum(values) / len(values) if values else None
