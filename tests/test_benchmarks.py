"""The opponent of the benchmarks computes the same as the library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from benchmarks import neighbourhoods, own_layers, weight_budgets
from benchmarks.changed import grown
from benchmarks.compiled import inference, line
from benchmarks.heterophily import SCORES as COMPARED_SCORES
from benchmarks.heterophily import compare as heterophily
from benchmarks.heterophily import rewired
from benchmarks.published import PUBLISHED, PublishedTraining
from benchmarks.scaling import doubling
from benchmarks.scoring import published_prune, random_graph
from benchmarks.search import compare, levels_apart
from benchmarks.spark_bytes import add_up
from benchmarks.tables import tables
from benchmarks.tasks import compare as compare_tasks
from benchmarks.tasks import table as task_table
from torch_geometric.data import Data

import teddy
from cli.command import save_npz
from conftest import small_graph
from teddy.graph import Edges
from teddy.methods import Problem
from teddy.models import build_model
from teddy.sweep import LevelPair, Settings
from teddy.training import TrainConfig, train

ROOT = Path(__file__).parents[1]
PARTS = ("train", "val", "test")


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_opponent_gives_the_same_logits(name):
    data = small_graph()
    data.edge_index = Edges.from_columns(data.edge_index, 40)[0].edge_index
    torch.manual_seed(0)
    model = build_model(name, 12, 3, hidden_channels=16, dropout=0.0)
    teacher = torch.randn(40, 3)
    opponent = PublishedTraining(PUBLISHED[name](model, data), data, teacher, 0.5)
    ours = []

    def look(_):
        with torch.no_grad():
            ours.append(model.eval()(data.x, data.edge_index))

    config = TrainConfig(epochs=5)
    train(model, data, config, teacher=teacher, weight_sparsity=0.5, callbacks=[look])
    for z in ours:
        torch.testing.assert_close(opponent.epoch(), z, rtol=1e-3, atol=1e-4)


def test_the_opponent_scores_the_same_edges():
    edges = random_graph(20_000, 2000)
    graph, _ = Edges.from_columns(edges, 2000)
    assert torch.equal(graph.edge_index, edges)
    ours = teddy.prune_edges(edges, 0.64, num_nodes=2000)
    theirs = published_prune(edges, 2000, 0.64)
    # In single precision, and one direction at a time: a few at the threshold differ.
    assert int((ours != theirs).sum()) <= 20


def test_a_doubled_problem_can_be_timed():
    assert doubling("gcn", num_nodes=300, rounds=2)["factor"] > 0


def test_tickets_of_both_kinds_are_held_against_the_dense_model(tmp_path, monkeypatch):
    def timed():
        options = {
            "seeds": 1,
            "epochs": 2,
            "seconds": 0.0,
            "hidden_channels": 32,
            "tickets": tmp_path,
        }
        return list(inference("citeseer", "gcn", [20], **options))

    rows = timed()
    assert [row["structure"] for row in rows] == ["none", "neurons"]
    assert rows[0]["dense"] == rows[1]["dense"]  # trained once
    assert rows[1]["fewer_macs"] > 1
    assert line(rows[1]).startswith("| citeseer gcn | 20 | neurons | ")
    monkeypatch.setattr(Problem, "train", None)  # tickets are there: nothing is trained again
    assert [row["ticket"] for row in timed()] == [row["ticket"] for row in rows]


@pytest.mark.long
@pytest.mark.parametrize(
    "engines", [("stream",), pytest.param(("memory", "stream"), marks=pytest.mark.slow)]
)
def test_tables_of_any_size(tmp_path, capsys, engines):
    rows = tables((20_000,), engines, tmp_path)
    assert tuple(row["engine"] for row in rows) == engines
    assert all(row["peak_bytes"] > 10**8 and row["seconds"] > 0 for row in rows)
    assert "stream, 20,000 edges, 2,000 nodes" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_bytes_of_an_event_log():
    def task(read, shuffled):
        metrics = {
            "Input Metrics": {"Bytes Read": read},
            "Shuffle Write Metrics": {"Shuffle Bytes Written": shuffled},
        }
        return {"Event": "SparkListenerTaskEnd", "Task Metrics": metrics}

    events = [
        {"Event": "SparkListenerJobStart"}, task(5, 7), task(1, 2),
        {"Event": "SparkListenerTaskEnd", "Task Metrics": None},
        {"Event": "SparkListenerStageCompleted"},
    ]  # fmt: skip
    totals, stages, jobs = add_up(events)
    assert dict(totals) == {"read": 6, "shuffled": 9, "written": 0}
    assert (stages, jobs) == (1, 1)


def test_a_search_is_held_against_the_full_grid(tmp_path):
    settings = Settings(TrainConfig(epochs=3), model_options={"hidden_channels": 8})
    graph = str(save_npz(tmp_path / "graph.npz"))
    options = {"levels": [5, 10], "seeds": 3, "tolerance": 60.0}
    row = compare(graph, "gcn", tmp_path / "out", settings, **options)
    assert row["search"] == row["grid"] == [{"edges": 10, "weights": 10}]
    assert row["apart"] == 0
    assert row["trainings"] == {"search": 6, "grid": 9}
    assert len(row["full_grid"]) == 2
    again = compare(graph, "gcn", tmp_path / "out", settings, **options)
    assert again["found"]["trainings"]["computed"] == 0


def test_answers_are_compared_by_levels():
    near = [LevelPair(20, 5), LevelPair(10, 10)]
    assert levels_apart([5, 10, 15, 20], near, [LevelPair(20, 10), LevelPair(10, 15)]) == 1
    assert levels_apart([5, 10, 15, 20], near, [LevelPair(20, 20)]) == 3
    assert levels_apart([5, 10], [], [LevelPair(5, 5)]) == 1
    assert levels_apart([5, 10], [], []) == 0


def test_a_graph_that_grows_is_evaluated_under_each_rule():
    found = grown(small_graph(), "gcn", seeds=1, share=0.2, epochs=2, hidden_channels=4)
    assert found.keys() == {"scored", "training", "none", "found anew"}
    assert all(0 <= value <= 100 for parts in found.values() for (value,) in parts.values())


def test_scores_on_graphs_of_a_given_homophily(citeseer):
    graph = rewired(citeseer, 0.3, seed=1)
    y, (one, other) = graph.y, graph.edge_index
    assert graph.edge_index.size(1) == 2 * 4552
    assert float((y[one] == y[other]).float().mean()) == pytest.approx(0.3, abs=1e-3)
    assert torch.equal(graph.x.values(), citeseer.x.values())
    rows = list(heterophily("gcn", 0.3, level=20, seeds=1, epochs=2, hidden_channels=8))
    assert [row["score"] for row in rows] == [*COMPARED_SCORES, "auto"]
    assert all(row["dense"] == rows[0]["dense"] for row in rows)
    level = 1 - 0.95**20
    auto = teddy.find_ticket(
        rewired(citeseer, 0.3, seed=0), "gcn", level, level, method="auto", epochs=2,
        hidden_channels=8,
        distill=0.0,
    )  # fmt: skip
    assert rows[-1]["test"] == [auto.info.ticket.test]
    assert rows[-1]["chosen"] == [auto.info.score]


def test_tasks_are_compared_over_the_same_splits():
    settings = {"hidden_channels": 8, "dimensions": 4}
    rows = list(
        compare_tasks(
            "link-prediction", "citeseer", "gcn", [0, 5], ["teddy", "random"], 2, 2, **settings
        )
    )
    assert [row["method"] for row in rows] == ["dense", "random", "random", "teddy", "teddy"]
    dense = rows[0]["test"]
    assert len(set(dense)) == 2  # a split for each seed
    for row in rows[3:]:
        means = [sum(values) / 2 for values in (row["test"], dense)]
        assert row["over_dense"]["mean"] == pytest.approx(means[0] - means[1])
        assert "over_random" in row
        assert len(row["hits"]) == 2
    lines = task_table(rows)
    assert lines[0] == "| | dense | 23% removed |"
    assert lines[-1].startswith("| citeseer, gcn, teddy, not distilled | ")


def test_graphs_are_a_task_to_compare():
    rows = list(
        compare_tasks(
            "graph-classification", "solubility", "gcn", [5], ["teddy"], 1, 2, hidden_channels=8
        )
    )
    assert [(row["method"], row["distill"]) for row in rows] == [
        ("dense", None), ("teddy", 10.0), ("teddy", 0.0)
    ]  # fmt: skip
    assert len(task_table(rows)) == 4


def test_the_table_of_own_layers_is_that_of_the_results():
    rows = json.loads((own_layers.PAGE.parent / "results" / "bench_own_layers.json").read_text())
    text = "\n".join([own_layers.BEGIN, *own_layers.table(rows["rows"]), own_layers.END])
    assert text in own_layers.PAGE.read_text()


def test_the_table_of_neighbourhoods_is_that_of_the_results():
    rows = json.loads((ROOT / "docs/results/bench_neighbourhoods.json").read_text())["rows"]
    assert "\n".join(neighbourhoods.table(rows)) in (ROOT / "docs/results.md").read_text()


def test_the_table_of_weight_budgets_is_that_of_the_results():
    rows = json.loads((ROOT / "docs/results/bench_weights.json").read_text())
    text = (ROOT / "docs/results.md").read_text()
    assert (
        "\n".join([weight_budgets.BEGIN, *weight_budgets.table(rows), weight_budgets.END]) in text
    )


def test_a_weight_budget_is_trained():
    masks = {f"{part}_mask": torch.arange(20) % 3 == i for i, part in enumerate(PARTS)}
    data = Data(
        x=torch.rand(20, weight_budgets.FEATURES),
        edge_index=torch.randint(20, (2, 60)),
        y=torch.arange(20) % weight_budgets.CLASSES,
        **masks,
    )
    names = [name for name in weight_budgets.MODELS if "embedding" not in name]
    for model, optimizer in zip(names, [*weight_budgets.OPTIMIZERS] * 3, strict=False):
        for budget in weight_budgets.BUDGETS:
            test = weight_budgets.train_once(data, model, optimizer, 0.8, budget, 0, epochs=60)
            assert 0 <= test <= 100
