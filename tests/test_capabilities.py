"""Capabilities: every cell of the matrix is tried on a tiny graph."""

from __future__ import annotations

import copy
import re
from itertools import combinations
from pathlib import Path

import pytest
import torch
from tools import make_capabilities
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import GraphConv, HeteroConv

import teddy
from cli.command import run_forked
from conftest import small_graph
from graph_sets import rings_and_trees
from hetero_graphs import CITES, REV, WRITES, library
from teddy.capabilities import FEATURES, reason_against
from teddy.methods import METHODS
from teddy.tasks import TASKS
from teddy.ticket.operations import OPERATIONS
from teddy.ticket.speed import measure
from teddy.weights.units import Part as UnitPart
from teddy.weights.units import Units

DOCS = Path(__file__).parents[1] / "docs"
TINY = {"epochs": 1, "graph_sparsity": 0.05, "weight_sparsity": 0.05}

pytest.importorskip("pymetis")


class Typed(nn.Module):
    """A module of relations that weighs edges and declares hidden units."""

    def __init__(self) -> None:
        super().__init__()
        layers = {WRITES: GraphConv((4, 6), 6), CITES: GraphConv(6, 6), REV: GraphConv((6, 4), 6)}
        self.conv, self.first, self.last = HeteroConv(layers), nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x_dict, edge_index_dict, edge_weight_dict=None):
        weights = {} if edge_weight_dict is None else {"edge_weight_dict": edge_weight_dict}
        hidden = self.conv(x_dict, edge_index_dict, **weights)["paper"]
        return self.last(self.first(hidden).relu())

    def units(self):
        given = UnitPart(self.first.weight, 0), UnitPart(self.first.bias, 0)
        return [Units(8, given, (UnitPart(self.last.weight, 1),))]


def data_for(task: str, weights: bool):
    """A tiny graph, or graphs, for a task; ``heterogeneous`` is a task here."""
    if task == "heterogeneous":
        data = library(papers=24)
        del data["venue"], data["paper", "at", "venue"], data["venue", "rev_at", "paper"]
        for store in data.edge_stores if weights else ():
            store.edge_weight = torch.ones(store.edge_index.size(1))
        return data
    if task == "graph-classification":
        graphs = rings_and_trees()
        for graph in graphs if weights else ():
            graph.edge_weight = torch.ones(graph.edge_index.size(1))
        return graphs
    data = small_graph(nodes=24, features=6)
    if task == "multilabel":
        data.y = (data.x[:, :3] > 0.5).long()
    elif task == "regression":
        data.y = data.x[:, 0] + torch.arange(24) / 24
    elif task == "link-prediction":
        del data.y, data.train_mask, data.val_mask, data.test_mask
    if weights:
        data.edge_weight = 1.0 + (data.edge_index.sum(dim=0) % 3)
    return data


def batches_of_types(graph: HeteroData):
    """One batch of everything, as PyG's hetero loaders give it."""
    batch = copy.copy(graph)
    for store in batch.node_stores:
        store.n_id = torch.arange(store.num_nodes)
    batch["paper"].batch_size = batch["paper"].num_nodes
    return [batch]


def search(*parts, **more):
    """Find a ticket with some parts of a search."""
    named = {part.kind: part.name for part in parts if part.kind != "feature"}
    asked = {part.name for part in parts if part.kind == "feature"}
    task = "heterogeneous" if "heterogeneous" in asked else named.get("task", "classification")
    weights = bool(asked & {"edge weights", "weighted degrees"})
    settings = {**TINY, **more}
    if task != "heterogeneous":
        settings |= {"task": task, "hidden_channels": 8, "model": named.get("model", "gcn")}
    else:
        settings |= {"target": "paper", "model": named.get("model", Typed)}
    if "label inputs" in asked:
        settings["model"] = "unimp:label_rate=0.5"
    if "mini-batches" in asked:
        settings["loader"] = {
            "graph-classification": "graphs:batch=4", "heterogeneous": batches_of_types,
        }.get(task, "partitions:parts=2:batch=1")  # fmt: skip
    settings["method"] = named.get("method", named.get("score", "teddy"))
    for name, own in {
        "inductive": {"inductive": True},
        "directed": {"directed": True},
        "class weights": {"class_weight": "balanced"},
        "weighted degrees": {"weighted": True},
        "edge masks": {"method": "ugs"},
        "weight masks": {"weights": "masks"},
        "whole units": {"structure": "neurons"},
    }.items():
        if name in asked:
            settings |= own
    return teddy.find_ticket(data_for(task, weights), **settings)


def cells():
    for title, (rows, columns) in make_capabilities.tables().items():
        if "uses" not in title:
            yield from ((row, column) for row in rows for column in columns)
    yield from make_capabilities.pairs()


@pytest.mark.parametrize("cell", cells(), ids=lambda cell: f"{cell[0].name} x {cell[1].name}")
@pytest.mark.filterwarnings("ignore::teddy.errors.TeddyWarning")
def test_every_cell_of_the_matrix_is_true(cell):
    if reason_against(cell) is None:
        assert search(*cell).info.edges.total > 0
        return
    implied = [FEATURES[name] for part in cell for name in part.needs if name in FEATURES]
    with pytest.raises(teddy.InputError) as error:
        search(*cell)
    assert str(error.value) in map(reason_against, combinations([*cell, *implied], 2))


# Uses of a ticket


@pytest.fixture(scope="module", params=[*TASKS, "heterogeneous"])
def ticket(request):
    part = next(part for part in make_capabilities.tasks() if part.name == request.param)
    return part, search(part), data_for(request.param, weights=False)


def use(name, ticket, data, folder):
    if name.startswith("export"):
        ending = {"ONNX": "onnx", "torch.export": "pt2", "Parquet": "parquet"}[name.split()[-1]]
        ticket.export(folder / f"a.{ending}", data if ending == "parquet" else None)
        return (folder / f"a.{ending}").stat().st_size > 0
    if name == "save and load":
        ticket.save(folder / "a.ticket")
        again = teddy.Ticket.load(
            folder / "a.ticket", None if "name" in ticket.info.model else Typed
        )
        return torch.equal(again.predict(data), ticket.predict(data))
    if name == "compile":
        return torch.allclose(ticket.compile(data)(), ticket.logits(data), atol=1e-5)
    return {
        "predict": lambda: ticket.predict(data).numel() > 0,
        "evaluate": lambda: ticket.evaluate(data).keys() == {"train", "val", "test"},
        "apply": lambda: ticket.logits(ticket.apply(data)).equal(ticket.logits(data)),
        "transfer": lambda: ticket.transfer(data).info.transferred is not None,
        "speed": lambda: len(measure(ticket, data)) == 4,
        "serve": lambda: torch.equal(ticket.predict(data, [0, 2]), ticket.predict(data)[[0, 2]]),
    }[name]()


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.filterwarnings("ignore::teddy.errors.TeddyWarning")
def test_ticket_operations_match_the_matrix(name, ticket, tmp_path, monkeypatch):
    monkeypatch.setattr("teddy.ticket.speed._MOST", 1)
    part, found, data = ticket
    reason = reason_against([OPERATIONS[name], part])
    if reason is None:
        assert use(name, found, data, tmp_path)
    else:
        with pytest.raises(teddy.InputError, match=re.escape(reason)):
            use(name, found, data, tmp_path)


# The pages


@pytest.mark.parametrize("page", ["capabilities", "settings"])
def test_a_page_is_made_from_the_declarations(page):
    # In another process: tests register their own methods and scores.
    code = f"from tools.make_{page} import page; print(page(), end='')"
    done = run_forked(code=code, PYTHONPATH=str(DOCS.parent))
    assert (DOCS / f"{page}.md").read_text() == done.stdout, done.stderr


def test_every_method_is_in_the_matrix():
    rows, _ = make_capabilities.tables()["Tasks and methods"]
    assert {row.name for row in rows} == set(METHODS)
