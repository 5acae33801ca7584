"""Our numbers beside the paper's."""

from __future__ import annotations

from typing import Any

from teddy_paper.published import published_value
from teddy_paper.results import Results

#: Columns of a comparison: ours, the paper's, the difference in points and in the paper's standard
#: deviations; and ours against our dense models.
COLUMNS = (
    "dataset", "model", "method", "simulation", "seeds", "ours", "deviation",
    "paper", "paper deviation", "difference", "in deviations",
    "dense", "last epoch", "verdict",
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
        results: Our results.
        artefact: Artefact of the paper.
        dataset: The data set.
        model: The model.
        method: Our method, with its options; ``dense`` for the dense models.
        simulation: The level.
        theirs: The paper's name for the method, where it isn't ours.

    Example:
        >>> row = beside(Results([]), "extreme", "cora", "gin", "teddy", 40)
        >>> row[7:9]
        [76.82, 1.0]
    """
    found = None if method == "dense" else results.get(dataset, model, method, simulation)
    dense = results.dense(dataset, model)
    ours = dense if method == "dense" else None
    if found is not None:
        ours = found.mean, found.deviation, found.seeds
    paper = published_value(
        artefact, dataset=dataset, model=model, method=theirs or method, simulation=simulation,
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
        dataset, model, method, simulation, seeds, mean, deviation,
        None if paper is None else paper.value, None if paper is None else paper.deviation,
        difference, scaled,
        found.dense if found is not None else None if dense is None else dense[0],
        None if found is None else found.last,
        None if found is None else found.verdict,
    ]  # fmt: skip
