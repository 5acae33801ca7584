"""Kinds of problem for tests of mini-batches: their data, settings and models."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import DataLoader, RandomNodeLoader
from torch_geometric.nn import GraphConv, HeteroConv, global_mean_pool
from torch_geometric.utils import subgraph

import teddy
from conftest import LAYERED, small_graph
from graph_sets import rings_and_trees
from hetero_graphs import CITES, REV, WRITES, hetero_module, library
from teddy.methods import make_problem
from teddy.settings import Settings
from teddy.training import as_loader, seeded, train


def each_once(data):
    """Each edge once in each direction, no self-loop."""
    edges = data.edge_index[:, data.edge_index[0] < data.edge_index[1]].unique(dim=1)
    data.edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    return data


def weighted():
    data = each_once(small_graph())
    data.edge_weight = 0.5 + data.edge_index.sum(dim=0) % 5
    return data


def directed():
    """Most edges in one direction, each direction with its own weight."""
    data = weighted()
    listed = (data.edge_index[0] * 3 + data.edge_index[1]) % 4 > 0
    data.edge_index = data.edge_index[:, listed]
    data.edge_weight = 0.5 + (data.edge_index[0] % 4)
    return data


def attributed():
    data = each_once(small_graph())
    data.edge_attr = torch.stack([data.edge_index.sum(dim=0), data.edge_index.prod(dim=0)]).t() / 40
    data.time = data.edge_index.sum(dim=0) % 3  # a value of edges that isn't called after them
    data.pos = torch.rand(40, 2, generator=torch.Generator().manual_seed(1)).double()
    data.u = torch.tensor([[0.5, -0.5, 1.0]])
    return data


class Placed(nn.Module):
    """Takes values of edges, of nodes and of the whole graph."""

    def __init__(self):
        super().__init__()
        self.time, self.linear = nn.Embedding(3, 2), nn.Linear(12 + 2 + 2, 3)

    def forward(self, x, edge_index, edge_attr, time, pos, u):
        gets = x.new_zeros(x.size(0), 2)
        gets = gets.index_add(0, edge_index[1], edge_attr + self.time(time))
        return self.linear(torch.cat([x, gets, pos], dim=1)) + u


def bonds():
    graphs = rings_and_trees()
    for graph in graphs:
        graph.edge_attr = (graph.edge_index.sum(dim=0) + 1.0).view(-1, 1)
        graph.pos = torch.arange(graph.num_nodes).view(-1, 1) / 10
    return graphs


class Bonds(nn.Module):
    """Reads out itself, and takes values of edges and nodes."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4 + 2, 2)

    def forward(self, x, edge_index, batch, edge_attr, pos):
        gets = torch.zeros(x.size(0), 1).index_add(0, edge_index[1], edge_attr)
        return global_mean_pool(self.linear(torch.cat([x, gets, pos], dim=1)), batch)


class Nodes(nn.Module):
    def __init__(self, features=4, outputs=2):
        super().__init__()
        self.first, self.last = GraphConv(features, 8), GraphConv(8, outputs)

    def forward(self, x, edge_index, edge_weight=None):
        return self.last(self.first(x, edge_index, edge_weight).relu(), edge_index, edge_weight)


def links():
    return teddy.split_links(small_graph(nodes=60), 0.2, 0.2)


def weighted_library():
    data = library()
    for kind in (WRITES, CITES):
        data[kind].edge_index = data[kind].edge_index.unique(dim=1)
    data[REV].edge_index = data[WRITES].edge_index.flip(0)
    for kind in (WRITES, REV, CITES):
        data[kind].edge_weight = 1.0 + data[kind].edge_index.sum(dim=0) % 3
    return data


class Weighing(nn.Module):
    """Two layers of relations, of which some have weights."""

    def __init__(self):
        super().__init__()
        relations = (WRITES, CITES, REV)
        sizes = {WRITES: (4, 6), CITES: (6, 6), REV: (6, 4)}
        self.first = HeteroConv({kind: GraphConv(sizes[kind], 5) for kind in relations})
        self.last = HeteroConv({kind: GraphConv((5, 5), 3) for kind in relations})

    def forward(self, x_dict, edge_index_dict, edge_weight_dict):
        h = self.first(x_dict, edge_index_dict, edge_weight_dict=edge_weight_dict)
        h = {name: value.relu() for name, value in h.items()}
        return self.last(h, edge_index_dict, edge_weight_dict=edge_weight_dict)["paper"]


GRAPHS, LINKS = {"task": "graph-classification"}, {"task": "link-prediction:dimensions=6"}


PARTS = "partitions:parts=4:batch=2:together=2"


def whole(graph):
    return [graph]


def joined(graphs, size=1000):
    return DataLoader(graphs, batch_size=size, shuffle=True)


#: By name: data, model, settings, loaders of one batch of everything, a loader of several.
KINDS = {
    **{f"weights {name}": (weighted, name, {}, (whole, "partitions:parts=4:batch=4"), PARTS)
       for name in LAYERED},
    **{f"directed {name}": (directed, name, {"directed": True},
                            (whole, "partitions:parts=4:batch=4"), PARTS) for name in LAYERED},
    "directed own": (directed, partial(Nodes, 12, 3), {"directed": True},
                     (whole, "partitions:parts=4:batch=4"),
                     lambda graph: RandomNodeLoader(graph, 3, shuffle=True)),
    "attributes": (attributed, Placed, {}, (whole, "partitions:parts=4:batch=4"),
                   lambda graph: RandomNodeLoader(graph, 3, shuffle=True)),
    "attributes, partitions": (attributed, Placed, {}, (whole,), PARTS),
    **{f"graphs {name}": (rings_and_trees, name, GRAPHS, (joined, "graphs:batch=1000"),
                          "graphs:batch=5:together=2") for name in ("gcn", "gat", "unimp")},
    "graphs class weights": (rings_and_trees, "gin", {**GRAPHS, "class_weight": (1.0, 3.0)},
                             (joined,), "graphs:batch=7:together=3"),
    "graphs own": (rings_and_trees, Nodes, GRAPHS, (joined, "graphs:batch=1000"),
                   partial(joined, size=7)),
    "graphs bonds": (bonds, Bonds, GRAPHS, (joined, "graphs:batch=1000"), "graphs:batch=7"),
    "graphs bonds, function": (bonds, Bonds, GRAPHS, (joined,), partial(joined, size=7)),
    **{f"links {name}": (links, name, LINKS, (whole, "partitions:parts=4:batch=4"), PARTS)
       for name in ("gcn", "gat", "unimp")},
    "links own": (links, partial(Nodes, 12, 6), {"task": "link-prediction"}, (whole,),
                  lambda graph: RandomNodeLoader(graph, 3, shuffle=True)),
    "hetero": (library, lambda: hetero_module(library()), {"target": "paper"}, (whole,),
               lambda graph: RandomNodeLoader(graph, 3, shuffle=True)),
    "hetero weights": (weighted_library, Weighing, {"target": "paper"}, (whole,),
                       lambda graph: RandomNodeLoader(graph, 3, shuffle=True)),
}  # fmt: skip


def made(kind):
    def make():
        torch.manual_seed(1)
        return kind()

    return make


def settings_of(kind, **more):
    _, model, settings, _, _ = KINDS[kind]
    by_name = {"hidden_channels": 8, "dropout": 0.0} if isinstance(model, str) else {}
    return {"epochs": 4, **settings, **by_name, **more}


def model_of(kind):
    model = KINDS[kind][1]
    return model if isinstance(model, str) else made(model)


def steps(kind, loader, teach=True, data=None, epochs=3):
    """Gradients after each step and the result of a training on half of the edges."""
    data = KINDS[kind][0]() if data is None else data
    settings = Settings.from_dict(settings_of(kind, epochs=epochs))
    problem = make_problem(data, model_of(kind), settings)
    keep = torch.arange(problem.graph.num_edges) % 3 > 0
    graph, gradients = problem.subgraph(keep), []
    teacher = torch.randn(
        graph.y.size(0), problem.num_outputs, generator=torch.Generator().manual_seed(2)
    )
    with seeded(0):
        model = problem.initial_model()
        result = train(
            model, graph, problem.config, head=problem.head_for(model),
            teacher=teacher if teach else None,
            evaluation_graphs=problem.views.evaluation_graphs(None),
            loader=as_loader(loader), task=problem.task,
            after_step=lambda: gradients.append([
                None if p.grad is None else p.grad.clone() for p in model.parameters()
            ]),
        )  # fmt: skip
    return gradients, result, model, graph


def same_gradients(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-5)


def divergence(z, dense):
    q = dense.softmax(1)
    return (q * (q.log() - z.log_softmax(1))).sum()


def tens(graph):
    """Parts of ten nodes with the edges between them; inputs are sliced by hand, or looked up."""
    found = []
    for nodes in graph.n_id.split(10):
        edge_index, edge_id = subgraph(
            nodes, graph.edge_index, graph.get("edge_id"), True, num_nodes=graph.num_nodes
        )
        part = Data(n_id=nodes, edge_index=edge_index)
        if edge_id is not None:
            part.edge_id = edge_id
        found.append(part)
    return found


def fresh(kind):
    """The model with its initial weights."""
    problem = make_problem(KINDS[kind][0](), model_of(kind), Settings.from_dict(settings_of(kind)))
    with seeded(0):
        return problem.initial_model()


def sampled(graph):
    """As NeighborLoader: ten papers first, then others that they cite or that share an author."""
    found = []
    for papers in graph["paper"].n_id.split(10):
        others = (papers[-1] + 1 + torch.arange(25)) % 60
        chosen = {"paper": torch.cat([papers, others[~torch.isin(others, papers)]])}
        chosen["author"] = torch.arange(29, 4, -1)
        part = HeteroData()
        for name, ids in chosen.items():
            part[name].n_id = ids
        for kind in graph.edge_types:
            source, target = chosen[kind[0]], chosen[kind[2]]
            both = torch.isin(graph[kind].edge_index[0], source)
            both &= torch.isin(graph[kind].edge_index[1], target)
            place = torch.zeros(2, 60, dtype=torch.long)
            place[0, source], place[1, target] = (torch.arange(e.numel()) for e in (source, target))
            index = graph[kind].edge_index[:, both]
            part[kind].edge_index = torch.stack([place[0, index[0]], place[1, index[1]]])
            part[kind].edge_id = graph[kind].edge_id[both]
        part["paper"].batch_size = 10
        found.append(part)
    return found


def without_venues():
    data = weighted_library()
    edges = {kind: data[kind] for kind in (WRITES, REV, CITES)}
    small = HeteroData()
    for name in ("paper", "author"):
        for key, value in data[name].items():
            small[name][key] = value
    for kind, store in edges.items():
        small[kind].edge_index, small[kind].edge_weight = store.edge_index, store.edge_weight
    return small
