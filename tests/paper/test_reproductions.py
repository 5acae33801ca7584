"""Reproductions on results made by hand."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from paper.rows import curve, row
from teddy.errors import InputError
from teddy.methods.spec import MethodSpec
from teddy.report import save_chart
from teddy.report.chart import Heatmap
from teddy_paper.compute import resolve_names
from teddy_paper.laplacian_energy import quartiles, read_changes
from teddy_paper.published import CLAIMS
from teddy_paper.reproduction import CITATION, REPRODUCTIONS, Scope
from teddy_paper.results import COMPARISON_COLUMNS, Results, compare_with_paper
from teddy_paper.write import to_csv, to_markdown, write_result

SCOPE = Scope(datasets=("citeseer",))


def findings(name, rows, scope=SCOPE):
    """Findings if all of the paper's data sets had these rows."""
    rows = [{**one, "dataset": dataset} for one in rows for dataset in CITATION]
    result = REPRODUCTIONS[name].make(Results(rows), scope)
    return {finding.claim: finding.holds for finding in result.findings}


def test_every_claim_has_someone_to_judge_it_or_waits_for_a_capability():
    judged = {artefact for name in REPRODUCTIONS for artefact in REPRODUCTIONS[name].artefacts}
    waiting = {claim.artefact for claim in CLAIMS} - judged
    assert waiting == {"complexity"}


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_every_reproduction_works_without_results(name, tmp_path):
    entry = REPRODUCTIONS[name]
    result = entry.make(Results([]), replace(SCOPE, folder=tmp_path))
    for chart in result.charts:
        save_chart(chart, tmp_path)
    page = write_result(entry, result, tmp_path, [])
    assert page.read_text().startswith(f"# {entry.title}")
    known = {claim.id for claim in CLAIMS}
    assert {finding.claim for finding in result.findings} <= known


@pytest.mark.parametrize("name", REPRODUCTIONS)
@pytest.mark.parametrize("scope", [Scope(), Scope.quick_scope()], ids=["full", "quick"])
def test_grids_have_known_methods_and_distinct_cells(name, scope):
    cells = [cell for grid in REPRODUCTIONS[name].grids(scope) for cell in grid.cells]
    assert len(cells) == len(set(cells))
    for method in {cell.method for cell in cells}:
        assert str(MethodSpec.parse(method)) == method


def test_our_result_is_listed_beside_the_papers():
    rows = [row("cora", "gin", "teddy", 40, test, seed) for seed, test in enumerate((76.0, 80.0))]
    found = dict(
        zip(
            COMPARISON_COLUMNS,
            compare_with_paper(Results(rows), "extreme", "cora", "gin", "teddy", 40),
            strict=True,
        )
    )
    assert found["ours"] == 78.0
    assert found["deviation"] == pytest.approx(8**0.5)
    assert found["seeds"] == 2
    assert (found["paper"], found["paper deviation"]) == (76.82, 1.0)
    assert found["difference"] == pytest.approx(1.18)
    assert found["in deviations"] == pytest.approx(1.18)


def test_low_degree_edges_matter_where_their_removal_costs_more():
    scope = replace(SCOPE, datasets=("citeseer",))

    def judged(high, low):
        rows = []
        for model in ("gcn", "gat", "gin"):
            rows += curve("citeseer", model, "degree-high:distill=0", high)
            rows += curve("citeseer", model, "degree-low:distill=0", low)
        return findings("degree-importance", rows, scope)

    found = judged((79, 78, 77, 76, 75), (78, 76, 74, 72, 70))
    assert found["degree-low-degrades"] is True
    assert found["degree-gap-grows"] is True
    assert found["degree-all-scenarios"] is True
    found = judged((79, 78, 77, 76, 75), (70, 77, 78, 75, 74.9))
    assert found["degree-low-degrades"] is False  # at level 10, in every seed
    assert found["degree-gap-grows"] is False
    assert found["degree-average"] is True


def test_missing_results_leave_a_claim_open():
    rows = curve("citeseer", "gat", "degree-high:distill=0", (79, 78, 77, 76, 75))
    rows += curve("citeseer", "gat", "degree-low:distill=0", (78, 76, 74, 72, 70))
    found = findings("degree-importance", rows)
    assert found["degree-low-degrades"] is True
    assert found["degree-all-scenarios"] is None
    rows[-1]["test"] = 99.0  # one counterexample is none while a seed can make it
    assert findings("degree-importance", rows)["degree-low-degrades"] is None


def test_claims_about_accuracy_are_counted():
    def judged(teddy, ugs):
        rows = []
        for model in ("gcn", "gat", "gin"):
            rows += curve("citeseer", model, "teddy", teddy) + curve("citeseer", model, "ugs", ugs)
        return findings("accuracy", rows)

    found = judged((81, 82, 83, 79, 79), (80, 80, 80, 78, 60))
    assert found["accuracy-more-than-half"] is True  # 3 of 5
    assert found["accuracy-gin-citeseer"] is True  # 83 against 73.20
    assert found["accuracy-beats-baselines"] is True
    assert found["accuracy-gat-margin"] is True  # 19 points
    found = judged((81, 79, 79, 79, 79), (80, 80, 80, 78, 78))
    assert found["accuracy-more-than-half"] is False
    assert found["accuracy-beats-baselines"] is False
    assert found["accuracy-gat-margin"] is False
    assert findings("accuracy", [])["accuracy-more-than-half"] is None


def test_methods_are_compared_over_the_seeds_that_both_have():
    """A lucky seed that the other method wasn't run with doesn't count."""
    rows = [row("citeseer", "gin", "teddy", 20, test, seed) for seed, test in enumerate((70, 99))]
    rows += [row("citeseer", "gin", "ugs", 20, 71.0, 0)]
    assert Results(rows).difference("citeseer", "gin", "teddy", "ugs", 20).mean == -1
    assert Results(rows).difference("citeseer", "gin", "teddy", "random", 20) is None


def test_macs_count_only_where_accuracy_is_kept():
    few = {"macs_dense": 400, "macs_ticket": 100, "weights_total": 800, "weights_kept": 100}

    def judged(test):
        rows = curve("citeseer", "gin", "teddy", (test,) * 5, **few)
        scope = Scope(datasets=("citeseer", "pubmed"))
        return findings("macs", rows, scope)["macs-eight-times"]

    assert judged(81) is True
    assert judged(79) is False
    few["weights_kept"] = 200
    assert judged(81) is False


def test_degrees_of_removed_edges():
    def degrees(method, values, levels=(1, 5, 10)):
        return [
            row("citeseer", model, method, i, 70.0, pruned_degree=value)
            for i, value in zip(levels, values, strict=True)
            for model in ("gcn", "gat", "gin")
        ]

    scope = Scope(datasets=("citeseer",), levels=(1, 5, 10))
    good = degrees("teddy", (30, 20, 10)) + degrees("random", (5, 5, 5))
    assert findings("pruned-degrees", good, scope)["degrees-high-first"] is True
    assert findings("pruned-degrees", good, scope)["degrees-decrease"] is True
    ugs = degrees("ugs", (6, 4, 5))
    assert findings("pruned-degrees", good + ugs, scope)["degrees-baselines-unaware"] is True
    ugs = degrees("ugs", (9, 8, 7))
    assert findings("pruned-degrees", good + ugs, scope)["degrees-baselines-unaware"] is False
    # Levels are compared with the same levels, and a missing one leaves the claim open.
    some = degrees("teddy", (30, 20, 10)) + degrees("random", (40, 5), (1, 10))
    assert findings("pruned-degrees", some, scope)["degrees-high-first"] is None


def test_the_heat_map_has_weights_as_rows_and_edges_as_columns():
    scope = Scope(datasets=("citeseer",), extreme=(20, 40))
    rows = [
        row("citeseer", "gin", "teddy", 20, 81.0),
        row("citeseer", "gin", "teddy", 40, 84.0),
        row("citeseer", "gin", "teddy:weight_level=20", 40, 82.0),  # edges 40, weights 20
        row("citeseer", "gin", "teddy:weight_level=40", 20, 83.0),  # edges 20, weights 40
    ]
    result = REPRODUCTIONS["extreme"].make(Results(rows), scope)
    panel = result.charts[0].panels[0]
    assert isinstance(panel, Heatmap)
    assert panel.values == [[1.0, 2.0], [3.0, 4.0]]  # to dense
    assert result.tables[1].rows == [["citeseer", 20, 81.0, 82.0], ["citeseer", 40, 83.0, 84.0]]
    found = {finding.claim: finding.holds for finding in result.findings}
    assert found["heat-map-citeseer"] is True
    assert found["heat-map-citeseer-stable"] is True
    assert found["extreme-surpasses"] is None  # it is about the other sets, too
    assert found["heat-map-pubmed"] is None


def test_ablations_compare_the_right_pairs():
    tests = {
        "teddy": 80, "teddy:distill=0": 75, "degree-high": 79, "ugs": 70, "ugs:distill=10": 74,
        "ugs:weights=projection": 60, "teddy:weights=masks": 79,
    }  # fmt: skip

    def judged(**changes):
        return findings(
            "ablation",
            [
                cell
                for method, test in (tests | changes).items()
                for cell in curve("citeseer", "gat", method, (test,) * 5)
            ],
        )

    assert set(judged().values()) == {True}
    assert judged(**{"ugs:distill=10": 76})["ablation-ugs-distilled"] is False
    assert judged(**{"ugs:distill=10": 69})["ablation-baselines-distilled"] is False
    assert judged(**{"ugs:weights=projection": 66})["ablation-ugs-projection"] is False
    assert judged(**{"teddy:weights=masks": 70})["ablation-magnitude"] is False


def test_seconds_are_compared_as_ratios():
    rows = [
        row("citeseer", "gcn", "teddy", 1, 80.0, seconds_sparse=2.0),
        row("citeseer", "gcn", "ugs", 1, 80.0, seconds_sparse=2.0, seconds_round=3.0),
    ]
    result = REPRODUCTIONS["timing"].make(Results(rows), SCOPE)
    assert result.tables[0].rows[1][:4] == ["citeseer", "gcn", "ugs", 5.0]
    assert result.tables[0].rows[1][5] == 2.5
    assert result.tables[0].rows[1][6] == pytest.approx(8.21 / 2.65)
    assert result.findings[0].holds is True


def test_contrasts_change_one_factor_and_are_paired():
    def cells(method, test):
        return [row("citeseer", "gin", method, 20, test + seed, seed) for seed in range(3)]

    rows = [
        *cells("teddy", 80.0), *cells("random", 80.5), *cells("teddy:distill=0", 70.0),
        *cells("random:distill=0", 66.0), *cells("teddy:only=edges", 81.0),
    ]  # fmt: skip
    table = REPRODUCTIONS["attribution"].make(Results(rows), SCOPE).tables[0]
    found = {line[3]: line[4:] for line in table.rows}
    means = {
        "teddy - random edges, distillation: all nodes": -0.5,
        "teddy - random edges, distillation: none": 4.0,
        "distillation: all nodes - none": 10.0,
        "dense - projected weights, distillation: all nodes": 1.0,
    }
    assert found.keys() == means.keys()
    reach = 4.302653 * 0.1 / 3**0.5  # seeds that agree: a standard deviation of one test node
    for name, mean in means.items():
        assert found[name] == pytest.approx([mean, mean - reach, mean + reach])


def test_quarters_of_the_degree_keep_equal_degrees_together():
    import numpy as np

    degree = np.array([2.0] * 10 + [3.0] * 2 + [9.0] * 4)
    groups = quartiles(degree)
    assert sum(groups.values()).tolist() == [1] * 16  # every edge in one group
    assert {number: set(degree[group]) for number, group in groups.items()} == {
        1: {2.0}, 3: {3.0}, 4: {9.0},
    }  # fmt: skip


def test_energies_are_kept_and_a_damaged_file_is_computed_again(tmp_path, tiny_graph):
    scope = Scope(datasets=(tiny_graph,), folder=tmp_path)
    entry, seen = REPRODUCTIONS["laplacian-energy"], []
    assert entry.make(Results([]), scope).tables[0].rows == []
    entry.work(scope, lambda *step: seen.append(step))
    first = read_changes(tiny_graph, scope)
    assert seen[-1][1] == seen[-1][2] == first[0].size
    assert len(entry.make(Results([]), scope).tables[0].rows) >= 2
    (kept,) = (tmp_path / "energies").glob("*.npz")
    seen.clear()
    entry.work(scope, lambda *step: seen.append(step))
    assert not seen
    kept.write_bytes(kept.read_bytes()[:-20])
    assert read_changes(tiny_graph, scope) is None
    entry.work(scope, lambda *step: seen.append(step))
    assert seen
    assert (read_changes(tiny_graph, scope)[1] == first[1]).all()


def test_files_match_the_tables(tmp_path):
    entry = REPRODUCTIONS["extreme"]
    rows = [row("citeseer", "gin", "teddy", 20, 70.123456789)]
    result = entry.make(Results(rows), SCOPE)
    write_result(entry, result, tmp_path, [])
    table = list(csv.reader(io.StringIO((tmp_path / "extreme.csv").read_text())))
    assert table[0] == list(COMPARISON_COLUMNS)
    assert table[2][5] == "70.1235"
    assert table[2][7] == "71.16"
    assert to_csv(result.tables[0]) == (tmp_path / "extreme.csv").read_text()
    text = to_markdown(entry, result, [tmp_path / "a.png", tmp_path / "a.pdf"])
    assert "![a](a.png)" in text
    assert ".pdf" not in text


def test_names_and_places():
    assert resolve_names(["Table 2", "figure1", "degree-importance"]) == ["degree-importance"]
    assert resolve_names(["all"]) == [name for name in REPRODUCTIONS if name != "large-scale"]
    with pytest.raises(InputError, match="unknown table or figure 'nonsense'"):
        resolve_names(["all", "nonsense"])
    with pytest.raises(InputError, match=r"unknown table or figure 'extrem'.*did you mean"):
        resolve_names(["extrem"])
