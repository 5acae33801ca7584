"""Integer ``x``, ids that a module looks up: from the search to a compiled ticket."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.loader import RandomNodeLoader
from torch_geometric.nn import GCNConv, GraphConv, HeteroConv, SAGEConv

import teddy
from cli.command import run_here
from conftest import small_graph
from graph_sets import rings_and_trees
from hetero_graphs import library
from teddy.data import check_data
from teddy.models import build_model
from teddy.ticket.speed import compiled_variants


class Lookup(nn.Module):
    """An embedding of ids from 2^24 on; a float32 holds no odd one of them."""

    def __init__(self, outputs=3):
        super().__init__()
        self.embed, self.conv = nn.Embedding(64, 16), GraphConv(16, outputs)
        nn.init.normal_(self.embed.weight, std=0.1)  # of 1, no weight of the layer would be kept

    def forward(self, x, edge_index, edge_weight=None):
        assert x.dtype == torch.int64
        x = x if x.dim() == 1 else x[:, 0]
        return self.conv(self.embed(x - 2**24), edge_index, edge_weight)


def ids(columns=False, dtype=torch.int64):
    data = small_graph()
    x = 2**24 + torch.arange(40, dtype=dtype)
    data.x = torch.stack([x, x], dim=1) if columns else x
    return data


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_search_save_load_predict_evaluate(columns, dtype, tmp_path):
    data = ids(columns, dtype)
    ticket = teddy.find_ticket(data, Lookup(), 0.2, 0.2, epochs=60, distill=0.0)
    assert ticket.info.graph["features"] == (2 if columns else 1)
    assert ticket.info.graph["integer_x"] == (2 if columns else 1)
    assert ticket.evaluate(data)["train"] > 99  # every node has its own row
    ticket.save(tmp_path / "ids.ticket")
    again = teddy.Ticket.load(tmp_path / "ids.ticket", Lookup())
    assert torch.equal(again.predict(data), ticket.predict(data))
    assert again.verify(data, 0.0)["test"] == ticket.info.ticket.test
    assert torch.equal(ticket.compile(data)(), ticket.logits(data))
    assert torch.equal(ticket.compile(data)(data.x.flip(0).flip(0)), ticket.logits(data))
    assert set(compiled_variants(ticket, data)) == {
        "dense",
        "sparse graph",
        "sparse weights",
        "compiled",
    }
    assert "nodes=40" in repr(ticket.compile(data))
    assert data.x.dtype == dtype


@pytest.mark.parametrize("method", ["teddy", "ugs", "random"])
def test_methods(method):
    data = ids()
    data.edge_weight = torch.full((data.num_edges,), 0.5)  # doesn't become 0, an integer
    ticket = teddy.find_ticket(data, Lookup(), method=method, epochs=4)
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)
    whole = ids()
    whole.edge_weight = torch.ones(data.num_edges)
    assert not torch.equal(ticket.logits(data), ticket.logits(whole))


def test_inductive_and_batches():
    data = ids()
    ticket = teddy.find_ticket(data, Lookup(), epochs=4, inductive=True)
    assert ticket.verify(data, 0.0)
    for loader in ("partitions:parts=4:batch=2", lambda graph: RandomNodeLoader(graph, 3)):
        ticket = teddy.find_ticket(data, Lookup(), epochs=4, loader=loader)
        assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)


def test_a_command_reads_them(tmp_path):
    data = ids()
    ticket = teddy.find_ticket(data, Lookup(), epochs=4)
    ticket.save(tmp_path / "ids.ticket")
    torch.save(data, tmp_path / "graph.pt")
    np.savez(tmp_path / "graph.npz", **{k: data[k].numpy() for k in data.keys()})  # noqa: SIM118
    source = "from methods.test_integer_features import Lookup\n"
    (tmp_path / "own.py").write_text(source)
    for file in ("graph.pt", "graph.npz"):
        options = ["--module", "own.py:Lookup"]
        done = run_here("predict", "ids.ticket", file, *options, cwd=tmp_path)
        assert f"test accuracy {ticket.info.ticket.test:.2f}%" in done.stderr, done.stderr


@pytest.mark.parametrize("as_module", [False, True])
def test_built_in_models_take_floats(as_module):
    data = small_graph()
    data.x = (10 * data.x).round().long()
    floats = data.clone()
    floats.x = data.x.float()
    model = build_model("gcn", 12, 3, hidden_channels=8) if as_module else "gcn"
    options = {} if as_module else {"hidden_channels": 8}
    tickets = [teddy.find_ticket(d, model, epochs=4, **options) for d in (data, floats)]
    assert tickets[0].info == tickets[1].info
    assert torch.equal(tickets[0].logits(data), tickets[1].logits(floats))
    assert check_data(data).x.dtype == torch.float32


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GCNConv(12, 3)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)


def test_one_line():
    data = ids()
    ticket = teddy.find_ticket(data, Lookup(), epochs=2)
    other = ids()
    other.x = data.x.float().view(-1, 1)
    with pytest.raises(teddy.InputError, match=r"x is float32 of shape \[40, 1\], expected intege"):
        ticket.predict(other)
    with pytest.raises(
        teddy.InputError, match=r"x is int64 of shape \[40, 2\], expected integers "
    ):
        ticket.predict(ids(columns=True))
    with pytest.raises(teddy.InputError, match="features are float32, expected integers, as comp"):
        ticket.compile(data)(other.x)
    with pytest.raises(teddy.InputError, match=r"x has shape \[40\], expected \[N, F\]"):
        teddy.find_ticket(data, "gcn", epochs=2)
    counts = small_graph()
    counts.x = counts.x.round().long()
    with pytest.raises(teddy.InputError, match=r"a Linear fails on integer x .*data.x.float\(\)$"):
        teddy.find_ticket(counts, Linear(), epochs=2)
    data.x[3] = 2**24 + 64  # no row in the embedding
    with pytest.raises(teddy.InputError, match=r"a Lookup fails on integer x \(IndexError: "):
        teddy.find_ticket(data, Lookup(), epochs=2)


class Atoms(nn.Module):
    """Looks ids up, as models of molecules do."""

    def __init__(self, outputs=2):
        super().__init__()
        self.embedding, self.conv = nn.Embedding(9, 4), GCNConv(4, outputs)

    def forward(self, x, edge_index):
        return self.conv(self.embedding(x.flatten()).relu(), edge_index)


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_graph_sets_keep_ids(shape, tmp_path):
    graphs = rings_and_trees()
    for graph in graphs:
        graph.x = (torch.arange(graph.num_nodes) % 9).view(shape)
    ticket = teddy.find_ticket(graphs, Atoms(), 0.3, 0.3, epochs=3, task="graph-classification")
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", Atoms())
    assert torch.equal(again.logits(graphs), ticket.logits(graphs))
    assert again.info.graph["integer_x"] == len(shape)
    if len(shape) == 2:
        plain = teddy.find_ticket(graphs, "gcn", 0.3, 0.3, epochs=3, task="graph-classification",
                                  hidden_channels=8)  # fmt: skip
        for graph in graphs:
            graph.x = graph.x.float()
        assert torch.isfinite(plain.logits(graphs)).all()


def test_links_keep_ids(tmp_path):
    data = small_graph()
    data.x = torch.arange(40) % 9
    ticket = teddy.find_ticket(data, Atoms(8), 0.3, 0.3, epochs=3, task="link-prediction")
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", Atoms(8))
    assert torch.equal(again.logits(data), ticket.logits(data))


def test_relations_keep_ids(tmp_path):
    data = library()
    for name in data.node_types:
        data[name].x = torch.arange(data[name].num_nodes) + 2**24

    class Typed(nn.Module):
        def __init__(self):
            super().__init__()
            self.embeddings = nn.ModuleDict({n: nn.Embedding(300, 4) for n in data.node_types})
            self.conv = HeteroConv({kind: SAGEConv((4, 4), 3) for kind in data.edge_types})

        def forward(self, x_dict, edge_index_dict):
            x = {name: self.embeddings[name](x - 2**24) for name, x in x_dict.items()}
            return self.conv(x, edge_index_dict)

    module = Typed()
    ticket = teddy.find_ticket(data, module, 0.3, 0.3, epochs=3, target="paper")
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", module)
    assert torch.equal(again.logits(data), ticket.logits(data))
