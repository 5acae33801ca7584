from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

import teddy
from conftest import small_graph
from hetero_graphs import hetero_module, library
from teddy.sweep import find_over_seeds, paired_difference

VALUES = st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=2, max_size=9)


@given(values=VALUES)
def test_the_interval_equals_scipys(values):
    ours, theirs = zip(*values, strict=True)
    result = paired_difference(ours, theirs, test_rows=10**9)
    if np.ptp(np.subtract(ours, theirs)) < 1e-6:
        assert result.high - result.low < 1e-4
        return
    expected = ttest_rel(ours, theirs).confidence_interval(0.95)
    np.testing.assert_allclose([result.low, result.high], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ([71, 70, 72], [68, 68, 68], "winning"),
        ([60, 61, 62], [68, 68, 68], "losing"),
        ([70, 60, 71], [68, 68, 68], "undecided"),
        ([70, 70, 70], [70, 70, 70], "undecided"),  # the next seed may be a node below
        ([70] * 9, [70.1] * 9, "losing"),  # nine seeds are surer of a node than the floor
        ([70] * 9, [69.9] * 9, "winning"),
        ([99], [1], "too few seeds"),
        ([70, 70], [70.1, 70.1], "too few seeds"),
        ([1, 2], [99, 99], "too few seeds"),
    ],
)
def test_verdicts_by_hand(ours, theirs, verdict):
    assert paired_difference(ours, theirs, test_rows=1000).verdict == verdict


def test_seeds_that_are_one_test_node_below_do_not_lose():
    found = paired_difference([79.9, 70.4, 75.0], [80.0, 70.5, 75.1], test_rows=1000)
    reach = 4.302653 * 0.1 / 3**0.5  # a standard deviation of one node, t(2)
    assert (found.mean, found.low, found.high) == pytest.approx((-0.1, -0.1 - reach, -0.1 + reach))
    assert found.verdict == "undecided"
    more = paired_difference([79.9, 70.4, 75.0], [80.0, 70.5, 75.1], test_rows=100_000)
    assert more.verdict == "losing"  # a hundred nodes below


def test_a_difference_without_the_number_of_test_rows_is_refused():
    with pytest.raises(TypeError, match="test_rows"):
        paired_difference([70, 71, 72], [70, 70, 70])
    with pytest.raises(teddy.InputError, match="test_rows is 0, expected a whole number from 1"):
        paired_difference([70, 71, 72], [70, 70, 70], test_rows=0)


def test_seeds_are_paired_and_the_best_is_chosen_on_validation():
    data = small_graph()
    study = find_over_seeds(data, seeds=[4, 5, 6], model="gin", epochs=5, hidden_channels=8)
    result = study.to_dict()
    assert result["seeds"] == [4, 5, 6]
    for ticket, dense, sparse in zip(
        study.tickets, result["dense"]["test"], result["ticket"]["test"], strict=True
    ):
        assert (ticket.info.dense.test, ticket.info.ticket.test) == (dense, sparse)
    assert study.best.info.ticket.val == max(result["ticket"]["val"])
    np.testing.assert_allclose(
        result["ticket"]["test_std"], np.std(result["ticket"]["test"], ddof=1)
    )
    assert study.health["after"].edges == study.best.info.edges.kept
    alone = teddy.find_ticket(data, seed=5, model="gin", epochs=5, hidden_channels=8)
    assert alone.info == study.tickets[1].info


def test_no_seeds_are_an_error():
    with pytest.raises(teddy.InputError, match="got no seeds"):
        find_over_seeds(small_graph(), seeds=[])


def test_a_study_compares_the_ticket_with_the_dense_model_not_the_other_way():
    data = small_graph()
    study = find_over_seeds(
        data, seeds=range(3), model="gcn", graph_sparsity=0.0, weight_sparsity=1.0, epochs=30,
        hidden_channels=16,
    )  # fmt: skip
    result = study.to_dict()
    assert result["ticket"]["test_mean"] < result["dense"]["test_mean"]  # nothing is left of it
    assert result["difference"]["mean"] < 0
    assert result["test_rows"] == int(data.test_mask.sum())
    assert result["verdict"] == ("losing" if result["difference"]["high"] < 0 else "undecided")


def test_a_study_reports_both_graphs_epochs_and_costs():
    data = small_graph()
    study = find_over_seeds(
        data, seeds=[0], model="gcn", graph_sparsity=0.5, epochs=4, hidden_channels=8
    )
    result, info = study.to_dict(), study.best.info
    assert result["health"]["before"]["edges"] == info.edges.total
    assert result["health"]["after"]["edges"] == info.edges.kept
    # dense: all edges both ways and a loop at each node, in both layers
    entries = 2 * info.edges.total + 40
    nonzeros = int(data.x.count_nonzero())
    dense = [nonzeros * 8 + entries * 8, 40 * 8 * 3 + entries * 3]
    if nonzeros >= 0.25 * data.x.numel():
        dense[0] = 40 * 12 * 8 + entries * 8
    assert result["macs"]["layers"]["dense"] == dense
    assert result["macs"]["ticket"] < result["macs"]["dense"]


def test_seeds_of_a_heterogeneous_graph():
    data = library()
    settings = {"model": hetero_module(data), "target": "paper", "epochs": 2}
    study = find_over_seeds(data, seeds=[0, 1], **settings)
    result = study.to_dict()
    assert result["seeds"] == [0, 1]
    before, after = result["health"]["before"], result["health"]["after"]
    assert before["edges"] == result["edges"]["total"]
    assert after["edges"] == result["edges"]["kept"]
    assert before["homophily"] is None
    assert after["components"] >= before["components"]
    rows = study.rows(data)
    assert [row["edges_kept"] for row in rows] == [result["edges"]["kept"]] * 2
    assert rows[0]["components"] == after["components"]
    assert result["edges"]["kept"] < result["edges"]["total"]
