from __future__ import annotations

import json

import pytest

import teddy
from cli.command import refused, run_here, save_npz


@pytest.fixture
def ticket(tmp_path, monkeypatch):
    """A structured ticket of a graph in a file; and few passes to time it by."""
    monkeypatch.setattr("teddy.ticket.speed._MOST", 2)
    save_npz(tmp_path / "graph.npz")
    found = run_here(
        "find", "graph.npz", "--model", "gcn", "--epochs", "3", "--hidden-channels", "32", "--out",
        "a.ticket", "--structure", "neurons", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(found.stdout)["spec"] == "teddy:structure=neurons"
    return tmp_path / "a.ticket"


def test_a_ticket_is_held_against_the_dense_model(ticket, tmp_path):
    done = run_here("bench", "a.ticket", "graph.npz", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    info = teddy.Ticket.load(ticket).info
    ways = [row["way"] for row in found["rows"] if row["threads"] == 1]
    assert ways == ["dense", "sparse graph", "sparse weights", "compiled"]
    assert found["rows"][0]["macs"] == sum(info.macs.dense) > found["rows"][3]["macs"]
    assert found["test"] == {"dense": info.dense.test, "ticket": info.ticket.test}
    assert all(row["milliseconds"] > 0 for row in found["rows"])
    for_people = run_here("bench", "a.ticket", "graph.npz", cwd=tmp_path).stdout
    assert "An inference pass of gcn on graph.npz, 1 thread" in for_people
    assert "+ compiled" in for_people
    assert "Test accuracy" in for_people


def test_bad_input_is_refused(ticket, tmp_path):
    assert "expected its graph: a name, file or folder after the ticket" in refused(
        run_here("bench", "a.ticket", cwd=tmp_path)
    )
    for option in ("--epochs", "--hidden-channels"):
        line = refused(run_here("bench", "a.ticket", "graph.npz", option, "3", cwd=tmp_path))
        assert f"a.ticket is a ticket, expected {option} only with a data set" in line
    assert "expected a ticket before its graph" in refused(
        run_here("bench", "citeseer", "graph.npz", cwd=tmp_path)
    )
    assert "nope.ticket: no such file, expected a ticket" in refused(
        run_here("bench", "nope.ticket", "graph.npz", cwd=tmp_path)
    )
    ticket.write_bytes(ticket.read_bytes()[:-9])
    assert "not a ticket file, or a damaged one" in refused(
        run_here("bench", "a.ticket", "graph.npz", cwd=tmp_path)
    )


def test_a_ticket_by_another_name_is_recognised(ticket, tmp_path):
    other = ticket.rename(tmp_path / "mine.safetensors")
    assert "expected its graph" in refused(run_here("bench", other.name, cwd=tmp_path))


def test_a_method_that_has_no_structure_is_refused(tmp_path):
    done = run_here("find", "--method", "ugs", "--structure", "neurons", cwd=tmp_path)
    assert "ugs has no option 'structure'" in refused(done)


def test_queries_to_a_server_are_timed(ticket, tmp_path, monkeypatch):
    monkeypatch.setattr("teddy.ticket.serving_speed._MOST", 3)
    given = ["bench", "a.ticket", "graph.npz", "--serving"]
    done = run_here(*given, "--plot", "latency.png", "--json", cwd=tmp_path)
    ways = ["dense", "sparse graph", "sparse weights", "ticket"]
    one = [row for row in json.loads(done.stdout)["rows"] if row["threads"] == 1]
    assert [row["way"] for row in one] == 3 * ways
    assert [row["batch"] for row in one][::4] == [1, 40, 40]  # of 64 and 1,024, all there are
    for dense, graph, weights, both in zip(*[iter(one)] * 4, strict=True):
        assert both["edges"] == graph["edges"] <= weights["edges"] == dense["edges"]
        assert both["nodes"] <= dense["nodes"]
        assert both["megabytes"] < dense["megabytes"]
        assert 0 < dense["p50"] <= dense["p99"]
    assert (tmp_path / "latency.png").read_bytes()[1:4] == b"PNG"
    assert "Queries about 40 nodes of graph.npz, 1 thread" in run_here(*given, cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["citeseer", "--serving"], "expected --serving and --plot with a ticket"),
        (["a.ticket", "graph.npz", "--plot", "a.png"], "plot is 'a.png', expected only with"),
        (["a.ticket", "graph.npz", "--serving", "--plot", "a.gif"], "ends in '.gif', expected"),
    ],
)
def test_options_of_serving_that_do_not_fit(ticket, tmp_path, arguments, message):
    assert message in refused(run_here("bench", *arguments, cwd=tmp_path))
