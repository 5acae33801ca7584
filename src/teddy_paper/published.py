"""Numbers and claims of the paper, with which our results are compared.

``published.csv`` holds a row for every number of Tables 1 to 9 and of the text, as printed.
Tables and sections are numbered as they appear: the experiments are Section 6. Sparsities,
accuracies and improvements are in per cent, of which the paper does not state whether an
improvement is in points. Forty cells hold no number and have no row: WD-GLT on Arxiv ("N/A",
ten in Table 4, ten in Table 7) and on Reddit ("OOM", ten in Table 5, ten in Table 8).

Where the text gives a graph sparsity alone, ``simulation`` is the level that has it
(43.12% = 1 - 0.95^11). The paper's deg_low, which prunes the edges of lowest degree first, is our
``degree-low``; its deg_high is our ``degree-high``. ``claims.csv`` holds the statements of the text
that results can confirm or refute.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from teddy.errors import InputError

#: Artefacts of the paper with comparable results, and their place in it.
ARTEFACTS = {
    "accuracy": "Figure 6",
    "macs": "Figure 7",
    "pruned-degrees": "Figure 8",
    "extreme": "Table 1",
    "heat-map": "Figure 20",
    "large-scale": "Figure 9",
    "degree-importance": "Figures 1 and 10, Table 2",
    "laplacian-energy": "Figure 2",
    "toy-example": "Figure 4",
    "complexity": "Section A.1",
    "weight-sparsity": "Figures 11 and 12",
    "transformers": "Figures 13 and 14",
    "inductive": "Figures 15 and 16",
    "ablation": "Figures 17 and 18",
    "edges-only": "Figure 19",
    "timing": "Tables 3 to 5",
    "timing-parameters": "Tables 6 to 8",
    "datasets": "Table 9",
}


@dataclass(frozen=True)
class Published:
    """A number of the paper under our names; an empty name stands for all.

    Attributes:
        artefact: Key of :data:`ARTEFACTS`.
        place: Table or section that prints it.
        level: Level of the paper's schedule; 0 for the dense model, None if not given.
        deviation: Standard deviation over 5 runs; None if not given.
    """

    artefact: str
    place: str
    dataset: str
    model: str
    method: str
    level: int | None
    quantity: str
    value: float
    deviation: float | None


@dataclass(frozen=True)
class Claim:
    """A statement of the text.

    Attributes:
        artefact: Key of :data:`ARTEFACTS` with results to check it.
        place: Section.
        text: Words of the paper, without LaTeX.
        note: Disagreement with the paper's own numbers or words; mostly empty.
    """

    id: str
    artefact: str
    place: str
    text: str
    note: str = ""


def published(artefact: str, **where: str | int | None) -> list[Published]:
    """Numbers of an artefact, in the order of the paper.

    ``where`` gives values of fields of :class:`Published`; None: any.

    Example:
        >>> for row in published("extreme", dataset="cora", quantity="test_accuracy")[:2]:
        ...     print(row.place, row.method, row.level, row.value, row.deviation)
        Table 1 dense 0 76.34 0.79
        Table 1 teddy 20 76.2 0.69
        >>> published("timing", dataset="arxiv", method="wd-glt")  # "N/A" in the paper
        []
    """
    _check_known("artefact", artefact, list(ARTEFACTS))
    query = {name: value for name, value in where.items() if value is not None}
    if "quantity" in query:
        _check_known("quantity", query["quantity"], sorted({row.quantity for row in _numbers()}))
    if "dataset" in query:
        query["dataset"] = str(query["dataset"]).lower()
    query["artefact"] = artefact
    return [row for row in _numbers() if all(getattr(row, n) == v for n, v in query.items())]


def published_value(artefact: str, **where: str | int | None) -> Published | None:
    """The only matching number of the paper, or None.

    Example:
        >>> number = published_value("accuracy", dataset="citeseer", quantity="test_accuracy")
        >>> number.place, number.model, number.level, number.value
        ('Section 6.1', 'gin', 11, 73.2)
    """
    numbers = published(artefact, **where)
    if len(numbers) > 1:
        raise InputError(f"{len(numbers)} numbers of '{artefact}' match, expected one at most")
    return numbers[0] if numbers else None


def _check_known(what: str, got: object, known: list[str]) -> None:
    if got not in known:
        raise InputError(f"unknown {what} '{got}', expected one of: {', '.join(known)}")


def _read(name: str) -> Iterator[dict[str, str]]:
    text = files("teddy_paper").joinpath(name).read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())


@cache
def _numbers() -> list[Published]:
    return [
        Published(
            row["artefact"], row["place"], row["dataset"], row["model"], row["method"],
            int(row["simulation"]) if row["simulation"] else None,
            row["quantity"],
            float(row["value"]),
            float(row["deviation"]) if row["deviation"] else None,
        )
        for row in _read("published.csv")
    ]  # fmt: skip


#: Statements of the text, in the order of the paper.
CLAIMS = [Claim(**row) for row in _read("claims.csv")]
