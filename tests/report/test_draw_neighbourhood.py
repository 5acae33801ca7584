"""The picture of a node's surroundings."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
import torch

import teddy
from teddy.graph import Edges
from teddy.report.draw_neighbourhood import draw_neighbourhood, positions
from teddy.report.save import save_figure
from teddy.report.style import class_looks
from teddy.ticket.inspection import neighbourhood


def surroundings(leaves=5, behind=2):
    """A star whose first leaf has others behind it; every second edge stays."""
    star = [(0, i) for i in range(1, leaves + 1)]
    far = [(1, leaves + 1 + i) for i in range(behind)]
    pairs = torch.tensor([*star, *far]).t()
    keep = torch.arange(pairs.size(1)) % 2 == 0
    return neighbourhood(Edges(leaves + behind + 1, pairs), keep, 0)


def drawn(around):
    ids = [f"n{n}" for n in around.nodes]
    classes = [n % 3 - 1 for n in around.nodes]
    return draw_neighbourhood(around, ids, classes, ["cat", "dog"], "a title")


def lines(axes):
    return {(line.get_linestyle(), tuple(line.get_xdata()), tuple(line.get_ydata()))
            for line in axes.lines}  # fmt: skip


def test_removed_edges_are_on_the_left_only():
    around = surroundings()
    left, right = (lines(axes) for axes in drawn(around).axes)
    assert len(left) == len(around.edges)
    assert len(right) == sum(around.kept)
    assert right < left  # in the same places
    assert {style for style, *_ in right} == {"-"}
    assert sum(style == "-" for style, *_ in left) == sum(around.kept)


def test_nodes_are_in_the_same_places_and_named():
    around = surroundings()
    left, right = drawn(around).axes
    for axes in (left, right):
        assert [text.get_text() for text in axes.texts] == [f"n{n}" for n in around.nodes]
    places = [[c.get_offsets().tolist() for c in axes.collections] for axes in (left, right)]
    assert places[0] == places[1]
    assert len(places[0]) == len(around.nodes)


def test_an_edge_across_does_not_seem_to_end_in_the_middle():
    """Between the neighbours on opposite sides a line would run through the node itself."""
    pairs = torch.tensor([[0, 0, 0, 0, 1], [1, 2, 3, 4, 3]])
    around = neighbourhood(Edges(5, pairs), torch.ones(5, dtype=torch.bool), 0)
    places = positions(around)
    for line in drawn(around).axes[0].lines:
        points = list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        ends = {places.index(points[0]), places.index(points[-1])}
        assert 0 in ends or min(math.hypot(x, y) for x, y in points) > 0.1
        assert len(points) == 2 or 0 not in ends


def test_the_legend_lists_the_shown_items():
    labels = [t.get_text() for t in drawn(surroundings()).legends[0].get_texts()]
    assert labels == ["cat", "dog", "no class", "kept", "removed"]


@pytest.mark.parametrize(("leaves", "behind"), [(0, 0), (1, 0), (1, 30), (59, 0), (20, 39)])
def test_no_two_nodes_are_in_one_place(leaves, behind):
    around = surroundings(leaves, behind) if leaves else lone()
    places = positions(around)
    assert all(math.hypot(x, y) <= 1 + 1e-9 for x, y in places)
    for one, two in combinations(places, 2):
        assert math.dist(one, two) > 0.05
    drawn(around)


def lone():
    return neighbourhood(Edges(1, torch.empty(2, 0).long()), torch.empty(0).bool(), 0)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_picture_is_the_same_bytes(kind, tmp_path):
    for name in "ab":
        save_figure(drawn(surroundings(3, 1)), tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_another_image_format_raises_a_clear_message(tmp_path):
    with pytest.raises(teddy.InputError, match=r"ends in '.gif', expected .png, .pdf or .svg"):
        save_figure(drawn(surroundings()), tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


def test_many_classes_look_different():
    found = list(class_looks(map(str, range(40))).values())
    assert len({(look.colour, look.marker) for look in found}) == 40
    assert len({look.colour for look in found[:10]}) == 10
