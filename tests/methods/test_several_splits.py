"""Masks ``[N, K]`` of several splits: which one a search, a ticket and a command take."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

import teddy
from cli.command import refused, run_here
from conftest import small_graph
from hetero_graphs import hetero_module, library
from sweep.sweeps import SETTINGS, grid_of
from teddy.data.checks import MASKS
from teddy.errors import InputError
from teddy.sweep import run_sweep
from teddy.sweep.seeds import find_over_seeds

FAST = {"model": "gcn", "epochs": 4, "hidden_channels": 8}


def wide_masks(nodes: int = 40, splits: int = 10) -> dict[str, Tensor]:
    rng = np.random.default_rng(5)
    parts = torch.tensor(np.stack([rng.permutation(nodes) % 3 for _ in range(splits)], axis=1))
    return {mask: parts == number for number, mask in enumerate(MASKS)}


def wide_graph(splits: int = 10) -> Data:
    data = small_graph()
    for key, mask in wide_masks(data.num_nodes, splits).items():
        data[key] = mask
    return data


def narrow(data: Data, number: int) -> Data:
    """The same with the masks of one split, taken by hand."""
    data = copy.copy(data)
    for key in MASKS:
        data[key] = data[key][:, number]
    return data


def write_wide(folder) -> str:
    data = wide_graph()
    np.savez(folder / "wide.npz", **{key: data[key].numpy() for key in data.keys()})  # noqa: SIM118
    return str(folder / "wide.npz")


@pytest.mark.parametrize(
    ("seed", "split", "taken"), [(0, None, 0), (3, None, 3), (13, None, 3), (1, 5, 5), (0, 9, 9)]
)
def test_a_search_takes_the_split_of_the_seed_or_the_requested_one(seed, split, taken, tmp_path):
    data = wide_graph()
    ticket = teddy.find_ticket(data, seed=seed, split=split, **FAST)
    by_hand = teddy.find_ticket(narrow(data, taken), seed=seed, **FAST)
    assert ticket.info.split == str(taken)
    assert by_hand.info.split == "given"
    assert ticket.info.split_fingerprint == by_hand.info.split_fingerprint
    assert ticket.info.ticket == by_hand.info.ticket
    assert torch.equal(ticket.logits(data), by_hand.logits(data))
    # The ticket's own split is judged, of the same data or of that split alone.
    ticket.save(tmp_path / "a.ticket")
    for again in (ticket, teddy.Ticket.load(tmp_path / "a.ticket")):
        assert again.verify(data, tolerance=0.0)["test"] == ticket.info.ticket.test
        assert again.evaluate(narrow(data, taken)) == again.evaluate(data)
        assert torch.equal(again.predict(data), ticket.predict(data))
    assert data.train_mask.shape == (40, 10)  # the caller's object stays as it is


def test_inductive_and_regression():
    data = wide_graph()
    ticket = teddy.find_ticket(data, split=4, inductive=True, **FAST)
    assert ticket.info.split == "4"
    assert ticket.verify(data, 0.0) == ticket.evaluate(narrow(data, 4))
    data.y = data.x[:, :1].clone()
    ticket = teddy.find_ticket(data, split=2, task="regression", **FAST)
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)


def test_a_single_mask_applies_to_every_split():
    """As in PyG's WikiCS: 20 splits into training and validation, one test set."""
    data = wide_graph()
    data.test_mask = torch.arange(40) >= 30
    for key in MASKS[:2]:
        data[key][30:] = False
    ticket = teddy.find_ticket(data, split=1, **FAST)
    assert ticket.info.split == "1"
    assert ticket.evaluate(data)["test"] == ticket.info.ticket.test


def test_one_column_is_one_split():
    data = wide_graph(splits=1)
    ticket = teddy.find_ticket(data, seed=3, **FAST)
    assert ticket.info.split == "given"
    assert ticket.info.ticket == teddy.find_ticket(narrow(data, 0), seed=3, **FAST).info.ticket
    assert ticket.verify(data, 0.0)
    assert teddy.find_ticket(data, seed=3, split=0, **FAST).info == ticket.info


def test_a_heterogeneous_graph():
    data = library()
    for key, mask in wide_masks(60).items():
        data["paper"][key] = mask
    ticket = teddy.find_ticket(data, hetero_module(data), seed=7, epochs=4, target="paper")
    assert ticket.info.split == "7"
    assert ticket.verify(data, 0.0)["test"] == ticket.info.ticket.test


def of(**changed: Tensor) -> Data:
    data = wide_graph()
    for key, value in changed.items():
        data[key] = value
    return data


@pytest.mark.parametrize(
    ("data", "split", "message"),
    [
        (of(), 10, "data: split is 10, expected 0 to 9"),
        (of(), -1, "data: split is -1, expected 0 to 9"),
        (of(), "random", "data: split is random, expected 0 to 9"),
        (
            small_graph(),
            1,
            "data: split is 1, expected 0, the only split of the data; "
            "load_dataset(split=...) draws another",
        ),
        (
            of(val_mask=wide_masks()["val_mask"][:, :7]),
            None,
            "data: val_mask has shape [40, 7], expected [40, 10] as train_mask",
        ),
    ],
)
def test_one_line(data, split, message):
    with pytest.raises(InputError) as caught:
        teddy.find_ticket(data, split=split, **FAST)
    assert str(caught.value) == message


def test_a_ticket_of_another_split_and_links():
    data = wide_graph()
    ticket = teddy.find_ticket(narrow(data, 0), **FAST)
    with pytest.raises(InputError, match=r"masks have 10 splits, but the ticket has the split"):
        ticket.evaluate(data)
    few = of(**wide_masks(splits=2))
    with pytest.raises(InputError, match=r"^data: split is 5, expected 0 to 1$"):
        teddy.find_ticket(data, split=5, **FAST).evaluate(few)
    links = teddy.split_links(small_graph())
    with pytest.raises(InputError, match=r"^data: split is 3, expected 0, the only split"):
        teddy.find_ticket(links, task="link-prediction", split=3, **FAST)


def test_files(tmp_path):
    path = write_wide(tmp_path)
    every = teddy.load_dataset(path)
    assert (every.train_mask.shape, every.split) == ((40, 10), "public")
    for split in (3, "3"):
        data = teddy.load_dataset(path, split=split)
        assert data.split == "3"
        assert "split_seed" not in data
        assert torch.equal(data.val_mask, every.val_mask[:, 3])
    assert teddy.load_dataset(path, split="60/20/20").train_mask.shape == (40,)
    with pytest.raises(InputError, match=r"^wide.npz: split is 10, expected 0 to 9$"):
        teddy.load_dataset(path, split=10)
    np.savez(path, x=every.x.numpy(), edge_index=every.edge_index.numpy(), y=every.y.numpy())
    with pytest.raises(InputError, match=r"^wide.npz: has no split"):
        teddy.load_dataset(path, split=1)


def test_seeds_and_sweeps(tmp_path):
    path = write_wide(tmp_path)
    data = teddy.load_dataset(path)
    study = find_over_seeds(data, seeds=[2, 3], **FAST)
    assert [ticket.info.split for ticket in study.tickets] == ["2", "3"]
    assert study.to_dict()["split"] == "2, 3"
    outcome = run_sweep(grid_of(path, ["teddy"], [0, 1], [0, 4]), tmp_path / "sweep", SETTINGS)
    assert outcome.failures == []
    assert {(row["seed"], row["simulation"], row["split"]) for row in outcome.rows} == {
        (seed, simulation, str(seed)) for seed in (0, 4) for simulation in (0, 1)
    }


def test_commands(tmp_path):
    path = write_wide(tmp_path)
    fast = ["--model", "gcn", "--epochs", "4", "--hidden-channels", "8", "--json"]
    for options, split in ((["--seed", "3"], "3"), (["--split", "5"], "5")):
        found = run_here("find", path, *options, *fast, "--out", "a.ticket", cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        result = json.loads(found.stdout)
        assert result["split"] == split
        predicted = run_here("predict", "a.ticket", path, cwd=tmp_path)
        assert f"test accuracy {result['ticket']['test'][0]:.2f}%" in predicted.stderr
    other = run_here("predict", "a.ticket", path, "--split", "4", cwd=tmp_path)
    assert "no accuracy, the split differs from the ticket's" in other.stderr
    table = run_here("find", path, "--seeds", "2", *fast[:-1], cwd=tmp_path)
    assert "(splits 0, 1), gcn" in table.stdout
    assert "expected 0 to 9" in refused(run_here("find", path, "--split", "10", cwd=tmp_path))
    assert "seed is -1" in refused(run_here("find", path, "--seed", "-1", cwd=tmp_path))
    # Of a ticket that was found on one split alone, labels are predicted, and none is judged.
    data = narrow(wide_graph(), 0)
    teddy.find_ticket(data, **FAST).save(tmp_path / "b.ticket")
    predicted = run_here("predict", "b.ticket", path, cwd=tmp_path)
    assert (predicted.returncode, len(predicted.stdout.splitlines())) == (0, 41)
    assert "no accuracy, data have no split" in predicted.stderr
