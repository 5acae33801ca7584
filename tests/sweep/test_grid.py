from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import teddy
from teddy.methods import METHODS, SparsityLevel
from teddy.methods.make_problem import tuned_settings
from teddy.methods.spec import MethodSpec
from teddy.sweep import Grid, Settings
from teddy.sweep.grid import Cell, Series, file_name, settings_for
from teddy.training import TrainConfig


def test_a_grid_is_the_product_of_its_parts_without_duplicates():
    grid = Grid(["cora", "cora"], ["gcn", "gin"], ["teddy", "ugs"], [5, 0, 5], [0, 1])
    assert len(grid.cells) == 1 * 2 * 2 * 2 * 2
    assert len({cell.key for cell in grid.cells}) == len(grid.cells)
    assert {series.levels for series in grid.series} == {(0, 5)}
    assert [series.seed for series in grid.series[:2]] == [0, 1]  # no dense model twice at first


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((["cora"], ["gnc"], ["teddy"], [1], [0]), "unknown model 'gnc'"),
        ((["cora"], ["gcn"], ["ugz"], [1], [0]), "unknown method 'ugz'"),
        ((["cora"], ["gcn"], ["teddy"], [-1], [0]), "level is -1"),
        ((["cora"], ["gcn"], ["teddy"], [1], []), "got no seeds"),
        ((["cora"], ["gcn"], ["teddy:lambda=1"], [1], [0]), "teddy has no option 'lambda'"),
        ((["cora"], ["gcn"], ["ugs:l1_edges=much"], [1], [0]), "'l1_edges' of ugs is 'much'"),
        ((["cora"], ["gcn"], ["ugs:l1_edges"], [1], [0]), "'l1_edges' of ugs is nothing"),
        ((["cora"], ["gcn"], ["teddy:only=graph"], [1], [0]), "only is 'graph'"),
        ((["cora"], ["gcn"], ["teddy:distill_nodes=test"], [1], [0]), "distill_nodes is 'test'"),
        ((["cora"], ["gcn"], ["teddy:weight_level=-1"], [1], [0]), "weight_level is -1"),
        (
            (["cora"], ["gcn"], ["teddy:weight_level=5:only=edges"], [1], [0]),
            "got only=edges and weight_level=5, expected one or the other",
        ),
    ],
)
def test_a_wrong_part_raises_a_clear_message(parts, message):
    with pytest.raises(teddy.InputError, match=message):
        Grid(*parts)


words = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=20)


@given(one=st.tuples(words, words), other=st.tuples(words, words))
def test_file_names_are_safe_and_differ(one, other):
    names = file_name(*one), file_name(*other)
    assert (names[0] == names[1]) == (one == other)
    for name in names:
        assert "/" not in name
        assert "\0" not in name
        assert len(name) < 120


def test_names_with_the_same_words_differ():
    assert file_name("a-b", "c") != file_name("a", "b-c")
    assert (
        Cell("x", "gcn", "ugs:distill=1", 0, 1).key != Cell("x", "gcn", "ugs:distill=10", 0, 1).key
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_spec_round_trips(name):
    options = ":".join(f"{option}={value}" for option, value in METHODS[name].options.items())
    spec = MethodSpec.parse(f"{name}:{options}:distill=2.5:only=weights")
    assert MethodSpec.parse(str(spec)) == spec
    assert spec.level(SparsityLevel(0.3, 0.4)) == SparsityLevel(0.0, 0.4)


def test_the_strength_of_distillation():
    def strength(text, **settings):
        series = Series("citeseer", "gin", text, 0, (1,))
        return settings_for(series, Settings.from_dict(settings)).train.distill

    assert strength("teddy") == 10.0
    assert strength("teddy", distill=3.0) == 3.0
    assert strength("teddy:distill=0", distill=3.0) == 0.0
    assert strength("ugs", distill=3.0) == 0.0
    assert strength("ugs:distill=1", distill=3.0) == 1.0
    assert strength("random", tuned=True) == tuned_settings("citeseer", "gin")["distill"]
    assert strength("ugs", tuned=True) == 0.0


def test_weights_may_have_their_own_level():
    spec = MethodSpec.parse("teddy:weight_level=40")
    assert str(spec) == "teddy:weight_level=40"
    level = spec.level(SparsityLevel.from_schedule(20))
    assert level == SparsityLevel(
        SparsityLevel.from_schedule(20).graph_sparsity,
        SparsityLevel.from_schedule(40).weight_sparsity,
    )


def test_a_method_overrides_distill_nodes_only_if_given():
    settings = Settings(TrainConfig(distill_nodes="training", distill=5.0))
    assert MethodSpec.parse("teddy").applied(settings) == settings
    own = MethodSpec.parse("teddy:distill_nodes=all").applied(settings)
    assert own == Settings(TrainConfig(distill=5.0))
