"""Tables 3 and 6: duration of a level, overall and for the parameters alone."""

from __future__ import annotations

from itertools import product
from typing import Any

from teddy.sweep import Grid
from teddy.sweep.statistics import known_mean
from teddy_paper.published import published_value
from teddy_paper.reproduction import MODELS, Finding, Result, ResultTable, Scope, reproduction
from teddy_paper.results import Results

METHODS = ("teddy", "ugs", "wd-glt")
#: The methods with edges and weights, and with weights alone, by the paper's tables.
KINDS = {"timing": "", "timing-parameters": ":only=weights"}


def grids(scope: Scope) -> list[Grid]:
    """Grids of level 1 of each method; the time hardly depends on the level."""
    every = [f"{method}{kind}" for kind in KINDS.values() for method in METHODS[:2]]
    sinkhorn = [f"wd-glt{kind}" for kind in KINDS.values()]
    small = [d for d in scope.datasets if d != "pubmed"] or scope.datasets
    few = ["gcn"] if scope.quick else ["gcn", "gin"]
    return [
        scope.grid(every, levels=[1], iterative=True),
        scope.grid(sinkhorn, few, [1], small, iterative=True),
    ]


@reproduction(
    "timing",
    ("Table 3", "Table 6"),
    "Duration of a simulation",
    grids,
    artefacts=("timing", "timing-parameters"),
    measures_time=True,
)
def timing(results: Results, scope: Scope) -> Result:
    """Seconds of each method and their ratio to TEDDY's, beside the paper's."""
    tables, findings = [], []
    for artefact, kind in KINDS.items():
        rows = []
        for (dataset, model), method in product(results.settings(scope.datasets, MODELS), METHODS):
            ours = results.get(dataset, model, f"{method}{kind}", 1)
            base = results.get(dataset, model, f"teddy{kind}", 1)
            if ours is None or base is None or not base.seconds:
                continue
            paper = _paper(artefact, dataset, model, method)
            paper_base = _paper(artefact, dataset, model, "teddy")
            ratio = paper / paper_base if paper and paper_base else None
            times = ours.seconds / base.seconds
            rows.append([dataset, model, method, ours.seconds, paper, times, ratio])
        columns = (
            "dataset", "model", "method", "seconds", "paper's seconds", "times TEDDY",
            "paper's times TEDDY",
        )  # fmt: skip
        title = "Seconds of simulation 1" + (", weights alone" if kind else "")
        tables.append(ResultTable(artefact, title, columns, rows))
        findings.append(_finding(artefact, rows))
    return Result(
        tables,
        findings=findings,
        notes=[
            "A simulation is the last round of masks, where there is one, and the ticket's "
            "training; the dense training comes once, for all methods. One thread, one process "
            "at a time; the paper's seconds are those of a GPU."
        ],
    )


def _paper(artefact: str, dataset: str, model: str, method: str) -> float | None:
    number = published_value(
        artefact, dataset=dataset, model=model, method=method, level=1, quantity="seconds"
    )
    return None if number is None else number.value


def _finding(artefact: str, rows: list[list[Any]]) -> Finding:
    ratios = {name: [row[5] for row in rows if row[2] == name] for name in METHODS[1:]}
    evidence = "; ".join(
        f"{name} takes {min(values):.1f} to {max(values):.1f} times TEDDY's time"
        for name, values in ratios.items()
        if values
    )
    every = [value for values in ratios.values() for value in values]
    if artefact == "timing":
        return Finding("timing-reduction", min(every) > 1 if every else None, evidence or "no runs")
    most = known_mean(float(value > 2) for value in every)
    twice = None if most is None else most > 0.5
    return Finding("timing-parameters-twice", twice, evidence or "no runs")
