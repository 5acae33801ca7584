"""Names known without torch, against the registries, and hints for misspelt ones."""

from __future__ import annotations

import pytest

from teddy import names
from teddy.data import DATASETS
from teddy.methods import METHODS
from teddy.models import MODELS, build_model
from teddy.prune import SCORES
from teddy.registry import read_option, unknown_option
from teddy.scale.scores import TABLE_SCORES
from teddy.sparsity import check_sparsity
from teddy.tasks import TASKS
from teddy.tracking import TRACKERS


@pytest.mark.parametrize(
    ("declared", "registry"),
    [
        (names.DATASETS, DATASETS),
        (names.MODELS, MODELS),
        (names.SCORES, SCORES),
        (names.TABLE_SCORES, TABLE_SCORES),
        (names.METHODS, METHODS),
        (names.TASKS, TASKS),
        (names.TRACKERS, TRACKERS),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_declared_names_are_those_of_the_registry(declared, registry):
    # Tests that ran before may have registered their own methods, scores and tasks.
    built_in = [name for name in registry if name in declared]
    assert len(set(declared)) == len(declared)
    assert set(built_in) == set(declared)
    if len(registry) == len(declared):
        assert tuple(registry) == declared


def test_misspelt_options_have_a_hint():
    with pytest.raises(ValueError, match=r"did you mean 'stride'\?"):
        read_option("ugs", {"stride": 5, "weights": "masks"}, "strid=5")
    with pytest.raises(ValueError, match=r"did you mean 'hidden_channels'\?"):
        build_model("gcn", 3, 2, hidden=8)
    assert "did you mean" not in str(unknown_option("gcn", "colour", ["heads"]))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (64, "s must be in [0, 1], got 64 (did you mean 0.64?)."),
        (1.5, "s must be in [0, 1], got 1.5."),
        (-0.1, "s must be in [0, 1], got -0.1."),
        (640, "s must be in [0, 1], got 640."),
        ("many", "s must be in [0, 1], got many."),
    ],
)
def test_a_percentage_is_recognised(value, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        check_sparsity(value, "s")
    assert str(caught.value) == message
