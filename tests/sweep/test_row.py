"""Recorded row of a cell."""

from __future__ import annotations

import torch

import teddy
from conftest import small_graph
from sweep.sweeps import SETTINGS
from teddy.graph import Edges, graph_health
from teddy.sweep import Grid, find_over_seeds, run_sweep
from teddy.sweep.results_table import SCHEMA


def test_a_row_has_the_metadata_of_the_pruned_graph(graph, tmp_path):
    (row,) = run_sweep(Grid([graph], ["gcn"], ["teddy"], [20], [0]), tmp_path / "o", SETTINGS).rows
    assert row.keys() == set(SCHEMA.names)
    data = teddy.load_dataset(graph)
    simple, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    keep = teddy.prune.choose_edges(simple, row["graph_sparsity"])
    degree = torch.bincount(simple.pairs.flatten())
    ends = degree[simple.pairs[:, ~keep]].double()
    assert row["pruned_degree"] == float(ends.sum(dim=0).div(2).mean())
    left = graph_health(simple.pairs[:, keep], data.num_nodes, data.y)
    for name in ("components", "largest_component", "isolated", "homophily"):
        assert row[name] == getattr(left, name)
    assert row["seconds_predict_dense"] > 0
    assert row["seconds_predict_ticket"] > 0
    assert row["versions"].startswith(f"teddy {teddy.__version__}, torch {torch.__version__}")


def test_the_dense_row_removes_nothing(graph, tmp_path):
    (row,) = run_sweep(Grid([graph], ["gcn"], ["teddy"], [0], [0]), tmp_path / "o", SETTINGS).rows
    assert row.keys() == set(SCHEMA.names)
    assert row["pruned_degree"] is None
    assert row["edges_kept"] == row["edges_total"]


def test_levels_of_edges_and_weights_can_differ(graph, tmp_path):
    grid = Grid([graph], ["gcn"], ["teddy:weight_level=5"], [20], [0])
    (row,) = run_sweep(grid, tmp_path / "o", SETTINGS).rows
    assert round(row["graph_sparsity"], 2) == 0.64
    assert round(row["weight_sparsity"], 2) == 0.23
    assert row["weights_kept"] / row["weights_total"] > 0.7


def test_distillation_can_be_limited_to_training_nodes(graph, tmp_path):
    methods = ["teddy", "teddy:distill_nodes=training", "teddy:distill=0"]
    rows = run_sweep(Grid([graph], ["gcn"], methods, [5], [0]), tmp_path / "o", SETTINGS).rows
    assert len(rows) == 3
    data = teddy.load_dataset(graph)
    settings = {"model": "gcn", "graph_sparsity": 0.3, "epochs": 4, "hidden_channels": 8}
    one, other, none = (
        teddy.find_ticket(data, **settings, distill_nodes="all"),
        teddy.find_ticket(data, **settings, distill_nodes="training"),
        teddy.find_ticket(data, **settings, distill=0.0),
    )
    assert other.info.config["distill_nodes"] == "training"
    logits = [ticket.logits(data) for ticket in (one, other, none)]
    assert not torch.equal(logits[0], logits[1])
    assert not torch.equal(logits[1], logits[2])


def test_tickets_found_by_hand_have_rows_too():
    data = small_graph()
    study = find_over_seeds(
        data, seeds=[0, 1], model="gcn", graph_sparsity=0.64, epochs=2, hidden_channels=8
    )
    rows = study.rows(data, "teddy:distill=10")
    assert [(row["seed"], row["simulation"], row["method"]) for row in rows] == [
        (0, 20, "teddy:distill=10"), (1, 20, "teddy:distill=10"),
    ]  # fmt: skip
    assert rows[0].keys() == set(SCHEMA.names)
