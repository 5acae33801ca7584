"""Options of your own task reach its loss, and a sweep notices another file of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

import teddy
from cli.command import run_here, save_npz
from conftest import small_graph
from hetero_graphs import library
from teddy.data.targets import TARGETS
from teddy.methods.spec import MethodSpec
from teddy.settings import Settings, setting
from teddy.sweep.datasets import data_version
from teddy.training.tasks import TASKS, Classification
from test_capabilities import Typed

SEEN: list[float] = []


@dataclass(frozen=True, eq=False)
class Smooth(Classification):
    name: ClassVar[str] = "smooth"
    smoothing: float = setting(0.0, "Share of other classes.", low=0)

    def objective(self, *arguments, **named):
        SEEN.append(self.smoothing)
        return super().objective(*arguments, **named)


@pytest.fixture
def smooth(monkeypatch):
    monkeypatch.setitem(TASKS._entries, "smooth", Smooth)
    monkeypatch.setitem(TARGETS._entries, "smooth", TARGETS["classification"])
    SEEN.clear()


def test_an_option_of_your_own_task_reaches_its_loss(smooth):
    teddy.find_ticket(small_graph(), "gcn", epochs=1, hidden=4, task="smooth:smoothing=0.5")
    assert set(SEEN) == {0.5}


TASK = """
from teddy.data.targets import TARGETS
from teddy.training.tasks import TASKS, Classification

class Half(Classification):
    name = "half"

    def score(self, logits, y):
        return super().score(logits, y) / {divisor}

TARGETS.register("half")(TARGETS["classification"])
TASKS.register("half")(Half)
"""


@pytest.mark.parametrize("command", ["sweep", "tune"])
def test_another_file_of_a_task_is_refused(command, tmp_path):
    save_npz(tmp_path / "graph.npz")
    words = {
        "sweep": ["sweep", "graph.npz", "--models", "gcn", "--simulations", "1", "--seeds", "1"],
        "tune": ["tune", "graph.npz", "--model", "gcn", "--trials", "1", "--seeds", "1"],
    }[command]
    more = ["--load", "task.py", "--task", "half", "--epochs", "1", "--hidden", "4", "--out", "o"]
    try:
        (tmp_path / "task.py").write_text(f"# {command}{TASK.format(divisor=2)}")
        done = run_here(*words, *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        del TASKS._entries["half"], TARGETS._entries["half"]
        (tmp_path / "task.py").write_text(f"# {command}{TASK.format(divisor=4)}")
        done = run_here(*words, *more, cwd=tmp_path)
        assert done.returncode == 2
        assert "with other methods" in done.stderr
    finally:
        TASKS._entries.pop("half", None)
        TARGETS._entries.pop("half", None)


@pytest.mark.parametrize("method", ["ugs", "wd-glt"])
def test_masks_of_an_inductive_heterogeneous_graph_are_of_training_edges(method):
    data = library(papers=24)
    del data["venue"], data["paper", "at", "venue"], data["venue", "rev_at", "paper"]
    ticket = teddy.find_ticket(
        data, Typed, 0.1, 0.1, epochs=2, method=method, inductive=True, target="paper"
    )
    assert ticket.verify(data)["test"] == ticket.info.ticket.test


def test_inductive_tickets_know_their_own_split_of_several():
    data = small_graph()
    for mask in ("train_mask", "val_mask", "test_mask"):
        data[mask] = torch.stack([data[mask], data[mask].roll(1)], dim=1)
    study = teddy.find_over_seeds(
        data, seeds=[0, 1], model="gcn", epochs=1, hidden=4, method="ugs", inductive=True,
        graph_sparsity=0.05, weight_sparsity=0.05,
    )  # fmt: skip
    assert [ticket.info.split for ticket in study.tickets] == ["0", "1"]


def test_settings_are_recorded_by_their_values():
    first, second = (
        Settings.from_dict({"class_weight": torch.tensor([weight, 1.0], dtype=torch.float64)})
        for weight in (1.00001, 1.00002)
    )
    assert first != second
    assert first.to_dict()["class_weight"] == [1.00001, 1.0]

    def made():
        return lambda graph: [graph]

    same = [Settings.from_dict({"loader": made()}).to_dict()["loader"] for _ in range(2)]
    assert same[0] == same[1]
    assert "0x" not in same[0]


def test_a_pattern_in_a_spec_is_one_item():
    spec = teddy.Teddy(weight_exclude="weights.0")
    assert MethodSpec.parse(str(spec)) == spec


def test_types_without_features_are_in_the_digest_of_data(tmp_path):
    versions = []
    for authors in (40, 45):
        data = library(papers=24)
        del data["author"].x
        data["author"].num_nodes = authors
        torch.save(data, tmp_path / "data.pt")
        versions.append(data_version(str(tmp_path / "data.pt"), Settings()))
    assert versions[0] != versions[1]
