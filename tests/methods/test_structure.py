"""Tickets whose weights go by whole hidden units."""

from __future__ import annotations

import pytest
import torch

import teddy
from conftest import small_graph
from teddy.methods.resume import SearchFolder
from teddy.models import build_model
from teddy.sparsity import num_kept_weights
from teddy.weights import count_nonzero
from teddy.weights.units import num_kept_units


@pytest.mark.parametrize("layers", [2, 3])
@pytest.mark.parametrize("name", ["gcn", "gat", "gin", "sage"])
def test_the_budget_of_weights_is_filled_with_whole_units(name, layers):
    options = {"hidden_channels": 4 if name == "gat" else 32, "num_layers": layers}
    ticket = teddy.find_ticket(
        small_graph(), name, 0.5, 0.64, epochs=4, structure="neurons", **options
    )
    fresh = build_model(name, 12, 3, **options)
    counts = num_kept_units(fresh.units(), fresh.parameters(), 0.64)
    left = [int((units.squares() > 0).sum()) for units in ticket.model.units()]
    assert max(counts) > 1
    assert all(0 < n <= count for n, count in zip(left, counts, strict=True))
    weights = ticket.info.weights
    assert weights.kept == count_nonzero(ticket.model.parameters())
    assert weights.kept <= num_kept_weights(0.64, weights.total)
    assert ticket.info.config["structure"] == "neurons"


def test_the_last_unit_stays():
    ticket = teddy.find_ticket(
        small_graph(), "gcn", 0.5, 1.0, epochs=3, structure="neurons", hidden_channels=8
    )
    assert 0 < ticket.info.weights.kept <= 15
    assert ticket.info.weight_sparsity == 1.0


def test_without_sparsity_nothing_is_removed():
    data = small_graph()
    same = [
        teddy.find_ticket(data, "gin", 0.5, 0.0, epochs=3, hidden_channels=8, structure=structure)
        for structure in ("none", "neurons")
    ]
    assert torch.equal(same[0].logits(data), same[1].logits(data))


def test_any_score_can_be_structured():
    ticket = teddy.find_ticket(
        small_graph(),
        "sage",
        0.5,
        0.5,
        method="random",
        epochs=3,
        hidden_channels=8,
        structure="neurons",
    )
    assert ticket.info.weights.kept <= num_kept_weights(0.5, ticket.info.weights.total)


@pytest.mark.parametrize("name", ["unimp", "nagphormer", "specformer", "gcn:num_layers=1"])
def test_a_model_without_such_units_is_refused_before_the_work(name):
    def progress(*_):
        raise AssertionError("trained")

    with pytest.raises(teddy.InputError, match=r"no removable hidden units|whole hidden units"):
        teddy.find_ticket(
            small_graph(), name, epochs=3, hidden_channels=8, structure="neurons", progress=progress
        )


def test_unknown_specs_are_refused():
    data = small_graph()
    with pytest.raises(teddy.InputError, match="structure is 'units', expected one of: none, neur"):
        teddy.find_ticket(data, "gcn", structure="units")
    with pytest.raises(teddy.InputError, match="does not support learning of weight masks"):
        teddy.find_ticket(data, "gcn", structure="neurons", weights="masks")


def test_a_search_resumes_from_its_checkpoint(tmp_path):
    data = small_graph()
    settings = {"epochs": 5, "hidden_channels": 8, "structure": "neurons"}
    whole = teddy.find_ticket(data, "gcn", 0.5, 0.5, **settings)

    class EndedError(Exception):
        pass

    def end(phase, epoch, share):
        if phase == "sparse" and epoch.index == 2:
            raise EndedError

    keep = {"checkpoint": SearchFolder(tmp_path / "x", 0)}
    with pytest.raises(EndedError):
        teddy.find_ticket(data, "gcn", 0.5, 0.5, progress=end, **settings, **keep)
    again = teddy.find_ticket(data, "gcn", 0.5, 0.5, **settings, **keep)
    assert torch.equal(again.logits(data), whole.logits(data))
    with pytest.raises(teddy.InputError):
        teddy.find_ticket(data, "gcn", 0.5, 0.5, **{**settings, "structure": "none"}, **keep)
