"""Learned masks where graphs, or nodes of several types, are classified."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_mean_pool

import teddy
from graph_sets import rings_and_trees
from teddy.data.checks import MASKS
from teddy.graph.edges import Edges
from teddy.methods import METHODS, SparsityLevel, make_problem
from teddy.models import GNN
from teddy.models.masks import Masks
from teddy.settings import Settings
from teddy.sparsity import num_kept_weights, num_pruned_edges
from teddy.training.runner import Runner

TASK = "graph-classification"


LEVELS = [SparsityLevel.from_schedule(i) for i in (1, 3)]


class Nodes(nn.Module):
    """Outputs of nodes, with a layer that has a state."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = GraphConv(4, 8), nn.BatchNorm1d(8), GraphConv(8, 2)

    def forward(self, x, edge_index, edge_weight=None):
        h = self.norm(self.first(x, edge_index, edge_weight)).relu()
        return self.last(h, edge_index, edge_weight)


class Graphs(Nodes):
    """The same, read out by the module itself."""

    def forward(self, x, edge_index, batch, edge_weight=None):
        return global_mean_pool(super().forward(x, edge_index, edge_weight), batch)


def made(make, *arguments):
    def seeded():
        torch.manual_seed(1)
        return make(*arguments)

    return seeded


@pytest.fixture(scope="module")
def graphs():
    return rings_and_trees()


def graph_problem(graphs, model="gcn", budget="each", **settings):
    options = {"hidden_channels": 8} if isinstance(model, str) else {}
    settings = {
        "epochs": 3, "task": "graph-classification", "budget": budget, **options, **settings
    }  # fmt: skip
    return make_problem(graphs, model, Settings.from_dict(settings), method="ugs")


def find(graphs, model="gcn", **settings):
    options = {"hidden_channels": 8} if isinstance(model, str) else {}
    settings = {"graph_sparsity": 0.3, "weight_sparsity": 0.3, "epochs": 4, **options, **settings}
    return teddy.find_ticket(graphs, model, task=TASK, **{"method": "ugs", **settings})


def number(graph):
    return Edges.from_columns(graph.edge_index, graph.num_nodes)[0].num_edges


def kept_of_each(ticket, graphs):
    """Kept undirected edges of each graph of the set."""
    return [number(graph) for graph in ticket.apply(graphs).to_data_list()]


def most_weights(ticket, sparsity):
    """Weights that may stay: biases and norms of your own module are not pruned."""
    dense = sum(p.numel() for p in ticket.model.parameters() if p.dim() < 2)
    dense = 0 if isinstance(ticket.model, GNN) else dense
    return dense + num_kept_weights(sparsity, ticket.info.weights.total - dense)


@pytest.mark.parametrize("budget", ["each", "all"])
@pytest.mark.parametrize("method", ["ugs", "wd-glt"])
@pytest.mark.parametrize("model", ["gcn", "gat", made(Nodes), made(Graphs)])
def test_budgets_of_training_graphs_are_exact_and_levels_nested(graphs, model, method, budget):
    tickets = METHODS[method].tickets(graph_problem(graphs, model, budget), LEVELS)
    before = None
    for level, ticket in zip(LEVELS, tickets, strict=True):
        trained = []
        for graph, kept in zip(graphs, kept_of_each(ticket, graphs), strict=True):
            if graph.train_mask:
                trained.append((number(graph), kept))
            else:
                assert kept == number(graph)
        if budget == "each":
            for total, kept in trained:
                assert kept == total - num_pruned_edges(level.graph_sparsity, total)
        total = sum(total for total, _ in trained)
        if budget == "all":
            gone = num_pruned_edges(level.graph_sparsity, total)
            assert sum(kept for _, kept in trained) == total - gone
        parts = ticket.info.graphs["parts"]
        assert parts["train"]["kept"] == sum(kept for _, kept in trained)
        assert parts["val"]["kept"] == parts["val"]["total"]
        assert ticket.info.weights.kept <= most_weights(ticket, level.weight_sparsity)
        assert ticket.info.score is None
        if before is not None:
            assert not (ticket.keep & ~before.keep).any()
            for new, old in zip(ticket.model.parameters(), before.model.parameters(), strict=True):
                assert not ((new != 0) & (old == 0)).any()
        before = ticket


def test_the_lowest_masks_of_each_graph_are_removed(graphs, monkeypatch):
    """Masks that are given instead of learned: the choice is theirs."""
    problem = graph_problem(graphs)
    values = torch.rand(problem.graph.num_edges, generator=torch.Generator().manual_seed(0)) - 0.5

    def learn(scheme, problem, state, learns_edges, phase):
        masks = Masks(nn.Linear(1, 1), int(state.keep.sum()), None)
        with torch.no_grad():
            masks.edge_mask.copy_(values[state.keep])
        return masks

    monkeypatch.setattr("teddy.methods.search.Scheme._learn", learn)
    (ticket,) = METHODS["ugs"].tickets(problem, [SparsityLevel(0.4, 0.0)], stride=3)
    first = 0
    keep = ticket.keep[problem.views.parts[0][1]]
    for graph in (graph for graph in graphs if graph.train_mask):
        count = number(graph)
        own = values[first : first + count].abs()
        highest = own.argsort(descending=True)[: count - num_pruned_edges(0.4, count)]
        assert keep[first : first + count].nonzero().flatten().tolist() == sorted(highest.tolist())
        first += count
    assert first == values.numel()


@pytest.mark.parametrize("model", ["gcn", "gin", made(Nodes), made(Graphs)])
def test_held_out_graphs_have_no_masks_while_they_are_learned(graphs, model):
    problem = graph_problem(graphs, model)
    keep = torch.arange(problem.graph.num_edges) % 3 != 0
    network = problem.initial_model()
    head, masks = problem.head_for(network), Masks(network, int(keep.sum()), None)
    assert (head is None) == isinstance(network, Graphs)
    with torch.no_grad():
        masks.edge_mask.fill_(7.0)
    unseen = problem.views.masked_evaluation_graphs(keep)
    for judged, key in ((unseen.val, "val_mask"), (unseen.test, "test_mask")):
        part = [graph for graph in graphs if graph[key]]
        runner = Runner.from_data(network, judged, head=head, masks=masks)
        expected = []
        for graph in part:
            own = torch.unique(graph.edge_index, dim=1)
            own = own[:, own[0] != own[1]] if isinstance(model, str) else own
            zeros = torch.zeros(graph.num_nodes, dtype=torch.long)
            alone = Runner(network, graph.x, own, {"graph_of_node": zeros}, head=head)
            expected.append(alone.evaluation_logits())
        torch.testing.assert_close(
            runner.evaluation_logits(), torch.cat(expected), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("model", ["gcn", made(Graphs)])
def test_saved_loaded_and_used_on_its_own_and_on_new_graphs(graphs, model, tmp_path):
    ticket = find(graphs, model)
    ticket.save(tmp_path / "a.ticket")
    module = None if isinstance(model, str) else Graphs()
    again = teddy.Ticket.load(tmp_path / "a.ticket", model=module)
    assert again.info == ticket.info
    assert torch.equal(again.logits(graphs), ticket.logits(graphs))
    assert again.verify(graphs)["test"] == ticket.info.ticket.test
    pruned = again.apply(graphs)
    assert torch.equal(again.logits(pruned), ticket.logits(graphs))
    new = rings_and_trees(seed=5)
    for graph in new:
        del graph.y, graph.train_mask, graph.val_mask, graph.test_mask
    for graph, own in zip(new, again.apply(new).to_data_list(), strict=True):
        assert number(own) == number(graph)
    alone = torch.cat([again.logits(graph) for graph in new])
    torch.testing.assert_close(again.logits(new), alone)
    assert again.predict(new).shape == (len(new),)
    # A training graph that comes without the set is a new one.
    trained = next(graph for graph in graphs if graph.train_mask)
    assert number(again.apply(trained)) == number(trained)


@pytest.mark.parametrize("method", ["teddy", "random", "auto:scores=teddy+random"])
def test_weights_by_masks_leave_the_edges_to_the_score(graphs, method):
    masked = find(graphs, method=method, weights="masks")
    plain = find(graphs, method=method)
    assert masked.info.weights.kept == num_kept_weights(0.3, masked.info.weights.total)
    if method != "auto:scores=teddy+random":  # either may be the best
        assert torch.equal(masked.keep, plain.keep)
    assert masked.info.score in ("teddy", "random")
    assert masked.verify(graphs)["test"] == masked.info.ticket.test


@pytest.mark.parametrize("rule", ["training", "none"])
def test_held_out_graphs_keep_all_edges_by_the_other_rules(graphs, rule, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", teddy.errors.TeddyWarning)
        ticket = find(graphs, method="teddy", inference=rule)
    scored = find(graphs, method="teddy")
    trained = torch.tensor([bool(graph.train_mask) for graph in graphs])
    union = teddy.graph_set(graphs)
    simple, _ = Edges.from_columns(union.edge_index, union.num_nodes)
    of_training = trained[union.batch[simple.pairs[0]]]
    assert torch.equal(ticket.keep[of_training], scored.keep[of_training])
    assert ticket.keep[~of_training].all()
    assert not scored.keep[~of_training].all()
    assert ticket.info.graphs["inference"] == rule
    assert "inference" not in scored.info.graphs
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket")
    assert again.verify(graphs)["test"] == ticket.info.ticket.test
    (new, *_) = rings_and_trees(seed=5)
    assert number(again.apply(new)) == number(new) > number(scored.apply(new))


def test_weights_of_edges_multiply_the_masks(graphs):
    weighted = [graph.clone() for graph in graphs]
    for graph in weighted:
        graph.edge_weight = 1.0 + graph.edge_index.sum(dim=0) % 3
    for model in ("gcn", made(Graphs)):
        ticket = find(weighted, model)
        assert ticket.info.graph["edge_inputs"] == ["edge_weight"]
        assert ticket.verify(weighted)["test"] == ticket.info.ticket.test


@pytest.mark.parametrize(
    "settings",
    [
        {"directed": True},
        {"distill": 5.0},
        {"weights": "projection"},
        {"readout": "sum"},
        {"weight_sparsity": 0.0},
        {"graph_sparsity": 0.0},
        {"graph_sparsity": 1.0, "epochs": 1},
        {"class_weight": "balanced", "inference": "none"},
    ],
)
def test_masks_combine_with_other_settings(graphs, settings):
    ticket = find(graphs, **settings)
    train = ticket.info.graphs["parts"]["train"]
    sparsity = ticket.info.graph_sparsity
    counts = [number(graph) for graph in graphs if graph.train_mask]
    assert train["kept"] == sum(n - num_pruned_edges(sparsity, n) for n in counts)
    assert ticket.verify(graphs)["test"] == ticket.info.ticket.test


def test_a_module_of_graphs_must_take_and_use_edge_weights(graphs):
    class Plain(Graphs):
        def forward(self, x, edge_index, batch):
            return super().forward(x, edge_index, batch)

    class Deaf(Graphs):
        def forward(self, x, edge_index, batch, edge_weight=None):
            return super().forward(x, edge_index, batch)

    with pytest.raises(
        teddy.InputError, match="a Plain does not take edge_weight, expected forward"
    ):
        find(graphs, Plain)
    with pytest.raises(teddy.InputError, match="the Deaf ignores edge_weight"):
        find(graphs, Deaf)
    ticket = find(graphs, Plain, method="teddy", weights="masks")  # edges need no mask
    assert ticket.info.weights.kept < ticket.info.weights.total


def test_rounds_resume_from_a_checkpoint_to_the_same_ticket(graphs, tmp_path):
    class EndError(Exception):
        pass

    def progress(phase, epoch, share):
        if phase == "round 3 of 7":
            raise EndError

    with pytest.raises(EndError):
        find(graphs, checkpoint=tmp_path / "c", progress=progress)
    find(graphs, checkpoint=tmp_path / "c").save(tmp_path / "a")
    find(graphs).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_graphs_without_edges_and_in_no_part(graphs):
    some = [graph.clone() for graph in graphs]
    some[0].edge_index = some[0].edge_index[:, :0]
    for key in MASKS:
        some[7][key] = torch.tensor([False])
    ticket = find(some)
    kept = kept_of_each(ticket, some)
    assert (kept[0], kept[7]) == (0, number(some[7]))
    assert isinstance(some[0], Data)
