"""The published numbers against the paper's source, where it is beside the repository."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import torch

from teddy.errors import InputError
from teddy.methods import METHODS
from teddy.prune import edge_scores
from teddy.sparsity import schedule_sparsity
from teddy_paper.published import ARTEFACTS, CLAIMS, published, published_value

ROWS = [row for artefact in ARTEFACTS for row in published(artefact)]


@pytest.fixture(scope="module")
def paper() -> str:
    """The LaTeX source."""
    path = Path(__file__).parents[3] / "shared" / "paper" / "teddy.tex"
    if not path.is_file():
        pytest.skip("no ../shared/paper/teddy.tex")
    return path.read_text(encoding="utf-8")


def plain(latex: str) -> str:
    """LaTeX as a reader sees it, as far as the claims go."""
    text = re.sub(r"\\(citet?p?|ref|label)\{[^}]*\}", "", latex.replace("~", " "))
    text = re.sub(r"\\textsc\{Teddy\}", "TEDDY", text)
    for command, sign in (
        (r"\sim", "~"),
        (r"\approx", "≈"),
        (r"\theta", "θ"),
        (r"\ell", "l"),
        ("\u2019", "'"),
        (r"\%", "%"),
        (r"\!", ""),
    ):
        text = text.replace(command, sign)
    text = re.sub(r"\\[a-zA-Z]+ ?", "", text)  # \textit, \text, \mathcal
    return " ".join(re.sub(r"[{}$]", "", text).split())


def tables(latex: str) -> list[str]:
    return re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", latex, re.DOTALL)


def test_counts_by_place():
    assert Counter(row.place for row in ROWS) == {
        "Table 1": 30,
        "Table 2": 90,
        "Table 3": 135,
        "Table 4": 20,
        "Table 5": 20,
        "Table 6": 135,
        "Table 7": 20,
        "Table 8": 20,
        "Table 9": 35,
        "Section 6.1": 10,
        "Section 6.2": 8,
        "Section A.5": 3,
        "Section A.8": 5,
        "Section A.9": 3,
    }


def test_every_cell_of_the_tables_in_order(paper):
    cells = re.compile(r"(\d+\.\d+) \\fontsize\{\d+\}\{\d+\}\\selectfont\$\\pm\$ (\d+\.\d+)")
    for number, table in enumerate(tables(paper), start=1):
        ours = [
            (row.value, row.deviation)
            for row in ROWS
            if row.place == f"Table {number}" and row.deviation is not None
        ]
        assert len(ours) == table.count(r"\pm")
        assert ours == [(float(value), float(spread)) for value, spread in cells.findall(table)]


def test_cells_without_a_number(paper):
    absent = [len(re.findall(r"\{(?:N/A|OOM)\}", table)) for table in tables(paper)]
    assert absent == [0, 0, 0, 10, 10, 0, 10, 10, 0]


def test_numbers_of_the_text_are_in_the_paper(paper):
    text = plain(paper)
    for row in ROWS:
        if row.place.startswith("Section"):
            assert re.search(rf"(?<![\d.]){row.value:g}0?(?![\d]|\.\d)", text), row


@pytest.mark.parametrize(
    ("artefact", "dataset", "model", "method", "simulation", "value", "deviation"),
    [
        ("extreme", "pubmed", "gin", "teddy", 40, 80.98, 0.42),
        ("extreme", "citeseer", "gin", "dense", 0, 68.10, 0.77),
        ("degree-importance", "cora", "gcn", "degree-low", 1, 80.38, 0.19),
        ("degree-importance", "cora", "gcn", "degree-high", 20, 72.62, 0.32),
        ("degree-importance", "pubmed", "gat", "degree-low", 20, 44.10, 0.57),
        ("degree-importance", "citeseer", "gin", "degree-high", 10, 68.46, 0.48),
        ("timing", "cora", "gcn", "ugs", 1, 6.30, 0.55),
        ("timing", "pubmed", "gin", "wd-glt", 15, 223.74, 4.99),
        ("timing", "arxiv", "sage", "teddy", 5, 41.96, 0.02),
        ("timing", "reddit", "gcn", "teddy", 20, 23.51, 0.10),
        ("timing-parameters", "citeseer", "gat", "wd-glt", 15, 57.30, 1.17),
        ("timing-parameters", "reddit", "sage", "ugs", 10, 188.02, 31.74),
    ],
)
def test_single_numbers(artefact, dataset, model, method, simulation, value, deviation):
    found = published_value(
        artefact,
        dataset=dataset,
        model=model,
        method=method,
        level=simulation,
        quantity="seconds" if artefact.startswith("timing") else "test_accuracy",
    )
    assert (found.value, found.deviation) == (value, deviation)


def test_data_sets():
    cora = {row.quantity: row.value for row in published("datasets", dataset="Cora")}
    assert cora == {
        "nodes": 2708,
        "edges": 5429,
        "classes": 7,
        "features": 1433,
        "train_nodes": 120,
        "validation_nodes": 500,
        "test_nodes": 1000,
    }
    reddit = {row.quantity: row.value for row in published("datasets", dataset="reddit")}
    assert reddit["edges"] == 23213838
    assert reddit["train_percent"] == 66


def test_no_two_numbers_for_one_thing():
    keys = [(r.artefact, r.dataset, r.model, r.method, r.level, r.quantity) for r in ROWS]
    assert len(set(keys)) == len(keys)


def test_simulations_have_the_sparsity_that_is_printed():
    printed = [row for row in ROWS if row.quantity.endswith("_sparsity") and row.level]
    assert len(printed) == 17
    for row in printed:
        within = 0.5 if row.value == int(row.value) else 0.02  # "40%" and "87%" are rounded
        assert row.value == pytest.approx(100 * schedule_sparsity(row.level), abs=within)


def test_methods_are_ours():
    assert {row.method for row in ROWS} - {"", "dense"} <= set(METHODS)


def test_degree_names_match_the_paper():
    star_and_far_edge = torch.tensor([[0, 0, 0, 4], [1, 2, 3, 5]])
    low = edge_scores(star_and_far_edge, "degree-low")
    high = edge_scores(star_and_far_edge, "degree-high")
    assert low.argmin() == 3  # the lowest score goes first: deg_low removes the far edge
    assert high.argmax() == 3


def test_numbers_that_the_text_derives_from_tables():
    def seconds(method, **where):
        return published_value("timing", method=method, quantity="seconds", **where).value

    gin = {"dataset": "pubmed", "model": "gin", "level": 15}
    assert seconds("wd-glt", **gin) - seconds("teddy", **gin) == pytest.approx(220.72)
    gcn = {"dataset": "reddit", "model": "gcn", "level": 20}
    assert seconds("ugs", **gcn) - seconds("teddy", **gcn) == pytest.approx(131.84)


def test_lookups():
    assert len(published("timing")) == 177
    assert len(published("timing", dataset="arxiv", model="gcn", method="teddy")) == 5
    assert published("toy-example") == []
    assert published("accuracy", dataset="my-set") == []
    assert published_value("timing", dataset="reddit", method="wd-glt") is None
    assert published_value("extreme", level=0, quantity="weight_sparsity").value == 0


def test_errors():
    with pytest.raises(InputError, match="unknown artefact 'speed', expected one of: accuracy"):
        published("speed")
    with pytest.raises(InputError, match="unknown quantity 'second', expected one of: classes"):
        published("timing", quantity="second")
    with pytest.raises(InputError, match="5 numbers of 'timing' match, expected one at most"):
        published_value("timing", dataset="arxiv", model="gcn", method="ugs")


def test_claim_ids():
    ids = [claim.id for claim in CLAIMS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+", short) for short in ids)


def test_every_artefact_has_a_claim_and_every_claim_an_artefact():
    assert {claim.artefact for claim in CLAIMS} == set(ARTEFACTS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_claims_are_the_papers_words(claim, paper):
    assert claim.text in plain(paper)
