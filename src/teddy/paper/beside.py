"""Our numbers beside the paper's."""

from __future__ import annotations

from typing import Any

from teddy.paper.published import published_value
from teddy.paper.results import Results

#: Columns of a comparison; the last is the difference in the paper's standard deviations.
COLUMNS = (
    "dataset", "model", "method", "simulation", "seeds", "ours", "deviation",
    "paper", "paper deviation", "difference", "in deviations",
)  # fmt: skip


def beside(
    results: Results,
    artefact: str,
    dataset: str,
    model: str,
    method: str,
    simulation: int,
    *,
    theirs: str | None = None,
) -> list[Any]:
    """A row of a comparison of test accuracies.

    Args:
        results: Ours.
        artefact: Of the paper.
        dataset: The graph.
        model: The model.
        method: Ours, with its options; ``dense`` for the dense models.
        simulation: The level.
        theirs: The paper's name for the method, where it isn't ours.

    Example:
        >>> row = beside(Results([]), "extreme", "cora", "gin", "teddy", 40)
        >>> row[7:9]
        [76.82, 1.0]
    """
    if method == "dense":
        ours = results.dense(dataset, model)
    else:
        found = results.get(dataset, model, method, simulation)
        ours = None if found is None else (found.mean, found.deviation, found.seeds)
    paper = published_value(
        artefact, dataset=dataset, model=model, method=theirs or method, simulation=simulation,
        quantity="test_accuracy",
    )  # fmt: skip
    mean, deviation, seeds = (None, None, 0) if ours is None else ours
    difference = scaled = None
    if mean is not None and paper is not None:
        difference = mean - paper.value
        scaled = difference / paper.deviation if paper.deviation else None
    return [
        dataset, model, method, simulation, seeds, mean, deviation,
        None if paper is None else paper.value, None if paper is None else paper.deviation,
        difference, scaled,
    ]  # fmt: skip
