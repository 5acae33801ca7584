"""The search for the ticket that is cheapest to serve."""

from __future__ import annotations

import json

import pytest

import teddy
from cli.command import refused, run_here, save_npz
from sweep.sweeps import SETTINGS
from teddy.sweep import Settings, search_serving, search_sparsest
from teddy.ticket import Ticket
from teddy.ticket.serving_speed import serving_cost

#: Three seeds accept everything with this tolerance.
WIDE = 900.0
METHODS = ["teddy:only=edges", "random:only=edges"]
OPTIONS = {"tolerance": WIDE, "seeds": 3, "levels": [5, 20], "settings": SETTINGS}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serving")
    save_npz(folder / "graph.npz")
    graph, out = str(folder / "graph.npz"), folder / "out"
    file = folder / "cheapest.ticket"
    result = search_serving(
        graph, "gcn", out, methods=METHODS, batch=4, ticket=file, confidence=0.9, **OPTIONS
    )
    return graph, out, file, result


def test_the_cheapest_accepted_ticket_is_the_answer(found):
    graph, _, file, result = found
    assert {ticket.method for ticket in result.tickets} == set(METHODS)
    edges = [ticket.cost.edges for ticket in result.tickets]
    assert edges == sorted(edges)
    assert result.cheapest is result.tickets[0]
    ticket = Ticket.load(file)
    assert ticket.info.score == result.cheapest.method.partition(":")[0]
    assert ticket.info.seed == result.cheapest.answer.seed
    cost = serving_cost(ticket, teddy.load_dataset(graph), batch=4)
    assert cost == result.cheapest.cost


def test_each_method_is_searched_with_its_share_of_the_error(found):
    graph, out, _, result = found
    for method, search in zip(METHODS, result.searches, strict=True):
        assert search.method == method
        assert search.rule.confidence == pytest.approx(0.95)
        alone = search_sparsest(graph, "gcn", out, method=method, confidence=0.95, **OPTIONS)
        assert [t.point for t in alone.tried] == [t.point for t in search.tried]
        assert alone.computed == 0


def test_costs_are_means_over_queries(found):
    graph, _, file, _ = found
    ticket, data = Ticket.load(file), teddy.load_dataset(graph)
    cost = serving_cost(ticket, data, batch=40, draws=3)
    kept = ticket.server(data).gathered(range(40))
    assert (cost.nodes, cost.edges) == (kept.nodes, kept.edges)
    assert (cost.dense_nodes, cost.dense_edges) == (40, 2 * ticket.info.edges.total)


def test_an_interrupted_search_resumes(found):
    graph, out, _, result = found
    again = search_serving(graph, "gcn", out, methods=METHODS, batch=4, confidence=0.9, **OPTIONS)
    assert sum(search.computed for search in again.searches) == 0
    assert again.tickets == result.tickets


def test_nothing_may_be_accepted(found, tmp_path):
    graph, out, _, _ = found
    options = {**OPTIONS, "tolerance": 0.0}
    none = search_serving(
        graph, "gcn", out, methods=METHODS, ticket=tmp_path / "a.ticket", **options
    )
    assert none.cheapest is None
    assert none.tickets == []
    assert not (tmp_path / "a.ticket").exists()


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("specformer", {}, "serving of single nodes .* does not support model specformer"),
        ("gcn", {"methods": []}, "got no methods"),
        ("gcn", {"batch": 0}, "batch is 0"),
        ("gcn", {"confidence": -0.5}, "confidence is -0.5"),
        ("gcn", {"confidence": "0.9"}, "confidence is 0.9"),
        ("gcn", {"frontier": True}, "frontier is not supported"),
        ("gcn", {"settings": SETTINGS.updated(task="regression")}, "does not support score gain"),
        ("gcn", {"ticket": "nowhere/a.ticket"}, "there is no folder nowhere"),
        ("gcn", {"settings": SETTINGS.updated(task="link-prediction")}, "a server predicts nodes"),
    ],
)
def test_what_cannot_be_served_is_refused_before_training(found, tmp_path, model, options, message):
    graph = found[0]
    with pytest.raises(teddy.InputError, match=message):
        search_serving(graph, model, tmp_path / "out", **{**OPTIONS, **options})
    assert not (tmp_path / "out").exists()


def test_the_command_prints_tickets_by_cost(found, tmp_path):
    graph, _, _, result = found
    options = [
        "--model", "gcn", "--minimise", "serving", "--method", ",".join(METHODS), "--max-level",
        20, "--step", 5, "--seeds", 3, "--tolerance", WIDE, "--confidence", 0.9, "--query-nodes", 4,
        "--epochs", 4, "--hidden-channels", 8, "--out", "s",
    ]  # fmt: skip
    done = run_here("search", graph, *options, "--plot", "s.png", "--ticket", "a.ticket",
                    cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "by the messages that a server sums for 4 random nodes" in done.stdout
    assert f"Cheapest: {result.cheapest.method}, level 20" in done.stdout
    assert (tmp_path / "s.png").stat().st_size > 0
    assert Ticket.load(tmp_path / "a.ticket").info.score == Ticket.load(found[2]).info.score
    done = run_here("search", graph, *options, "--json", cwd=tmp_path)
    printed = json.loads(done.stdout)
    assert [ticket["method"] for ticket in printed["tickets"]] == [
        ticket.method for ticket in result.tickets
    ]
    assert printed["tickets"][0]["cost"]["edges"] == result.cheapest.cost.edges
    assert printed["tickets"][0]["edges"] == result.cheapest.answer.tried.point.edges
    assert printed["confidence"] == 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--minimise", "servng"], "did you mean 'serving'?"),
        (["--method", "teddy,random"], "expected one method, or --minimise serving"),
        (["--query-nodes", 4], "query-nodes has no effect"),
        (["--minimise", "serving", "--query-nodes", 0], "query-nodes is 0"),
        (["--minimise", "serving", "--frontier"], "frontier is not supported with --minimise"),
        (["--minimise", "serving", "--method", ","], "expected"),
        (["--minimise", "serving", "--confidence", 1.2], "confidence is 1.2"),
    ],
)
def test_wrong_options_are_refused(options, message, tmp_path):
    assert message in refused(run_here("search", "citeseer", *options, cwd=tmp_path))


def test_your_own_module_is_served(found, tmp_path):
    (tmp_path / "net.py").write_text(
        "from torch_geometric.nn import GCN\n"
        "def make(data):\n"
        "    return GCN(data.x.size(1), 8, 2, out_channels=3)\n"
    )
    model = f"{tmp_path / 'net.py'}:make"
    result = search_serving(
        found[0], model, tmp_path / "out", methods=["teddy:only=edges"],
        **{**OPTIONS, "settings": Settings(SETTINGS.train)},
    )  # fmt: skip
    assert result.cheapest.cost.edges < result.cheapest.cost.dense_edges
