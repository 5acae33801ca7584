"""Mini-batches of whole neighbourhoods: outputs and gradients are those of a full batch."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCN, GCNConv

import teddy
from conftest import LAYERED, edge_lists, small_graph
from graph_sets import rings_and_trees
from hetero_graphs import library
from teddy.errors import InputError
from teddy.models import build_model
from teddy.settings import TrainConfig
from teddy.tasks import Classification
from teddy.training import Neighbourhoods, as_loader
from teddy.training.minibatch import BatchSteps
from teddy.training.neighbourhoods import Neighbourhood, NeighbourhoodBatches
from teddy.training.runner import Runner
from teddy.training.seeding import seeded
from training.batch_kinds import KINDS, each_once, same_gradients, steps
from training.test_partitions import epoch

NODES = [
    *(f"{how} {name}" for how in ("weights", "directed") for name in LAYERED),
    "directed own", "attributes",
]  # fmt: skip


@pytest.mark.parametrize("teach", [True, False])
@pytest.mark.parametrize("kind", NODES)
def test_all_batches_together_are_a_full_batch(kind, teach):
    expected, full, _, _ = steps(kind, None, teach)
    gradients, result, _, _ = steps(kind, "neighbourhoods:batch=7:together=1000", teach)
    assert len(gradients) == len(expected) == 3
    for found, other in zip(gradients, expected, strict=True):
        same_gradients(found, other)
    assert result.history[-1].loss == pytest.approx(full.history[-1].loss, rel=1e-4)


class Deep(nn.Module):
    """PyG layers whose normalisation reads the degrees of neighbours."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(GCNConv(*size) for size in ((12, 6), (6, 6), (6, 3)))

    def forward(self, x, edge_index):
        for layer in self.layers[:-1]:
            x = layer(x, edge_index).relu()
        return self.layers[-1](x, edge_index)


def gradient_of_each_batch(data, network, loader, teacher):
    """Gradients and losses of the batches of an epoch, with the same weights."""
    config, found = TrainConfig(distill=2.0 if teacher is not None else 0.0), []
    batches = BatchSteps(
        network, None, data, config, teacher, as_loader(loader),
        torch.optim.SGD(network.parameters(), lr=0.0),
        lambda: found.append([p.grad.clone() for p in network.parameters()]), 0, Classification(),
    )  # fmt: skip
    return found, batches.epoch(0)


@pytest.mark.parametrize("teach", [True, False])
@pytest.mark.parametrize("make", [lambda: build_model("gcn", 12, 3, dropout=0.0), Deep])
def test_the_mean_gradient_of_batches_is_that_of_the_full_batch(make, teach):
    """28 nodes, 12 of them training nodes, in 4 batches of 3 training nodes and 4 others."""
    data = each_once(small_graph())
    data.train_mask = torch.arange(40) < 12
    keep = torch.arange(40) < 28
    data = data.subgraph(keep)
    torch.manual_seed(0)
    network = make()
    teacher = torch.randn(28, 3) if teach else None
    loader = f"neighbourhoods:batch={7 if teach else 3}"
    gradients, loss = gradient_of_each_batch(data, network, loader, teacher)
    assert len(gradients) == 4
    assert not torch.allclose(gradients[0][0], gradients[1][0], rtol=0.1)
    mean = [torch.stack(of).mean(dim=0) for of in zip(*gradients, strict=True)]
    network.zero_grad()
    z = network(data.x, data.edge_index)
    expected = F.cross_entropy(z[data.train_mask], data.y[data.train_mask])
    if teacher is not None:
        expected = expected + 2 * F.kl_div(
            z.log_softmax(1), teacher.log_softmax(1), log_target=True, reduction="batchmean"
        )
    expected.backward()
    same_gradients(mean, [p.grad for p in network.parameters()])
    assert loss == pytest.approx(float(expected), rel=1e-4)


@given(edge_lists(), st.sampled_from(LAYERED), st.integers(1, 3), st.data())
@settings(max_examples=60)
def test_outputs_of_a_batch_are_those_of_the_graph(graph, name, layers, draw):
    edge_index, num_nodes = graph
    data = Data(x=torch.rand(num_nodes, 4), edge_index=teddy.graph.Edges.from_edge_index(
        edge_index, num_nodes).edge_index)  # fmt: skip
    if draw.draw(st.booleans()):
        data.edge_weight = 0.5 + torch.rand(data.edge_index.size(1))
    torch.manual_seed(0)
    model = build_model(name, 4, 2, num_layers=layers, hidden_channels=4).eval()
    nodes = draw.draw(st.permutations(range(num_nodes)))
    rows = torch.tensor(nodes[: draw.draw(st.integers(1, num_nodes))])
    part = Neighbourhood(data).around(rows, layers, model.uses_source_degree)
    expected = Runner.from_data(model, data).evaluation_logits()[rows]
    found = Runner.from_data(model, part).evaluation_logits()[: rows.numel()]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_degrees_are_those_of_the_whole_graph():
    """A star: seen from a leaf, the hub still has three neighbours."""
    edges = torch.tensor([[0, 0, 0], [1, 2, 3]])
    star = Data(x=torch.eye(4), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    part = Neighbourhood(star).around(torch.tensor([2]), hops=1, with_degree=True)
    assert part.x.argmax(dim=1).tolist() == [2, 0]
    assert part.edge_index.tolist() == [[1], [0]]
    assert part.degree.tolist() == [1.0, 3.0]


def test_messages_of_directed_edges_come_from_their_sources():
    path = Data(x=torch.eye(4), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
    part = Neighbourhood(path).around(torch.tensor([1]), hops=2)
    assert part.x.argmax(dim=1).tolist() == [1, 0]
    assert part.edge_index.tolist() == [[1], [0]]


@given(st.integers(0, 12), st.integers(1, 40), st.integers(1, 50), st.booleans())
@settings(max_examples=100)
def test_nodes_are_dealt_in_equal_shares(num_train, num_nodes, batch, every_row):
    """Each node of the loss is in one batch, and training nodes are in every batch."""
    num_train = min(num_train, num_nodes)
    trains = torch.arange(num_nodes) < num_train
    data = Data(x=torch.eye(num_nodes), edge_index=torch.empty(2, 0, dtype=torch.long),
                train_mask=trains)  # fmt: skip
    batches = NeighbourhoodBatches(Neighbourhood(data), batch, 1, every_row)
    rows = [b.rows for b in batches]
    train = [int(trains[r].sum()) for r in rows]
    others = [int((~trains[r]).sum()) for r in rows]
    for counts in (train, others):
        assert max(counts) - min(counts) <= 1
    if num_train:
        assert min(train) >= 1
    drawn = torch.cat(rows)
    assert drawn.unique().tolist() == list(range(num_nodes if every_row else num_train))
    assert drawn.numel() == max(num_train, len(rows) if num_train else 0) + sum(others)
    assert max(r.numel() for r in rows) <= max(batch, 2)


def test_each_epoch_is_drawn_again_and_a_seed_repeats_them(citeseer):
    batches = Neighbourhoods(batch=500).batches(citeseer, build_model("gcn", 3703, 6), True)
    one, again, other = epoch(batches), epoch(batches), epoch(batches, 1)
    assert all(torch.equal(a.rows, b.rows) for a, b in zip(one, again, strict=True))
    assert not all(a.rows.equal(b.rows) for a, b in zip(one, other, strict=True))


def test_pruned_graphs_have_smaller_batches(citeseer):
    edges = citeseer.edge_index
    pruned = edges[:, teddy.prune_edges(edges, 0.64, num_nodes=citeseer.num_nodes)]
    rows = torch.arange(200)
    sizes = [
        Neighbourhood(Data(x=citeseer.x, edge_index=edge_index)).around(rows, 2).x.size(0)
        for edge_index in (edges, pruned)
    ]
    assert 200 <= sizes[1] < sizes[0] / 2


def test_a_search_uses_the_loader():
    data = small_graph()
    common = {"epochs": 3, "hidden_channels": 8, "dropout": 0.0}
    ticket = teddy.find_ticket(data, "gcn", 0.3, 0.3, loader="neighbourhoods:batch=10", **common)
    assert ticket.info.config["loader"] == "neighbourhoods:batch=10:hops=0:together=1"
    full = teddy.find_ticket(data, "gcn", 0.3, 0.3, **common)
    assert torch.equal(ticket.keep, full.keep)
    together = teddy.find_ticket(
        data, "gcn", 0.3, 0.3, loader="neighbourhoods:batch=10:together=9", **common
    )
    torch.testing.assert_close(together.logits(data), full.logits(data), rtol=1e-2, atol=1e-3)


class Whole(nn.Module):
    """Its outputs depend on all nodes."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(12, 3)

    def forward(self, x, edge_index):
        return self.linear(x) + x.mean()


@pytest.mark.parametrize(
    ("data", "model", "spec", "more", "message"),
    [
        (small_graph, "gcn", "batch=0", {}, "batch is 0"),
        (small_graph, "gcn", "hops=-1", {}, "hops is -1"),
        (small_graph, "gcn", "hops=1", {}, "hops is 1, expected at least 2, the layers"),
        (small_graph, "gcn", "parts=3", {}, "neighbourhoods has no option 'parts'"),
        (small_graph, Whole, "batch=9", {}, "looks at a node's neighbourhood alone"),
        (small_graph, Deep, "hops=2", {}, "from 2 hops differ from a pass over the whole graph"),
        (lambda: teddy.split_links(small_graph()), "gcn", "batch=9", {"task": "link-prediction"},
         "neighbourhoods do not support links, expected the loader partitions"),
        (rings_and_trees, "gin", "batch=9",
         {"task": "graph-classification"}, "do not support a set of graphs, expected the loader"),
        (library, lambda: KINDS["hetero"][1](), "batch=9", {"target": "paper"},
         "do not support a HeteroData, expected a function"),
        (small_graph, "nagphormer", "batch=9", {}, "does not support mini-batches"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_one_line(data, model, spec, more, message):
    model = model if isinstance(model, str) else model()
    with pytest.raises(InputError, match=message):
        teddy.find_ticket(data(), model, loader=f"neighbourhoods:{spec}", epochs=1, **more)


class ByHand(nn.Module):
    """Three layers of sums, without PyG's layers."""

    def __init__(self, zeros=False):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*size) for size in ((12, 6), (6, 6), (6, 3)))
        if zeros:
            nn.init.zeros_(self.layers[-1].weight)

    def forward(self, x, edge_index):
        for layer in self.layers:
            x = layer(x).relu() if layer is not self.layers[-1] else layer(x)
            x = x.index_add(0, edge_index[1], x[edge_index[0]])
        return x


@pytest.mark.parametrize("zeros", [False, True])
def test_initial_zeros_do_not_hide_what_a_module_reads(zeros):
    graph = Neighbourhood(each_once(small_graph(nodes=200)))
    torch.manual_seed(0)
    module = ByHand(zeros)
    before = [p.clone() for p in module.parameters()]
    assert graph.hops_of(module, None) == 3
    assert all(map(torch.equal, module.parameters(), before))


def test_small_components_do_not_hide_what_a_module_reads():
    """2000 pairs, and a path of 40 nodes."""
    pairs = torch.arange(4000).view(-1, 2).t()
    path = 4000 + torch.stack([torch.arange(39), torch.arange(1, 40)])
    edges = torch.cat([pairs, path], dim=1)
    data = Data(x=torch.rand(4040, 12), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    torch.manual_seed(0)
    assert Neighbourhood(data).hops_of(ByHand(), None) == 3
    data.edge_index = data.edge_index[:, data.edge_index[0] < 4000]
    with pytest.raises(InputError, match="how far a ByHand looks cannot be told"):
        Neighbourhood(data).hops_of(ByHand(), None)
    assert Neighbourhood(data).hops_of(ByHand(), 3) == 3


def test_batch_norm_is_refused():
    class Norm(Deep):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(12)

        def forward(self, x, edge_index):
            return super().forward(self.norm(x), edge_index)

    with pytest.raises(InputError, match="neighbourhoods do not support BatchNorm1d"):
        teddy.find_ticket(small_graph(), Norm(), epochs=1, loader="neighbourhoods:batch=9")


def test_repeated_messages_count_once():
    data = each_once(small_graph())
    repeated = Data(x=data.x, edge_index=torch.cat([data.edge_index, data.edge_index[:, :9]], 1))
    assert Neighbourhood(repeated).degree.equal(Neighbourhood(data).degree)


@pytest.mark.parametrize(
    ("module", "hops"), [(GCN(12, 8, 2, out_channels=3), 3), (nn.Linear(12, 3), 1), (Deep(), 4)]
)
def test_hops_of_modules_are_found(module, hops):
    """Degrees of neighbours are one hop further than the layers of GCNConv."""

    class Call(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = module

        def forward(self, x, edge_index):
            given = (x,) if isinstance(self.module, nn.Linear) else (x, edge_index)
            return self.module(*given)

    with seeded(0):
        assert Neighbourhood(each_once(small_graph())).hops_of(Call(), None) == hops
