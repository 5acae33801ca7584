from __future__ import annotations

import json
import sqlite3
import sys
import time
from contextlib import closing

import pytest

import teddy
from cli.command import Started, refused, run_forked, run_here, save_npz
from teddy.methods import SparsityLevel
from teddy.sweep.grid import Settings
from teddy.sweep.tune import RANGES, TuningSpec, tune
from teddy.training import TrainConfig

SETTINGS = Settings(TrainConfig(epochs=4), model_options={"hidden_channels": 8})
pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    graph = str(save_npz(tmp_path_factory.mktemp("graph") / "graph.npz"))
    return TuningSpec(graph, "gcn", level=SparsityLevel(0.4, 0.4), seeds=(0, 1))


@pytest.fixture(scope="module")
def at_once(search, tmp_path_factory):
    """A search of 13 trials."""
    return tune(search, tmp_path_factory.mktemp("once") / "out", 13, SETTINGS)


def test_a_trial_is_the_mean_validation_accuracy_of_tickets(search, tmp_path):
    tuning = tune(search, tmp_path / "out", 4, SETTINGS)
    assert tuning.trials[0].settings == {"distill": 10.0}
    data = teddy.load_dataset(search.dataset)
    for trial in tuning.trials:
        low, high = RANGES["distill"]
        assert low <= trial.settings["distill"] <= high
        vals = [
            teddy.find_ticket(
                data, "gcn", 0.4, 0.4, s, epochs=4, hidden_channels=8, **trial.settings
            )
            for s in (0, 1)
        ]
        assert trial.val == pytest.approx(sum(t.info.ticket.val for t in vals) / 2)
    assert tuning.best.val == max(trial.val for trial in tuning.trials)
    assert tuning.best.val >= tuning.trials[0].val


def test_a_search_in_parts_is_the_search_at_once(search, at_once, tmp_path):
    for trials in (1, 3, 10, 13):
        in_parts = tune(search, tmp_path / "a folder?with #%20", trials, SETTINGS)
    assert in_parts == at_once
    assert (tmp_path / "a folder?with #%20" / "trials.db").exists()


@pytest.mark.parametrize("number", [1, 4, 10])
def test_a_search_whose_trial_died_resumes_to_the_same_result(
    search, at_once, tmp_path, monkeypatch, number
):
    from teddy.sweep import tune as module

    plain, calls = module._Run.validation, []

    def dies(run, settings, seed):
        calls.append(run)
        if len(calls) == 2 * number:
            raise KeyboardInterrupt
        return plain(run, settings, seed)

    monkeypatch.setattr(module._Run, "validation", dies)
    with pytest.raises(KeyboardInterrupt):
        tune(search, tmp_path / "died", 13, SETTINGS)
    assert tune(search, tmp_path / "died", 13, SETTINGS) == at_once


def test_a_setting_that_can_not_be_trained_with_is_left_out(search, tmp_path, monkeypatch):
    from teddy.sweep import tune as module

    plain = module._Run.validation

    def picky(run, settings, seed):
        if settings.train.distill < 1:
            raise teddy.InputError("loss isn't finite")
        return plain(run, settings, seed)

    monkeypatch.setattr(module._Run, "validation", picky)
    tuning = tune(search, tmp_path / "out", 8, SETTINGS)
    assert 0 < len(tuning.trials) < 8
    assert all(trial.settings["distill"] >= 1 for trial in tuning.trials)


def test_a_default_that_can_not_be_drawn_is_not_tried(search, tmp_path):
    ugs = TuningSpec(search.dataset, "gcn", "ugs", SparsityLevel(0.05, 0.05), (0,))
    assert tune(ugs, tmp_path / "out", 1, SETTINGS).trials[0].settings["distill"] != 10.0
    other = TuningSpec(search.dataset, "gcn", "teddy:distill=5", SparsityLevel(0.05, 0.05), (0,))
    assert tune(other, tmp_path / "other", 1, SETTINGS).trials[0].settings == {"distill": 5.0}


def test_a_damaged_store_raises_a_clear_message(search, tmp_path):
    out = tmp_path / "out"
    tune(search, out, 1, SETTINGS)
    (out / "trials.db").write_bytes(b"nonsense" * 1000)
    with pytest.raises(teddy.InputError, match="expected trials of Optuna"):
        tune(search, out, 2, SETTINGS)


def test_lr_and_weight_decay_have_separate_dense_models(search, tmp_path):
    both = TuningSpec(
        search.dataset, "gcn", level=search.level, seeds=(0,), names=("lr", "weight_decay")
    )
    tuning = tune(both, tmp_path / "out", 3, SETTINGS)
    assert tuning.trials[0].settings == {"lr": 0.01, "weight_decay": 5e-4}
    assert len(list((tmp_path / "out" / "work").rglob("dense.safetensors"))) == 3


def test_after_kill_9_the_same_command_resumes(search, tmp_path):
    command = ["tune", search.dataset, "--model", "gcn", "--trials", "8", "--seeds", "2",
               "--epochs", "40", "--hidden-channels", "16", "--level", "10"]  # fmt: skip
    whole = run_here(*command, "--out", tmp_path / "whole", "--json", cwd=tmp_path)
    out = tmp_path / "out"
    process = Started(*command, "--out", out)
    while process.poll() is None and _trials(out) < 3:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    before = _trials(out)
    done = run_forked(*command, "--out", out, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ours, theirs = json.loads(done.stdout), json.loads(whole.stdout)
    assert ours["trials"] == theirs["trials"]
    assert ours["best"] == theirs["best"]
    assert 3 <= before <= 8


def _trials(out):
    """Trials that are done; looked at without Optuna, which would make the tables."""
    try:
        with closing(sqlite3.connect(f"file:{out / 'trials.db'}?mode=ro", uri=True)) as database:
            query = "select count(*) from trials where state = 'COMPLETE'"
            return database.execute(query).fetchone()[0]
    except sqlite3.Error:
        return 0  # not made yet


def test_another_search_in_the_folder_is_refused(search, tmp_path):
    tune(search, tmp_path / "out", 1, SETTINGS)
    other = TuningSpec(search.dataset, "gin", level=search.level, seeds=(0, 1))
    with pytest.raises(teddy.InputError, match="holds results with tuned model gcn, got gin"):
        tune(other, tmp_path / "out", 1, SETTINGS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--search", "epochs"],
            "search has 'epochs', expected one of: lr, ",
        ),
        (["--model", "gnc"], "unknown model 'gnc'"),
        (["--trials", "0"], "trials is 0"),
        (["--seeds", "0"], "seeds is 0"),
        (["--jobs", "0"], "jobs is 0"),
        (["--threads", "0"], "threads is 0"),
        (["--hidden-channels", "0"], "hidden_channels is 0"),
        (["--device", "foo"], "device is 'foo'"),
        (["--search", ""], "got no setting or no seed"),
    ],
)
def test_bad_input_raises_a_clear_message_and_writes_nothing(arguments, message, tmp_path):
    assert message in refused(run_here("tune", "citeseer", *arguments, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_without_optuna_the_message_names_the_package(search, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(teddy.InputError, match=r"pip install 'teddy-glt\[tune\]'"):
        tune(search, tmp_path / "out", 1, SETTINGS)
