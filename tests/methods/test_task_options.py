"""Settings that could be lost, mixed or given twice: each holds, or is an error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import torch

import teddy
from cli.command import run_here, save_npz
from conftest import small_graph
from hetero_graphs import library
from teddy.methods.spec import MethodSpec
from teddy.settings import Settings, setting
from teddy.sweep.data_versions import data_version
from teddy.sweep.run import recorded
from teddy.tasks import TASKS, Classification
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
    monkeypatch.setitem(TASKS, "smooth", Smooth)
    SEEN.clear()


def test_an_option_of_your_own_task_reaches_its_loss(smooth):
    teddy.find_ticket(
        small_graph(), "gcn", epochs=1, hidden_channels=4, task="smooth:smoothing=0.5"
    )
    assert set(SEEN) == {0.5}


TASK = """
from teddy.tasks import TASKS, Classification

class Half(Classification):
    name = "half"

    def score(self, logits, y):
        return super().score(logits, y) / {divisor}

TASKS.register("half")(Half)
"""


@pytest.mark.parametrize("command", ["sweep", "tune"])
def test_another_file_of_a_task_is_refused(command, tmp_path):
    save_npz(tmp_path / "graph.npz")
    words = {
        "sweep": ["sweep", "graph.npz", "--models", "gcn", "--levels", "1", "--seeds", "1"],
        "tune": ["tune", "graph.npz", "--model", "gcn", "--trials", "1", "--seeds", "1"],
    }[command]
    more = [
        "--load",
        "task.py",
        "--task",
        "half",
        "--epochs",
        "1",
        "--hidden-channels",
        "4",
        "--out",
        "o",
    ]
    try:
        (tmp_path / "task.py").write_text(f"# {command}{TASK.format(divisor=2)}")
        done = run_here(*words, *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        del TASKS["half"]
        (tmp_path / "task.py").write_text(f"# {command}{TASK.format(divisor=4)}")
        done = run_here(*words, *more, cwd=tmp_path)
        assert done.returncode == 2
        assert "with other methods" in done.stderr
    finally:
        TASKS.pop("half", None)


@pytest.mark.parametrize("method", ["ugs", "wd-glt"])
def test_masks_of_an_inductive_heterogeneous_graph_are_of_training_edges(method):
    data = library(papers=24)
    del data["venue"], data["paper", "at", "venue"], data["venue", "rev_at", "paper"]
    ticket = teddy.find_ticket(
        data, Typed, 0.1, 0.1, epochs=2, method=method, inductive=True, target="paper"
    )
    assert ticket.verify(data)["test"] == ticket.info.ticket.test


def test_inductive_tickets_record_their_split():
    data = small_graph()
    for mask in ("train_mask", "val_mask", "test_mask"):
        data[mask] = torch.stack([data[mask], data[mask].roll(1)], dim=1)
    study = teddy.find_over_seeds(
        data, seeds=[0, 1], model="gcn", epochs=1, hidden_channels=4, method="ugs", inductive=True,
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

    def loader(parts):
        return lambda graph: [graph] * parts

    one, same, other = (
        recorded(Settings.from_dict({"loader": loader(parts)}))["loader"] for parts in (1, 1, 2)
    )
    assert one == same
    assert one != other


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


@pytest.mark.parametrize(
    ("keywords", "line"),
    [
        (
            {"model": "gcn:hidden_channels=16", "hidden_channels": 8},
            "hidden_channels is 8, but 16 in gcn:hidden_channels=16",
        ),
        ({"train": teddy.TrainConfig(epochs=5), "epochs": 2}, "epochs is 2, but 5 in train"),
        ({"weight_exclude": 5}, "weight_exclude has 5, expected name patterns"),
        ({"task": "classification:x=1"}, "no option 'x', expected one of: none"),
        ({"method": "ugs", "structure": "neurons"}, "ugs has no option 'structure'"),
    ],
)
def test_conflicting_options_raise_a_clear_message(keywords, line):
    with pytest.raises(teddy.InputError, match=line):
        teddy.find_ticket(small_graph(), **{"model": "gcn", "epochs": 1, **keywords})


def test_a_method_is_a_spec_without_options():
    ticket = teddy.find_ticket(
        small_graph(), "gcn", 0.05, 0.05, method=teddy.UGS, train=teddy.TrainConfig(epochs=1),
        hidden_channels=4, epochs=1,
    )  # fmt: skip
    assert ticket.info.method == "ugs"
    with pytest.raises(teddy.InputError, match="task is a LinkPrediction, expected a TaskConfig"):
        Settings(task=teddy.LinkPrediction())


def test_a_teacher_of_another_task_is_refused_and_of_another_split_warns():
    data = small_graph()
    tiny = {"epochs": 1, "hidden_channels": 4}
    dense = teddy.find_ticket(data, "gcn", 0.0, 0.0, **tiny)
    with pytest.raises(teddy.InputError, match="a ticket of the task classification, expected one"):
        teddy.find_ticket(data, "gcn", task="link-prediction", teacher=dense, **tiny)
    other = data.clone()
    other.train_mask, other.val_mask = data.val_mask, data.train_mask
    with pytest.warns(teddy.errors.TeddyWarning, match="trained on another split"):
        teddy.find_ticket(other, "gcn", teacher=dense, **tiny)


def test_a_tuned_lambda_is_of_node_classification(citeseer):
    tiny = {"model": "gin", "epochs": 1, "hidden_channels": 4, "tuned": True}
    assert teddy.find_ticket(citeseer, **tiny).info.config["distill"] != 10.0
    links = teddy.find_ticket(citeseer, task="link-prediction", **tiny)
    assert links.info.config["distill"] == 10.0


def test_a_sweep_refuses_conflicting_options_before_any_training(tmp_path):
    save_npz(tmp_path / "graph.npz")
    words = ["sweep", "graph.npz", "--models", "gcn,nagphormer", "--methods", "teddy,ugs"]
    done = run_here(*words, "--epochs", "1", "--out", "o", cwd=tmp_path)
    assert done.returncode == 2
    assert "model nagphormer does not support learning of edge masks" in done.stderr
    assert not (tmp_path / "o").exists()


def test_a_heterogeneous_ticket_is_exported_with_a_module_from_data(tmp_path):
    net = "examples/my-library/net.py:Net"
    library_folder = "examples/my-library"
    root = Path(__file__).parents[2]
    words = ["--model", net, "--target", "paper", "--epochs", "1", "--out", tmp_path / "a.ticket"]
    assert run_here("find", library_folder, *words, cwd=root).returncode == 0
    for name, more in (("a.pt2", [library_folder]), ("a.parquet", [library_folder])):
        done = run_here(
            "export", tmp_path / "a.ticket", tmp_path / name, *more, "--module", net, cwd=root
        )
        assert done.returncode == 0, done.stderr
