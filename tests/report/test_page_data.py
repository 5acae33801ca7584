"""The numbers of the page, against those worked out by hand."""

from __future__ import annotations

import json

import pytest

from report.rows import METADATA, row, sweep
from teddy.report.headline import headlines
from teddy.report.page_data import page_data
from teddy.report.page_tables import verdict_rows
from teddy.sweep.summary import summarize


def cell_of(data, **wanted):
    (found,) = [c for c in data["cells"] if all(c[k] == v for k, v in wanted.items())]
    return found


def test_a_cell_has_the_seeds_together():
    cell = cell_of(page_data(sweep(), METADATA), model="gcn", method="teddy", level=5)
    # 70.9, 72.0, 73.1 against 70, 71, 72: differences 0.9, 1.0, 1.1, t(2) = 4.3027.
    reach = 4.302653 * 0.1 / 3**0.5
    assert cell["best"]["mean"] == pytest.approx(72.0)
    assert cell["best"]["deviation"] == pytest.approx(1.1)
    difference = cell["best"]["difference"]
    assert difference["mean"] == pytest.approx(1.0)
    assert (difference["low"], difference["high"]) == pytest.approx((1 - reach, 1 + reach))
    # At the last epoch a point less, the dense ones half a point.
    assert cell["last"]["mean"] == pytest.approx(71.0)
    assert cell["last"]["difference"]["mean"] == pytest.approx(0.5)
    assert cell["dense"] == pytest.approx(71.0)
    assert cell["verdict"] == "winning"
    assert cell["graph"] == pytest.approx(100 * (1 - 0.95**5))
    assert (cell["macs"], cell["speedup"], cell["relative"]) == pytest.approx((3.0, 1.5, 2.0))
    assert (cell["isolated"], cell["components"], cell["pruned_degree"]) == (4, 10, 30)


def test_the_dense_level_is_of_one_model_a_seed():
    place = page_data(sweep(), METADATA)["problems"][0]
    assert (place["dataset"], place["model"]) == ("citeseer", "gcn")
    assert place["dense"]["best"] == {"mean": 71.0, "deviation": 1.0, "seeds": 3}
    assert place["dense"]["last"]["mean"] == 70.5
    assert place["dense"]["seconds"] == 2.0


def test_times_are_of_tickets_in_dense_trainings():
    timing = page_data(sweep(), METADATA)["problems"][0]["timing"]
    assert [entry["method"] for entry in timing] == ["teddy", "teddy:distill=0", "random"]
    assert timing[0]["seconds"] == 4.0
    assert timing[0]["relative"] == 2.0
    assert timing[0]["masks"] == {"seconds": 1.0, "relative": 0.5}
    assert timing[0]["training"] == {"seconds": 3.0, "relative": 1.5}


def test_rows_and_settings_come_through_whole():
    data = page_data(sweep(), METADATA)
    back = [dict(zip(data["columns"], values, strict=True)) for values in data["rows"]]
    assert back == sweep()
    assert data["metadata"] == METADATA
    cell = cell_of(data, model="gin", method="random", level=10)
    assert [(back[i]["method"], back[i]["seed"]) for i in cell["rows"]] == [
        ("random", 0), ("random", 1), ("random", 2),
    ]  # fmt: skip


def test_the_heat_map_has_methods_and_levels():
    data = page_data(sweep(), METADATA)
    (heatmap,) = data["problems"][1]["heatmaps"]
    assert heatmap["rows"] == ["teddy", "teddy:distill=0", "random"]
    assert heatmap["columns"] == ["5", "10"]
    cell = data["cells"][heatmap["cells"][2][1]]
    assert (cell["model"], cell["method"], cell["level"]) == ("gin", "random", 10)
    assert cell["best"]["difference"]["mean"] == pytest.approx(-2.0)


def test_a_method_that_varies_both_sparsities_has_a_map_over_both():
    rows = [row("teddy", i) for i in (5, 10)]
    for level, share in ((10, 0.4), (20, 0.6)):
        name = f"teddy:weight_level={level}"
        rows += [row(name, i, weight_sparsity=share) for i in (5, 10)]
    data = page_data([*rows, row("random", 5)], {})
    methods, both = data["problems"][0]["heatmaps"]
    assert methods["rows"][-1] == "random"
    assert both["name"] == "teddy: edges × weights"  # noqa: RUF001
    assert both["columns"] == ["22.6", "40.1"]
    assert both["rows"] == ["22.6", "40", "40.1", "60"]
    for name, line in zip(both["rows"], both["cells"], strict=True):
        for column, position in zip(both["columns"], line, strict=True):
            if position is not None:
                cell = data["cells"][position]
                assert round(cell["weight"], 1) == float(name)
                assert round(cell["graph"], 1) == float(column)


def test_missing_values_are_none_and_json_has_no_nan():
    unknown = dict.fromkeys(
        ("macs_dense", "macs_ticket", "seconds_predict_dense", "seconds_predict_ticket", "isolated",
         "components", "pruned_degree", "homophily", "versions", "dense_last_test")
    )  # fmt: skip
    old = {k: v for k, v in row(simulation=5).items() if k not in unknown}
    for line in (row(**unknown), old, row(homophily=float("nan"), macs_ticket=0, seconds_dense=0)):
        data = page_data([line], {})
        json.dumps(data, allow_nan=False)
        (cell,) = data["cells"]
        assert cell["macs"] is None
        assert cell["homophily"] is None
        assert cell["best"]["difference"]["low"] is None


def test_headlines_state_the_best_ticket():
    gcn, gin = headlines(summarize(sweep()))
    assert (gcn.dataset, gcn.model, gcn.verdict) == ("citeseer", "gcn", "winning")
    assert gcn.sentence == (
        "The sparsest winning ticket is teddy at level 10. It removes 40.1% of the edges and of "
        "the weights and reaches 72.00% test accuracy. That is +1.00 points against dense (95% "
        "interval +0.75 to +1.25, 3 seeds)."
    )
    assert gcn.more == "At the last epoch it reaches 71.00%."
    assert (gin.verdict, gin.baseline, list(gin.methods)) == ("winning", "dense", [])


def test_headlines_when_nothing_wins():
    losing = headlines(summarize([r for r in sweep() if r["method"] == "random"]))[0]
    assert losing.verdict == "none"
    assert losing.sentence.startswith("None of the 2 tickets is winning. The nearest is random at")
    one = headlines(summarize([row(gain=1.0)]))[0]
    assert one.verdict == "too few seeds"
    assert one.sentence.startswith("A verdict needs 3 seeds. The highest mean is teddy at level 5.")
    assert one.sentence.endswith("+1.00 points against dense (1 seed).")
    two = headlines(summarize([row(gain=1.0, seed=seed) for seed in range(2)]))[0]
    assert (two.verdict, two.sentence[:15]) == ("too few seeds", "A verdict needs")
    assert "2 seeds" in two.sentence
    dense = headlines(summarize([row(simulation=0)]))[0]
    assert dense.sentence == "Dense model only: 70.00% test accuracy, 1 seed."
    (single,) = headlines(summarize([row(gain=-1.0, seed=seed) for seed in range(3)]))
    assert single.sentence.startswith("The only ticket is losing. It is teddy at level 5.")


def test_headlines_name_other_winners_and_the_part_that_is_pruned():
    rows = [
        *(row("teddy", 10, seed, gain=1.0) for seed in range(3)),
        *(row("ugs", 5, seed, gain=2.0) for seed in range(3)),
        *(row("teddy:only=edges", 10, s, gain=1.0, weight_sparsity=0.0) for s in range(3)),
    ]
    (line,) = headlines(summarize(rows))
    assert line.sentence.startswith("The sparsest winning ticket is teddy at level 10.")
    assert "Also winning: ugs (level 5), teddy:only=edges (level 10)." in line.more
    (edges,) = headlines(summarize(rows[-3:]))
    assert "It removes 40.1% of the edges and" in edges.sentence


def test_verdicts_are_listed_by_method_and_dense_ones_only_alone():
    rows = verdict_rows(page_data(sweep(), METADATA)["cells"])
    assert [r["texts"]["method"] for r in rows[:6]] == [
        "teddy", "teddy", "teddy:distill=0", "teddy:distill=0", "random", "random",
    ]  # fmt: skip
    assert rows[0]["texts"]["difference"] == "+1.00 [+0.75, +1.25]"
    assert {r["verdict"] for r in rows} == {"winning", "undecided", "losing"}
    (dense,) = verdict_rows(page_data([row("teddy", 0), row("ugs", 0)], {})["cells"])
    assert (dense["texts"]["method"], dense["texts"]["difference"]) == ("dense", "")
