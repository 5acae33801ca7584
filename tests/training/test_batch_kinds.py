"""Mini-batches of every kind of problem, held against full batches and sums written by hand."""

from __future__ import annotations

import copy
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import DataLoader, ImbalancedSampler, RandomNodeLoader
from torch_geometric.nn import GraphConv, HeteroConv, global_mean_pool
from torch_geometric.utils import subgraph

import teddy
from conftest import LAYERED, small_graph
from graph_sets import rings_and_trees
from hetero_graphs import CITES, REV, WRITES, hetero_module, library
from teddy.methods import make_problem
from teddy.methods.resume import SearchFolder
from teddy.settings import Settings
from teddy.training import FunctionLoader, as_loader, seeded, train
from teddy.training.seeding import derived_seed, seeded_items
from training.test_distributed import processes


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


@pytest.mark.parametrize("teach", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_one_batch_of_everything_is_full_batch_training(kind, teach):
    expected, full, _, _ = steps(kind, None, teach)
    for loader in KINDS[kind][3]:
        if isinstance(loader, str):
            loader = ":".join([*loader.split(":"), "together=1"])
        gradients, result, _, _ = steps(kind, loader, teach)
        assert len(gradients) == len(expected) == 3
        for found, other in zip(gradients, expected, strict=True):
            same_gradients(found, other)
        losses = [[epoch.loss for epoch in r.history] for r in (result, full)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
        torch.testing.assert_close(result.logits, full.logits, rtol=1e-3, atol=1e-4)
        assert [e.val for e in result.history] == pytest.approx([e.val for e in full.history])


@pytest.mark.parametrize("loader", ["graphs:batch=5:together=5", partial(joined, size=5)])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.startswith("graphs")])
def test_all_batches_of_graphs_together_are_a_full_batch(kind, loader):
    """No edge joins two graphs, so that nothing is lost."""
    if not isinstance(loader, str):
        loader = FunctionLoader(loader, together=5)
    expected, full, _, _ = steps(kind, None)
    gradients, result, _, _ = steps(kind, loader)
    for found, other in zip(gradients, expected, strict=True):
        same_gradients(found, other)
    assert result.history[-1].loss == pytest.approx(full.history[-1].loss, rel=1e-4)


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


@pytest.mark.parametrize("kind", ["weights gcn", "directed sage", "directed own", "attributes"])
def test_a_step_of_nodes_is_the_sum_over_its_batches(kind):
    data = KINDS[kind][0]()
    (found,), result, model, graph = steps(kind, FunctionLoader(tens, together=4), epochs=1)
    model = fresh(kind)
    teacher = torch.randn(40, 3, generator=torch.Generator().manual_seed(2))
    trains, loss = graph.train_mask, 0.0
    names = [n for n in ("edge_weight", "edge_attr", "time", "pos", "u") if n in data]
    for nodes in torch.arange(40).split(10):
        inside = ((graph.edge_index // 10) == nodes[0] // 10).all(dim=0)
        values = {
            n: graph[n] if n == "u" else graph[n][nodes].float() if n == "pos" else graph[n][inside]
            for n in names
        }
        z = model(graph.x[nodes], graph.edge_index[:, inside] - nodes[0], **values)
        own = trains[nodes]
        loss = loss + F.cross_entropy(z[own], graph.y[nodes][own], reduction="sum") / trains.sum()
        loss = loss + 10 / 40 * divergence(z, teacher[nodes])
    assert result.history[0].loss == pytest.approx(loss.item(), rel=1e-5)
    same_gradients(found, torch.autograd.grad(loss, list(model.parameters())))


def fresh(kind):
    """The model with its initial weights."""
    problem = make_problem(KINDS[kind][0](), model_of(kind), Settings.from_dict(settings_of(kind)))
    with seeded(0):
        return problem.initial_model()


def test_a_step_of_links_is_over_those_with_both_ends_in_a_batch():
    data, kind = links(), "links gcn"
    (found,), result, _, graph = steps(kind, FunctionLoader(tens, together=6), epochs=1)
    model, pairs = fresh(kind), data.edge_label_index
    teacher = torch.randn(pairs.size(1), 1, generator=torch.Generator().manual_seed(2))
    within = (pairs[0] // 10 == pairs[1] // 10) & graph.train_mask
    assert 0 < int(within.sum()) < int(graph.train_mask.sum())
    loss = 0.0
    for nodes in torch.arange(60).split(10):
        inside = ((graph.edge_index // 10) == nodes[0] // 10).all(dim=0)
        z = model(graph.x[nodes], graph.edge_index[:, inside] - nodes[0])
        own = within & (pairs[0] // 10 == nodes[0] // 10)
        source, target = z[pairs[:, own] - nodes[0]]
        logit, dense = (source * target).sum(dim=1), teacher[own, 0]
        y, q = data.edge_label[own].float(), dense.sigmoid()
        loss = loss + F.binary_cross_entropy_with_logits(logit, y, reduction="sum") / within.sum()
        kl = q * (q.log() - F.logsigmoid(logit)) + (1 - q) * ((1 - q).log() - F.logsigmoid(-logit))
        loss = loss + 10 / within.sum() * kl.sum()
    assert result.history[0].loss == pytest.approx(loss.item(), rel=1e-5)
    same_gradients(found, torch.autograd.grad(loss, list(model.parameters())))


def test_partitions_learn_from_the_training_links_within_a_batch():
    """Four parts, two of them in each batch, as the seed draws them."""
    kind = "links gcn"
    (found,), result, _, graph = steps(kind, PARTS, epochs=1, teach=False)
    batches = seeded_items(as_loader(PARTS).load(graph), derived_seed(0, 0, "batches"))
    seen = [batch.rows for batch in batches]
    model, pairs, y = fresh(kind), links().edge_label_index, links().edge_label.float()
    logits, labels = [], []
    for nodes in seen:
        inside = torch.isin(graph.edge_index, nodes).all(dim=0)
        z = model(graph.x, graph.edge_index[:, inside])  # others have no edges with these
        own = torch.isin(pairs, nodes).all(dim=0) & graph.train_mask
        logits.append((z[pairs[0, own]] * z[pairs[1, own]]).sum(dim=1))
        labels.append(y[own])
    assert sorted(torch.cat(seen).tolist()) == list(range(60))
    loss = F.binary_cross_entropy_with_logits(torch.cat(logits), torch.cat(labels))
    assert result.history[0].loss == pytest.approx(loss.item(), rel=1e-5)
    same_gradients(found, torch.autograd.grad(loss, list(model.parameters())))


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


def test_a_step_of_a_heterogeneous_graph_learns_from_the_first_targets_of_its_batches():
    kind, data = "hetero weights", without_venues()
    (found,), result, _, graph = steps(
        kind, FunctionLoader(sampled, together=6), epochs=1, data=data
    )
    model, around = fresh(kind), graph.edge_index
    teacher = torch.randn(60, 3, generator=torch.Generator().manual_seed(2))
    trains, loss = graph.train_mask, 0.0
    for number in range(6):
        papers = torch.arange(10 * number, 10 * number + 10)
        inside = {"paper": torch.zeros(60, dtype=torch.bool), "author": torch.arange(30) > 4}
        inside["paper"][papers], inside["paper"][(papers[-1] + 1 + torch.arange(25)) % 60] = 1, 1
        edges, weights = {}, {}
        for name, index in around.edge_index_dict.items():
            both = inside[name[0]][index[0]] & inside[name[2]][index[1]]
            edges[name], weights[name] = index[:, both], around.of_edges["edge_weight"][name][both]
        z = model({"paper": graph.x, **around.x_dict}, edges, weights)[papers]
        own = trains[papers]
        loss = loss + F.cross_entropy(z[own], graph.y[papers][own], reduction="sum") / trains.sum()
        loss = loss + 10 / 60 * divergence(z, teacher[papers])
    assert result.history[0].loss == pytest.approx(loss.item(), rel=1e-5)
    expected = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    same_gradients(found, expected)


def find(kind, path, loader=None, **settings):
    data, *_, several = KINDS[kind]
    ticket = teddy.find_ticket(
        data(), model_of(kind), 0.3, 0.3, loader=several if loader is None else loader,
        **settings_of(kind, **settings),
    )  # fmt: skip
    ticket.save(path)
    return ticket, path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_search_gives_the_same_ticket(kind, tmp_path):
    torch.manual_seed(7)  # has no effect
    ticket, first = find(kind, tmp_path / "first")
    torch.manual_seed(8)
    _, second = find(kind, tmp_path / "second")
    assert first == second
    assert ticket.evaluate(KINDS[kind][0]())["test"] == pytest.approx(ticket.info.ticket.test)


@pytest.mark.parametrize("kind", ["graphs gcn", "links gcn", "directed gcn", "hetero"])
def test_two_processes_find_the_ticket_of_one(kind, tmp_path):
    loader = KINDS[kind][4]
    if not isinstance(loader, str):
        loader = FunctionLoader(loader, together=2)
    _, alone = find(kind, tmp_path / "9", loader)

    def work(rank, folder):
        return find(kind, folder / str(rank), loader)[1]

    assert processes(2, work, tmp_path) == [alone, alone]


class EndedError(Exception):
    pass


@pytest.mark.parametrize("kind", ["graphs bonds", "links gcn", "weights gcn"])
def test_a_search_that_was_ended_gives_the_same_ticket(kind, tmp_path):
    _, expected = find(kind, tmp_path / "whole")
    for phase, index in (("dense", 1), ("sparse", 2)):

        def end(at, epoch, done, phase=phase, index=index):
            if (at, epoch.index) == (phase, index):
                raise EndedError

        folder = SearchFolder(tmp_path / "c", 0.0)
        with pytest.raises(EndedError):
            find(kind, tmp_path / "x", checkpoint=folder, progress=end)
    assert find(kind, tmp_path / "x", checkpoint=tmp_path / "c")[1] == expected


def test_an_inductive_training_takes_weights_in_batches():
    data = weighted()
    ticket = teddy.find_ticket(
        data, "sage", 0.3, 0.3, epochs=3, hidden_channels=8, inductive=True, loader=PARTS
    )
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)


def test_a_graph_that_is_drawn_twice_counts_twice():
    def twice(graphs):
        torch.manual_seed(0)
        sampler = ImbalancedSampler(torch.cat([graph.y for graph in graphs]), num_samples=60)
        return DataLoader(graphs, batch_size=30, sampler=sampler)

    gradients, _, _, _ = steps("graphs gcn", twice)
    assert len(gradients) == 6


def test_one_graph_at_a_time_needs_no_batch():
    gradients, _, _, _ = steps("graphs own", lambda graphs: graphs)
    assert len(gradients) == 3 * 24


def without(name):
    def make(graph):
        batch = copy.copy(graph)
        del batch[name]
        return [batch]

    return make


def changed(name, value):
    def make(graph):
        batch = copy.copy(graph)
        batch[name] = value(graph[name])
        return [batch]

    return make


def renumbered(change):
    def make(graphs):
        batch = next(iter(joined(graphs)))
        batch.batch = change(batch.batch)
        return [batch]

    return make


def one_end_each(graph):
    """No link has both ends in a batch."""
    nothing = torch.empty(2, 0, dtype=torch.long)
    return [Data(n_id=node, edge_index=nothing) for node in graph.n_id.split(1)]


def nameless(graph):
    batch = copy.copy(graph)
    del batch.edge_id, batch.edge_weight
    return [batch]


def no_authors(graph):
    batch = copy.copy(graph)
    del batch["author"].n_id
    return [batch]


@pytest.mark.parametrize(
    ("kind", "loader", "message"),
    [
        ("weights gcn", nameless, "a batch of the loader has no edge_id, expected a loader that"),
        ("weights gcn", changed("edge_weight", lambda w: w[1:]), "edge_weight of a batch has "),
        ("weights gcn", "graphs:batch=2", "needs a set of graphs, expected the task graph-cl"),
        ("attributes", changed("pos", lambda p: p[1:]), "pos of a batch has 39 rows, expected 40"),
        ("graphs gcn", PARTS, "partitions do not support a set of graphs"),
        ("graphs gcn", renumbered(lambda b: b.flip(0)), "batch of a batch does not number the nod"),
        ("graphs gcn", renumbered(lambda b: b[1:]), "batch does not number the nodes of"),
        ("graphs gcn", renumbered(lambda b: b // 2), "does not number the nodes of 24 graphs"),
        ("links gcn", one_end_each, "epoch 0 had 60 batches without training rows"),
        ("graphs gcn", lambda graphs: [Data(**{
            k: v for k, v in graphs[0].to_dict().items() if k != "graph_id"
        })], "graph_id of a batch is no list of graphs"),
        ("graphs gcn", "graphs:batch=0", "batch is 0, expected a whole number from 1"),
        ("graphs gcn", "graphs:parts=2", "graphs has no option 'parts', expected one of: batch, t"),
        ("links gcn", "graphs", "needs a set of graphs, expected the task graph-cl"),
        ("hetero", PARTS, "partitions do not support a HeteroData, expected a function"),
        ("hetero", lambda graph: [Data()], "the loader returned a Data, expected a HeteroData"),
        ("hetero", no_authors, "a batch of the loader has no n_id"),
    ],
)  # fmt: skip
def test_an_unsupported_loader_raises_a_clear_message(kind, loader, message, tmp_path):
    with pytest.raises(teddy.InputError, match=message):
        find(kind, tmp_path / "x", loader, epochs=1)


@pytest.mark.parametrize("model", ["nagphormer", "specformer"])
def test_models_of_the_whole_graph_take_no_batches(model):
    with pytest.raises(teddy.InputError, match="does not support mini-batches"):
        teddy.find_ticket(links(), model, **LINKS, loader=PARTS, epochs=1)


def test_types_without_features_take_no_batches():
    data = library()
    del data["venue"].x
    data["venue"].num_nodes = 6

    class Blind(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(6, 3)

        def forward(self, x_dict, edge_index_dict):
            return self.linear(x_dict["paper"])

    with pytest.raises(teddy.InputError, match="nodes of type 'venue' have no x, expected one"):
        teddy.find_ticket(data, Blind(), target="paper", epochs=1, loader=whole)


def test_values_of_pairs_of_nodes_take_no_batches():
    class Far(Nodes):
        def forward(self, x, edge_index, distance):
            return super().forward(x, edge_index) + distance.sum()

    data = small_graph()
    data.distance = torch.ones(40, 40)
    for loader in (whole, PARTS):
        with pytest.raises(teddy.InputError, match="distance refers to pairs of nodes"):
            teddy.find_ticket(data, Far(12, 3), epochs=1, loader=loader)


def test_functions_are_given_the_training_links_alone():
    seen = []

    def look(graph):
        seen.append(graph)
        return [graph]

    data = links()
    teddy.find_ticket(data, "gcn", epochs=1, loader=look, **LINKS)
    expected = data.edge_label_index[:, data.train_mask]
    assert all(torch.equal(graph.edge_label_index, expected) for graph in seen)
    assert "y" not in seen[0]
    assert "val_mask" not in seen[0]
