"""The chart of a search."""

from __future__ import annotations

import pytest

from teddy.report import draw, search_chart
from teddy.report.chart import Line, Points
from teddy.sparsity import schedule_sparsity
from teddy.sweep import (
    Decision,
    LevelPair,
    SearchResult,
    SequentialTest,
    SparsestPair,
    TriedPair,
    paired_difference,
)


def tried(edges, weights, verdict):
    shares = schedule_sparsity(edges), schedule_sparsity(weights)
    return TriedPair(LevelPair(edges, weights), *shares, Decision(4, 1.0, -0.2, 2.2, verdict))


def found(points, frontier):
    test = paired_difference([70.0, 71.0], [69.0, 70.0], test_rows=1000)
    answers = [
        SparsestPair(t, 0, [70.0, 71.0], [69.0, 70.0], test)
        for t in points
        if t.decision.verdict == "accepted"
    ]
    return SearchResult(
        "citeseer",
        "gin",
        "teddy",
        SequentialTest(0.2),
        [10, 20],
        frontier,
        points,
        answers,
        [],
        4,
        4,
        8,
        8,
    )


def test_each_level_has_a_point_of_its_verdict_and_bounds():
    points = [tried(20, 20, "undecided"), tried(10, 10, "accepted")]
    chart = search_chart(found(points, frontier=False))
    (panel,) = chart.panels
    assert [mark.label for mark in panel.marks] == ["accepted", "undecided", "bounds", "bounds"]
    assert panel.marks[0] == Points("accepted", [pytest.approx(40.13, 1e-3)], [1.0])
    assert panel.marks[2].y == [-0.2, 2.2]
    assert panel.level == -0.5
    assert len(draw(chart).axes) == 1


def test_the_frontier_is_a_staircase_through_its_corners():
    points = [tried(20, 20, "rejected"), tried(20, 10, "accepted"), tried(0, 20, "accepted")]
    chart = search_chart(found(points, frontier=True))
    line = next(mark for mark in chart.panels[0].marks if isinstance(mark, Line))
    low, high = 100 * schedule_sparsity(10), 100 * schedule_sparsity(20)
    assert line.x == pytest.approx([high, high, 0, 0, 0])
    assert line.y == pytest.approx([0, low, low, high, high])
    assert len(draw(chart).axes) == 1


def test_a_search_without_an_answer_can_be_drawn():
    for frontier in (False, True):
        chart = search_chart(found([tried(20, 20, "rejected")], frontier))
        assert not [mark for mark in chart.panels[0].marks if mark.label == "frontier"]
        assert len(draw(chart).axes) == 1
