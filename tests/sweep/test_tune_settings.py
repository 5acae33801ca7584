"""Every setting and every option of the method reaches the trainings that tuning tries."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import torch

import teddy
from teddy.methods import METHODS, Level, method
from teddy.methods.spec import COMMON
from teddy.methods.tuned import tuned_settings
from teddy.sweep.grid import Settings
from teddy.sweep.tune import Search, tune
from teddy.training import TrainConfig

pytest.importorskip("optuna")

CONFIG = TrainConfig(epochs=3)
BASE = Settings(CONFIG, model_options={"hidden": 8}, split="30/30/40")
SEEN: list[dict] = []


@pytest.fixture(autouse=True)
def watched():
    """A method that trains as teddy does and notes what reaches it."""
    SEEN.clear()

    @method("watched", distill=10.0)
    def search(problem, levels, *, weights="projection"):
        (ticket,) = METHODS["teddy"].tickets(problem, levels, weights=weights)
        SEEN.append(
            {
                **vars(problem.config),
                "level": tuple(levels[0]),
                **problem.weight_budget.settings(),
                "weights": weights,
                "hidden": problem.source.options.get("hidden"),
                "masks": [problem.given[f"{part}_mask"].tolist() for part in ("train", "test")],
                "training nodes": problem.graph.num_nodes,
                "inductive": ticket.info.inductive,
                "device": problem.device.type,
                "threads": torch.get_num_threads(),
            }
        )
        yield ticket

    yield
    del METHODS._entries["watched"]


def reached(graph, out, settings=BASE, spec="watched", **search):
    """What reaches the training of the first trial of one seed."""
    wanted = {"level": Level(0.4, 0.3), "seeds": (0,), **search}
    tune(Search(graph, "gcn", spec, **wanted), out, 1, settings)
    (seen,) = SEEN[-1:]
    return seen


def differs(graph, tmp_path, settings, dataset=None):
    """What of a training is another with these settings."""
    plain = reached(dataset or graph, tmp_path / "plain", replace(BASE, split=settings.split))
    other = reached(dataset or graph, tmp_path / "other", settings)
    return {name: value for name, value in other.items() if value != plain[name]}


# Another value of each field of Settings, and what of a training it decides.
DECIDES = {
    "config": (replace(CONFIG, temperature=2.0), {"temperature": 2.0}),
    "distill": (3.0, {"distill": 3.0}),
    "model_options": ({"hidden": 4}, {"hidden": 4}),
    "split_seed": (1, {"masks"}),
    "inductive": (True, {"inductive", "training nodes"}),
    "threads": (torch.get_num_threads() + 1, {"threads": torch.get_num_threads() + 1}),
}
# Fields that a test of their own looks at.
OTHERS = {"tuned", "split", "data_dir", "device"}


def test_all_settings_are_looked_at():
    assert {field.name for field in fields(Settings)} == {*DECIDES, *OTHERS}


@pytest.mark.parametrize("name", DECIDES)
def test_a_setting_reaches_the_training(graph, tmp_path, name):
    value, expected = DECIDES[name]
    found = differs(graph, tmp_path, replace(BASE, **{name: value}))
    assert (found if isinstance(expected, dict) else found.keys()) == expected


def test_the_split_and_the_tuned_strength_reach_the_training(graph, tmp_path):
    shares = reached(graph, tmp_path / "o", replace(BASE, split="50/25/25"))["masks"][0]
    assert sum(shares) == round(len(shares) / 2)
    settings = replace(BASE, tuned=True, split=None, config=TrainConfig(epochs=1))
    found = differs(graph, tmp_path, settings, dataset="citeseer")
    strength = tuned_settings("citeseer", "gcn")["distill"]
    assert found == {"distill": strength, "epochs": 1}
    assert strength != 10.0


def test_the_folder_of_raw_data_and_the_device_are_used(graph, tmp_path):
    with pytest.raises(teddy.InputError, match="nothing-here"):
        reached("cora", tmp_path / "o", replace(BASE, data_dir=str(tmp_path / "nothing-here")))
    with pytest.raises(teddy.InputError, match="device is 'meta'"):
        reached(graph, tmp_path / "o", replace(BASE, device="meta"))


# Another value of each field of TrainConfig but those that are searched.
TRAINING = {
    "epochs": 2, "lr": 0.02, "weight_decay": 0.1, "temperature": 2.0,
    "divergence": "sparse-dense", "patience": 1, "distill_nodes": "training", "evaluate_every": 2,
}  # fmt: skip


def test_all_settings_of_a_training_are_looked_at():
    assert {field.name for field in fields(TrainConfig)} == {*TRAINING, "distill"}


@pytest.mark.parametrize("name", TRAINING)
def test_a_setting_of_the_training_reaches_it(graph, tmp_path, name):
    config = replace(CONFIG, **{name: TRAINING[name]})
    assert differs(graph, tmp_path, replace(BASE, config=config)) == {name: TRAINING[name]}


# By option that every method has: a value, the settings, and what of a training it decides.
INDUCTIVE = replace(BASE, inductive=True)
OPTIONS = {
    "distill": ("3", BASE, {"distill": 3.0}),
    "distill_nodes": ("training", BASE, {"distill_nodes": "training"}),
    "inference": ("none", INDUCTIVE, {"inductive"}),
    "only": ("edges", BASE, {"level": (0.4, 0.0)}),
    "weight_level": ("0", BASE, {"level": (0.4, 0.0)}),
    "weight_scope": ("matrix", BASE, {"weight_scope": "matrix"}),
    "weight_exclude": ("weights.0", BASE, {"weight_exclude": ["weights.0"]}),
    "weight_schedule": ("cubic", BASE, {"weight_schedule": "cubic"}),
    "weight_ramp": (
        "0.2:weight_schedule=cubic",
        BASE,
        {"weight_ramp": 0.2, "weight_schedule": "cubic"},
    ),
    "weights": ("masks", BASE, {"weights": "masks"}),  # of this method alone
}


def test_all_options_are_looked_at():
    assert OPTIONS.keys() == {*COMMON, "weights"}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_the_method_reaches_the_training(graph, tmp_path, name):
    value, settings, expected = OPTIONS[name]
    plain = reached(graph, tmp_path / "plain", settings)
    other = reached(graph, tmp_path / "other", settings, f"watched:{name}={value}")
    found = {key: value for key, value in other.items() if value != plain.get(key)}
    assert (found if isinstance(expected, dict) else found.keys()) == expected


def test_a_value_that_is_tried_goes_before_settings_and_options(graph, tmp_path):
    settings = replace(BASE, distill=3.0, config=replace(CONFIG, lr=0.02))
    for spec in ("watched", "watched:distill=4"):
        search = Search(graph, "gcn", spec, Level(0.4, 0.3), (0,), ("distill", "lr"))
        tuning = tune(search, tmp_path / spec, 3, settings)
        found = [{name: seen[name] for name in search.names} for seen in SEEN[-3:]]
        assert [trial.settings for trial in tuning.trials] == found
        assert found[0] == {"distill": 4.0 if "=" in spec else 3.0, "lr": 0.02}
        assert len({tuple(values.values()) for values in found}) == 3


def test_nodes_that_are_distilled_on_change_what_is_tuned(graph, tmp_path):
    """Held against tickets that are found without tuning."""
    settings = replace(BASE, config=TrainConfig(epochs=30))
    data = teddy.load_dataset(graph, split=BASE.split)
    wanted = {"model": "gcn", "graph_sparsity": 0.4, "weight_sparsity": 0.3, "epochs": 30}
    for nodes in ("all", "training"):
        search = Search(graph, "gcn", f"teddy:distill_nodes={nodes}", Level(0.4, 0.3), (0,))
        tuning = tune(search, tmp_path / nodes, 2, settings)
        for trial in tuning.trials:
            ticket = teddy.find_ticket(
                data, **wanted, **trial.settings, distill_nodes=nodes, hidden=8
            )
            assert trial.val == ticket.info.ticket.val
