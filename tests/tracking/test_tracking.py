"""Calls of trackers, and searches whose trackers fail."""

from __future__ import annotations

import logging

import pytest

import teddy
from cli.command import FAST, refused, run_here, save_npz
from conftest import small_graph
from teddy.errors import InputError
from teddy.methods.resume import SearchFolder
from teddy.tracking import TRACKERS, as_trackers
from teddy.tracking.tracker import check_installed
from teddy.training import World

SMALL = {"epochs": 3, "hidden_channels": 8}


class Notes:
    """Remembers what it is told; raises where the test wants it."""

    def __init__(self, *fails):
        self.told, self.fails = [], fails

    def start(self, params):
        self._note("start", params)

    def log(self, step, values):
        self._note("log", step, values)

    def finish(self, summary):
        self._note("finish", summary)

    def _note(self, what, *arguments):
        self.told.append((what, *arguments))
        if what in self.fails:
            raise RuntimeError(f"no {what}\nhere")

    @property
    def epochs(self):
        return [(n, *values) for what, n, *values in self.told if what == "log"]


def find(track, tmp_path=None, **settings):
    return teddy.find_ticket(small_graph(), "gcn", 0.1, 0.1, track=track, **SMALL | settings)


def test_a_search_is_tracked_from_start_to_finish(tmp_path):
    notes, seen = Notes(), []
    ticket = find(notes, method="ugs", progress=lambda *values: seen.append(values))
    assert [what for what, *_ in notes.told] == ["start", *["log"] * 15, "finish"]
    params = notes.told[0][1]
    assert (params["dataset"], params["model"], params["method"]) == ("data", "gcn", "ugs")
    assert (params["seed"], params["epochs"], params["hidden_channels"]) == (0, 3, 8)
    assert (params["graph_sparsity"], params["weight_sparsity"]) == (0.1, 0.1)
    names = [next(iter(values)).split("/")[0] for _, values in notes.epochs]
    # Two of the paper's levels are 9.75%, so 10% takes a third round.
    trainings = ("dense", "round-1", "round-2", "round-3", "sparse")
    assert names == [name for name in trainings for _ in range(3)]
    assert [(e.index, e.loss, e.val) for _, e, _ in seen] == [
        (step, *values.values()) for step, values in notes.epochs
    ]
    info, summary = ticket.info, notes.told[-1][1]
    assert summary["ticket_test"] == info.ticket.test
    assert summary["dense_val"] == info.dense.val
    assert summary["edges_sparsity"] == 1 - info.edges.kept / info.edges.total
    assert summary["macs_ticket"] == sum(info.macs.ticket)
    assert summary["seconds_search"] == ticket.seconds["search"]
    assert all(isinstance(value, int | float) for value in summary.values())


def test_tracking_does_not_change_the_ticket(tmp_path):
    find(None).save(tmp_path / "a")
    find([Notes(), Notes("log")]).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        (["start"], ["start"]),
        (["log"], ["start", "log", "finish"]),
        (["log", "finish"], ["start", "log", "finish"]),
        (["finish"], ["start", *["log"] * 6, "finish"]),
    ],
)
def test_a_tracker_that_fails_is_one_warning_and_no_loss(fails, told, caplog):
    broken, whole = Notes(*fails), Notes()
    with caplog.at_level(logging.WARNING):
        ticket = find([broken, whole])
    assert ticket.info.edges.kept > 0
    assert [what for what, *_ in broken.told] == told
    assert [what for what, *_ in whole.told] == ["start", *["log"] * 6, "finish"]
    (record,) = caplog.records
    expected = (
        f"Notes failed in {fails[0]} (RuntimeError: no {fails[0]} here), continuing without it"
    )
    assert record.getMessage() == expected


def test_a_search_that_fails_ends_its_run():
    notes = Notes()

    def stop(phase, epoch, share):
        if epoch.index == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find(notes, progress=stop)
    assert [what for what, *_ in notes.told] == ["start", "log", "log", "finish"]
    assert notes.told[-1] == ("finish", None)


@pytest.mark.parametrize("method", ["teddy", "ugs"])
def test_a_resumed_search_is_tracked_as_a_whole(method, tmp_path):
    def stop(phase, epoch, share):
        if phase == "sparse" and epoch.index == 1:
            raise KeyboardInterrupt

    whole, first, second = Notes(), Notes(), Notes()
    find(whole, method=method)
    settings = {"method": method, "checkpoint": SearchFolder(tmp_path / "c", 0)}
    with pytest.raises(KeyboardInterrupt):
        find(first, progress=stop, **settings)
    find(second, **settings)
    assert second.told[0] == first.told[0]
    assert sorted(map(str, second.epochs)) == sorted(map(str, whole.epochs))
    assert second.told[-1][1]["ticket_test"] == whole.told[-1][1]["ticket_test"]


def test_of_several_processes_the_first_tracks(monkeypatch):
    from teddy.tracking.tracker import Tracking

    notes = Notes()
    monkeypatch.setattr(World, "current", staticmethod(lambda: World(1, 2)))
    tracking = Tracking(notes)
    with tracking.run("data", dict, list):
        pass
    assert tracking.with_trackers(None) is None
    assert notes.told == []


def test_invalid_trackers_are_refused_before_any_training(monkeypatch):
    with pytest.raises(InputError, match="track is int, expected an object with start, log"):
        find(3)
    with pytest.raises(InputError, match="track is the class Notes, expected an object"):
        find([Notes])
    with pytest.raises(InputError, match=r"unknown tracker 'tensorbord'.*did you mean 'tensorboa"):
        find("tensorbord:x")
    with pytest.raises(InputError, match=r"pip install 'teddy-glt\[mlflow\]'"):
        check_installed("mlflow_that_is_not_there", "mlflow")
    assert as_trackers(None) == as_trackers([]) == []


def test_the_option_takes_words(tmp_path):
    notes = Notes()
    TRACKERS.register("notes")(lambda where: notes if where == "here" else Notes("start"))
    save_npz(tmp_path / "g.npz")
    command = ["find", "g.npz", "--model", "gcn", *FAST, "--seeds", 2]
    try:
        done = run_here(*command, "--track", "notes:here", "--track", "notes", cwd=tmp_path)
    finally:
        del TRACKERS["notes"]
    assert done.returncode == 0, done.stderr
    assert [what for what, *_ in notes.told].count("start") == 2
    assert [params["seed"] for what, params, *_ in notes.told if what == "start"] == [0, 1]
    assert notes.told[0][1]["dataset"] == "g.npz"
    assert "unknown tracker 'no'" in refused(run_here(*command, "--track", "no", cwd=tmp_path))
