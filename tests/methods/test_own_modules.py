"""Modules as PyG users write them: a ticket computes what a call by hand does on the kept edges."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg
from torch_geometric.data import Data

import teddy
from conftest import small_graph

NODES, RELATIONS = 40, 3


def typed_graph():
    """Each edge once in each direction, no self-loop; values of edges, nodes and the graph."""
    data = small_graph()
    edges = data.edge_index[:, data.edge_index[0] < data.edge_index[1]].unique(dim=1)
    data.edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    low, high = edges.repeat(1, 2)
    data.edge_type = (low + 2 * high) % RELATIONS
    data.edge_attr = torch.stack([low, high], dim=1) / NODES
    data.edge_time = (low * high) % 7
    data.pos = torch.rand(NODES, 2, generator=torch.Generator().manual_seed(1)).double()
    data.z = torch.arange(NODES) % 5
    data.u = torch.tensor([[0.5, -0.5, 1.0]])
    return data


class RGCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = (pyg.RGCNConv(i, o, RELATIONS) for i, o in ((12, 8), (8, 3)))

    def forward(self, x, edge_index, edge_type):
        h = self.first(x, edge_index, edge_type).relu()
        return self.last(h, edge_index, edge_type)


class Timed(nn.Module):
    """An attention with attributes of edges and an embedding of their time."""

    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(7, 4)
        self.first = pyg.TransformerConv(12, 8, edge_dim=6)
        self.last = pyg.TransformerConv(8, 3, edge_dim=6)

    def forward(self, x, edge_index, edge_attr, edge_time=None):
        known = torch.cat([edge_attr, self.time(edge_time)], dim=1)
        return self.last(self.first(x, edge_index, known).relu(), edge_index, known)


class Placed(nn.Module):
    """Positions before the graph, kinds of atoms, a value of the whole graph, a number of nodes."""

    def __init__(self):
        super().__init__()
        self.kind, self.conv = nn.Embedding(5, 4), pyg.GCNConv(18, 3)

    def forward(self, x, pos, edge_index, z=None, u=None, num_nodes=None, batch=None):
        assert num_nodes == x.size(0)
        assert batch is None
        return self.conv(torch.cat([x, pos, self.kind(z)], dim=1), edge_index) + u


class Gated(nn.Module):
    """GINE and GATv2 with attributes, over an optional weight."""

    def __init__(self):
        super().__init__()
        self.first = pyg.GINEConv(nn.Linear(12, 8), edge_dim=2)
        self.last = pyg.GATv2Conv(8, 3, edge_dim=2)

    def forward(self, x, edge_index, edge_weight=None, edge_attr=None):
        h = self.first(x, edge_index, edge_attr).relu()
        return self.last(h, edge_index, edge_attr)


class Cached(nn.Module):
    """All kinds of layers that remember a graph."""

    def __init__(self):
        super().__init__()
        self.lin, self.first = nn.Linear(12, 12), pyg.GCNConv(12, 8, cached=True)
        self.spread = pyg.APPNP(3, 0.1, cached=True)
        self.simple, self.shared = (
            pyg.SGConv(8, 8, cached=True),
            pyg.SSGConv(8, 8, 0.1, cached=True),
        )
        self.mixed = pyg.EGConv(8, 8, cached=True)
        self.last = pyg.GCN2Conv(8, 0.1, cached=True)
        self.out = nn.Linear(8, 3)

    def forward(self, x, edge_index):
        first = self.first(self.lin(x), edge_index).relu()
        h = self.mixed(self.shared(self.simple(first, edge_index), edge_index), edge_index)
        return self.out(self.spread(self.last(h, first, edge_index), edge_index))


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = pyg.SAGEConv(-1, 8), pyg.SAGEConv(-1, 3)

    def forward(self, x, edge_index, batch):
        assert batch.tolist() == [0] * x.size(0)
        return self.last(self.first(x, edge_index).relu(), edge_index)


def jumping():
    return pyg.GAT(12, 8, num_layers=3, out_channels=3, jk="cat", edge_dim=2)


def sequential():
    conv, last = pyg.RGCNConv(12, 8, RELATIONS), pyg.RGCNConv(8, 3, RELATIONS)
    header = "x, edge_index, edge_type"
    return pyg.Sequential(header, [(conv, f"{header} -> x"), nn.ReLU(), (last, f"{header} -> x")])


#: A module, and what of the graph it is given.
MODULES = {
    "RGCN": (RGCN, ["edge_type"], {}),
    "TransformerConv": (Timed, ["edge_attr", "edge_time"], {}),
    "positions": (Placed, [], {"node_inputs": ["pos", "z"], "graph_inputs": ["u"]}),
    "GINE and GATv2": (Gated, ["edge_attr"], {}),
    "cached": (Cached, [], {}),
    "lazy": (Lazy, [], {}),
    "jumping knowledge": (jumping, ["edge_attr"], {}),
    "Sequential": (sequential, ["edge_type"], {}),
}


def by_hand(model, data, edges, names):
    """The module's own call on the kept edges, listed in another order."""
    order = torch.randperm(edges.size(1), generator=torch.Generator().manual_seed(2))
    edges = edges[:, order]
    number = {tuple(e): i for i, e in enumerate(data.edge_index.t().tolist())}
    columns = torch.tensor([number[tuple(e)] for e in edges.t().tolist()])
    named = {n: data[n][columns] if n.startswith("edge_") else data[n] for n in names}
    named = {n: v.float() if v.is_floating_point() else v for n, v in named.items()}
    if isinstance(model, Lazy):
        named["batch"] = torch.zeros(NODES, dtype=torch.long)
    if isinstance(model, Placed):
        named["num_nodes"] = NODES
    model = copy.deepcopy(model).eval()
    with torch.no_grad():
        return model(x=data.x, edge_index=edges, **named)


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("inductive", [False, True])
@pytest.mark.parametrize("name", MODULES)
def test_a_ticket_equals_a_call_by_hand(name, inductive, tmp_path):
    make, of_edges, beside = MODULES[name]
    data = typed_graph()
    ticket = teddy.find_ticket(data, make, 0.5, 0.3, epochs=2, inductive=inductive)
    header = ticket.info.graph
    assert header["edge_inputs"] == of_edges
    assert {k: header[k] for k in ("node_inputs", "graph_inputs") if k in header} == beside
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", make)
    names = [*of_edges, *(n for found in beside.values() for n in found)]
    kept = again.apply(data).edge_index
    assert kept.size(1) < data.edge_index.size(1)
    expected = by_hand(again.model, data, kept, names)
    close(again.logits(data), expected)
    close(again.compile(data)(), expected)
    assert again.evaluate(data)["test"] == ticket.info.ticket.test
    # Values are taken from the data that come, and have a part in it.
    for key in names:
        other = data.clone()
        other[key] = data[key].flip(0) if key.startswith("edge_") is False else 0 * data[key]
        if key == "u":
            other.u = data.u + 1
        close(again.logits(other), by_hand(again.model, other, kept, names))
        del other[key]
        with pytest.raises(teddy.InputError, match=f"data have no {key}, expected it"):
            again.logits(other)


def test_values_of_nodes_that_training_must_not_see_change_nothing():
    data = typed_graph()
    other = data.clone()
    other.pos = torch.where(data.train_mask[:, None], data.pos, data.pos + 9)
    torch.manual_seed(0)
    module = Placed()
    settings = {"epochs": 1, "inductive": True}
    found = [teddy.find_ticket(d, module, 0.4, 0.3, **settings) for d in (data, other)]
    for ours, theirs in zip(*(ticket.model.parameters() for ticket in found), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("directed", [False, True])
def test_a_value_follows_its_edge(directed):
    """Types that differ by direction need directed=True, and then each direction has its own."""
    data = typed_graph()
    half = data.num_edges // 2
    data.edge_type = (torch.arange(2 * half) >= half).long()  # the reverse relation
    if not directed:
        with pytest.raises(
            teddy.InputError, match=r"is . and .,.*; directed=True has one for each"
        ):
            teddy.find_ticket(data, RGCN, 0.5, 0.3, epochs=1)
        return
    ticket = teddy.find_ticket(data, RGCN, 0.5, 0.3, epochs=1, directed=True)
    kept = ticket.apply(data).edge_index
    close(ticket.logits(data), by_hand(ticket.model, data, kept, ["edge_type"]))


@pytest.mark.parametrize("directed", [False, True])
def test_parallel_edges_of_several_types_are_refused_with_a_remedy(directed):
    data = typed_graph()
    data.edge_index = torch.cat([data.edge_index, data.edge_index[:, :1]], dim=1)
    data.edge_type = torch.cat([data.edge_type, (data.edge_type[:1] + 1) % RELATIONS])
    del data.edge_attr, data.edge_time
    with pytest.raises(teddy.InputError, match="make each kind a relation of a HeteroData"):
        teddy.find_ticket(data, RGCN, 0.5, 0.3, epochs=1, directed=directed)


class Weighing(nn.Module):
    """Masks are learned as weights, beside values of nodes and edges."""

    def __init__(self):
        super().__init__()
        self.conv, self.kind = pyg.GCNConv(14, 3), nn.Parameter(torch.rand(RELATIONS))

    def forward(self, x, pos, edge_index, edge_type, edge_weight=None):
        weight = self.kind[edge_type] if edge_weight is None else edge_weight * self.kind[edge_type]
        return self.conv(torch.cat([x, pos], dim=1), edge_index, weight)


def test_masks_are_learned_beside_values_of_nodes_and_edges():
    data = typed_graph()
    ticket = teddy.find_ticket(data, Weighing, 0.05, 0.05, epochs=2, method="ugs")
    assert ticket.info.edges.kept < ticket.info.edges.total
    kept = ticket.apply(data).edge_index
    close(ticket.logits(data), by_hand(ticket.model, data, kept, ["pos", "edge_type"]))


def test_links_take_values_of_nodes_and_edges():
    data = typed_graph()
    ticket = teddy.find_ticket(data, Weighing, 0.3, 0.3, epochs=2, task="link-prediction")
    assert ticket.info.graph["edge_inputs"] == ["edge_type"]
    assert ticket.info.graph["node_inputs"] == ["pos"]
    links = teddy.split_links(data)
    outputs = by_hand(ticket.model, data, ticket.edge_index(links), ["pos", "edge_type"])
    ends = outputs[links.edge_label_index]
    close(ticket.logits(links), (ends[0] * ends[1]).sum(dim=1, keepdim=True))
    close(ticket.logits(data), ticket.logits(links))


class OfGraphs(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.kind = pyg.GCNConv(4, 2), nn.Parameter(torch.rand(2))

    def forward(self, x, pos, edge_index, edge_type, batch, num_nodes):
        assert num_nodes == x.size(0)
        h = self.conv(torch.cat([x, pos], dim=1), edge_index, self.kind[edge_type])
        return pyg.global_add_pool(h, batch)


def test_a_set_of_graphs_takes_values_of_nodes_and_edges(tmp_path):
    graphs = []
    for number in range(12):
        torch.manual_seed(number)
        path = torch.stack([torch.arange(4), torch.arange(1, 5)])
        kinds = torch.randint(2, (4,))
        graphs.append(Data(
            x=torch.rand(5, 2), pos=torch.rand(5, 2), y=number % 2,
            edge_index=torch.cat([path, path.flip(0)], dim=1), edge_type=kinds.repeat(2),
            smiles="C" * number,
        ))  # fmt: skip
    ticket = teddy.find_ticket(graphs, OfGraphs, 0.5, 0.3, epochs=2, task="graph-classification")
    assert ticket.info.graph["node_inputs"] == ["pos"]
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", OfGraphs)
    kept, model = again.apply(graphs), again.model
    with torch.no_grad():
        expected = model(kept.x, kept.pos, kept.edge_index, kept.edge_type, kept.batch, 60)
    close(again.logits(graphs), expected)
    for graph in graphs:
        graph.pos = graph.pos + 1
    assert not torch.allclose(again.logits(graphs), expected)


def test_a_transferred_ticket_takes_the_values_of_the_changed_graph():
    data = typed_graph()
    ticket = teddy.find_ticket(data, RGCN, 0.5, 0.3, epochs=2)
    changed = typed_graph()
    keep = torch.arange(data.num_edges // 2) > 2
    changed = changed.edge_subgraph(keep.repeat(2))
    moved = ticket.transfer(changed)
    kept = moved.apply(changed).edge_index
    close(moved.logits(changed), by_hand(moved.model, changed, kept, ["edge_type"]))
