"""Rows of a sweep over problems that do not predict nodes of one kind."""

from __future__ import annotations

from conftest import small_graph
from hetero_graphs import hetero_module, library
from teddy.methods import find_ticket
from teddy.sweep import Grid, Settings, find_over_seeds, run_sweep
from teddy.sweep.grid import Cell
from teddy.sweep.resolution import HeldOut
from teddy.sweep.row import ticket_row
from teddy.training import TrainConfig

TINY = Settings(TrainConfig(epochs=2), model_options={"hidden_channels": 4})


def test_a_sweep_over_a_set_of_graphs(tmp_path):
    grid = Grid(["solubility"], ["gcn"], ["teddy", "random"], [0, 3], [0])
    settings = TINY.updated(task="graph-classification")
    outcome = run_sweep(grid, tmp_path / "sweep", settings)
    assert outcome.failures == []
    assert len(outcome.rows) == 4
    for row in outcome.rows:
        assert row["homophily"] is None
        assert row["isolated"] >= 0
        assert row["seconds_predict_ticket"] > 0


def test_the_row_of_a_heterogeneous_ticket_is_of_all_relations_together():
    data = library()
    ticket = find_ticket(data, hetero_module(data), 0.5, 0.5, epochs=2, target="paper")
    row = ticket_row(Cell("library", "net", "teddy", 0, 13), ticket, data, HeldOut(20, 5.0))
    assert (row["edges_total"], row["edges_kept"]) == (
        ticket.info.edges.total,
        ticket.info.edges.kept,
    )
    alone = {f"{name}{node}" for name in data.node_types for node in range(data[name].num_nodes)}
    sparse = ticket.apply(data)
    for kind in sparse.edge_types:
        for source, target in sparse[kind].edge_index.t().tolist():
            if (kind[0], source) != (kind[2], target):
                alone -= {f"{kind[0]}{source}", f"{kind[2]}{target}"}
    assert row["isolated"] == len(alone)
    assert row["homophily"] is None


def test_the_row_of_a_homogeneous_ticket_has_homophily():
    data = small_graph()
    ticket = find_ticket(data, "gcn", 0.5, 0.5, epochs=2, hidden_channels=4)
    row = ticket_row(Cell("small", "gcn", "teddy", 0, 13), ticket, data, HeldOut(10, 10.0))
    assert 0 <= row["homophily"] <= 1


def test_health_where_links_are_predicted():
    study = find_over_seeds(
        small_graph(), seeds=[0], model="gcn", task="link-prediction", epochs=2, hidden_channels=4
    )
    edges = study.best.info.edges
    assert study.health["before"].edges == edges.total
    assert study.health["after"].edges == edges.kept
