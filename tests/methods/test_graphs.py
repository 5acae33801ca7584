"""Tickets that classify graphs, end to end."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, global_mean_pool

import teddy
from conftest import small_graph
from graph_sets import rings_and_trees
from teddy.data.checks import MASKS
from teddy.graph.edges import Edges
from teddy.graph.messages import keep_columns
from teddy.methods import METHODS, SparsityLevel, make_problem
from teddy.prune.prune import prune_edges
from teddy.settings import Settings
from teddy.ticket.description import model_card

TASK = "graph-classification"
SETTINGS = {
    "graph_sparsity": 0.5, "weight_sparsity": 0.5, "epochs": 6, "task": TASK
}  # fmt: skip


class Nodes(nn.Module):
    """Node outputs of a module with a state and its own random numbers."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = GCNConv(4, 8), nn.BatchNorm1d(8), GCNConv(8, 2)

    def forward(self, x, edge_index, edge_weight=None):
        h = self.norm(self.first(x, edge_index, edge_weight)).relu()
        return self.last(nn.functional.dropout(h, 0.5, self.training), edge_index, edge_weight)


class Graphs(Nodes):
    """The same, read out by the module itself."""

    def forward(self, x, edge_index, batch, edge_weight=None):
        return global_mean_pool(super().forward(x, edge_index, edge_weight), batch)


class Bonds(nn.Module):
    """Takes attributes of edges, and refuses to do without."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4 + 1, 2)

    def forward(self, x, edge_index, batch, edge_attr):
        gets = torch.zeros(x.size(0), 1).index_add(0, edge_index[1], edge_attr)
        return global_mean_pool(self.linear(torch.cat([x, gets], dim=1)), batch)


def made(kind):
    def make():
        torch.manual_seed(1)
        return kind()

    return make


def find(graphs, model="gcn", **settings):
    options = {"hidden_channels": 8} if isinstance(model, str) else {}
    return teddy.find_ticket(graphs, model, **{**SETTINGS, **options, **settings})


@pytest.fixture(scope="module")
def graphs():
    return rings_and_trees()


@pytest.fixture(scope="module")
def ticket(graphs):
    return find(graphs)


def number(graph):
    return Edges.from_columns(graph.edge_index, graph.num_nodes)[0].num_edges


@pytest.mark.parametrize("model", ["gcn", "gin", "sage", "gat"])
@pytest.mark.parametrize("readout", ["mean", "sum", "max"])
def test_logits_are_those_of_one_graph_after_the_other(graphs, model, readout):
    ticket = find(graphs, model, readout=readout)
    join = {"mean": torch.mean, "sum": torch.sum, "max": torch.amax}[readout]
    expected = []
    for graph in graphs:
        keep = prune_edges(graph.edge_index, 0.5, num_nodes=graph.num_nodes)
        outputs = ticket.model.eval()(graph.x, graph.edge_index[:, keep])
        expected.append(join(outputs, dim=0))
    logits = ticket.logits(graphs)
    torch.testing.assert_close(logits, torch.stack(expected), rtol=1e-4, atol=1e-5)
    assert torch.equal(ticket.predict(graphs), logits.argmax(dim=1))
    right = (logits.argmax(dim=1) == torch.tensor([g.y for g in graphs])).double()
    tested = torch.tensor([bool(g.test_mask) for g in graphs])
    assert ticket.verify(graphs)["test"] == pytest.approx(100 * float(right[tested].mean()))


def test_a_module_that_reads_out_itself_is_the_same_as_one_of_nodes(graphs):
    by_itself, read_out = find(graphs, made(Graphs)), find(graphs, made(Nodes))
    assert by_itself.info.ticket == read_out.info.ticket
    torch.testing.assert_close(by_itself.logits(graphs), read_out.logits(graphs))
    assert by_itself.info.graphs["readout"] is None
    assert by_itself.info.macs == read_out.info.macs


def test_a_module_gets_attributes_of_the_edges_that_stay(graphs):
    with_bonds = [graph.clone() for graph in graphs]
    for graph in with_bonds:
        graph.edge_attr = (graph.edge_index.sum(dim=0) + 1.0).view(-1, 1)
    ticket = find(with_bonds, made(Bonds), graph_sparsity=0.3)
    for graph in (with_bonds[0], with_bonds[7]):
        keep = prune_edges(graph.edge_index, 0.3, num_nodes=graph.num_nodes)
        pairs = torch.unique(graph.edge_index[:, keep], dim=1)  # each once
        own = (pairs.sum(dim=0) + 1.0).view(-1, 1)
        expected = ticket.model(graph.x, pairs, torch.zeros(graph.num_nodes).long(), own)
        torch.testing.assert_close(ticket.logits(graph), expected)
    with pytest.raises(teddy.InputError, match="graphs have no edge_attr, expected it"):
        ticket.logits(graphs)


def kept_of(graph, method="teddy"):
    """The edges that a score keeps of a graph, as a model of ours is given them."""
    keep = prune_edges(graph.edge_index, 0.5, method, num_nodes=graph.num_nodes)
    return Edges.from_edge_index(graph.edge_index[:, keep], graph.num_nodes).edge_index


def test_budgets_of_each_graph_and_of_a_part(graphs):
    ticket = find(graphs)
    for graph, pruned in zip(graphs, ticket.apply(graphs).to_data_list(), strict=True):
        assert torch.equal(pruned.edge_index, kept_of(graph))
    together = find(graphs, budget="all")
    pruned = together.apply(graphs).to_data_list()
    for key in MASKS:
        part = [g for g in graphs if g[key]]
        left = [p for g, p in zip(graphs, pruned, strict=True) if g[key]]
        batch = Batch.from_data_list([Data(edge_index=g.edge_index, num_nodes=g.num_nodes)
                                      for g in part])  # fmt: skip
        assert sum(p.num_edges for p in left) == kept_of(batch).size(1)
        sizes = together.info.graphs["parts"][key.removesuffix("_mask")]
        total = sum(number(g) for g in part)
        assert sizes == {"graphs": len(part), "total": total, "kept": total - -(-total // 2)}
    assert together.info.edges.total == sum(number(g) for g in graphs)


def test_saved_loaded_and_the_same_again(graphs, ticket, tmp_path):
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket")
    assert again.info == ticket.info
    assert torch.equal(again.logits(graphs), ticket.logits(graphs))
    find(teddy.graph_set(graphs)).save(tmp_path / "b.ticket")
    assert (tmp_path / "a.ticket").read_bytes() == (tmp_path / "b.ticket").read_bytes()
    own = find(graphs, made(Graphs))
    own.save(tmp_path / "c.ticket")
    loaded = teddy.Ticket.load(tmp_path / "c.ticket", model=Graphs())
    assert torch.equal(loaded.logits(graphs), own.logits(graphs))


def test_a_checkpoint_resumes_only_with_its_graphs(graphs, ticket, tmp_path):
    find(graphs, checkpoint=tmp_path / "c")
    assert torch.equal(find(graphs, checkpoint=tmp_path / "c").logits(graphs),
                       ticket.logits(graphs))  # fmt: skip
    with pytest.raises(teddy.InputError, match="budget each, got all"):
        find(graphs, checkpoint=tmp_path / "c", budget="all")


@pytest.mark.parametrize(
    ("method", "budget"),
    [("teddy", "each"), ("teddy", "all"), ("random", "each"), ("k-neighbor", "all")],
)
def test_new_graphs_are_pruned_by_the_score_each_by_itself(graphs, method, budget):
    ticket = find(graphs, method=method, budget=budget)
    new = [g for g in rings_and_trees(seed=5) if g.num_nodes > 5]
    for graph in new:
        del graph.y, graph.train_mask, graph.val_mask, graph.test_mask
    pruned = ticket.apply(new).to_data_list()
    for graph, own in zip(new, pruned, strict=True):
        assert torch.equal(own.edge_index, kept_of(graph, method))
    together = ticket.logits(new)
    alone = torch.cat([ticket.logits(graph) for graph in new])
    torch.testing.assert_close(together, alone)
    assert ticket.predict(Batch.from_data_list(new)).shape == (len(new),)


def test_the_order_of_columns_and_of_edges_doesnt_matter(graphs, ticket):
    shuffled = []
    for graph in graphs:
        order = torch.randperm(graph.edge_index.size(1))
        shuffled.append(Data(**{**graph.to_dict(), "edge_index": graph.edge_index[:, order]}))
    assert torch.equal(find(shuffled).logits(shuffled), ticket.logits(graphs))


def test_a_missing_split_is_drawn(graphs):
    bare = [Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in graphs]
    ticket = find(bare, split_seed=3)
    assert (ticket.info.split, ticket.info.split_seed) == ("80/10/10", 3)
    counts = [part["graphs"] for part in ticket.info.graphs["parts"].values()]
    assert counts == [32, 4, 4]
    assert ticket.verify(bare)["test"] == ticket.info.ticket.test
    given = find(teddy.graph_set(bare, split=(range(20), range(20, 30), range(30, 40))))
    assert [p["graphs"] for p in given.info.graphs["parts"].values()] == [20, 10, 10]
    with pytest.raises(teddy.InputError, match="split_seed is 1 and data have a split"):
        find(graphs, split_seed=1)


@pytest.mark.parametrize("budget", ["each", "all"])
def test_graphs_outside_the_split_are_treated_as_new(graphs, budget):
    some = [graph.clone() for graph in graphs]
    left_out = [7, 20, 33]
    for place in left_out:
        some[place].y = -1
        for key in MASKS:
            some[place][key] = torch.tensor([False])
    ticket = find(some, budget=budget)
    pruned = ticket.apply(some)
    for place in left_out:
        assert torch.equal(pruned[place].edge_index, kept_of(some[place]))
    without = find([g for place, g in enumerate(some) if place not in left_out], budget=budget)
    assert without.info.ticket == ticket.info.ticket
    assert torch.equal(without.logits(graphs[:1]), ticket.logits(graphs[:1]))


def test_whole_hidden_units_are_removed_and_class_weights_count(graphs):
    ticket = find(graphs, "gin", structure="neurons", class_weight="balanced", hidden_channels=16)
    assert ticket.info.config["structure"] == "neurons"
    assert ticket.info.config["class_weight"] == [1.0, 1.0]
    assert ticket.info.config["distill_nodes"] == "training"


def test_the_card_describes_graph_classification(ticket):
    card = model_card(ticket.info, "me/rings")
    assert "graph classification" in card
    assert "edges in 40 graphs" in card
    json.dumps(ticket.info.to_dict())


# Leaks


def changed(graphs, keys, seed=1):
    """Other features, edges, sizes and classes for the graphs of these parts, and these alone."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for graph in graphs:
        if not any(graph[key] for key in keys):
            found.append(graph)
            continue
        nodes = graph.num_nodes + 3
        edges = torch.randint(nodes, (2, 40), generator=generator)
        masks = {key: graph[key] for key in MASKS}
        x = torch.rand(nodes, 4, generator=generator)
        found.append(Data(x=x, edge_index=edges, y=1 - graph.y, **masks))
    return found


def searched(graphs, model, method, budget, epochs):
    """Losses of all epochs, the dense logits, the training graphs' edges, and the weights."""
    seen = []
    options = {"hidden_channels": 8} if isinstance(model, str) else {}
    settings = {"epochs": epochs, "task": "graph-classification", "budget": budget, **options}
    problem = make_problem(graphs, model, Settings.from_dict(settings))
    whole = problem.phases.report

    def watch(phase):
        return (*whole(phase), lambda epoch: seen.append((phase, epoch.index, epoch.loss)))

    problem.phases.report = watch
    stride = {"stride": 5} if method == "ugs" else {}
    (ticket,) = METHODS[method].tickets(problem, [SparsityLevel(0.4, 0.4)], **stride)
    trains = torch.tensor([bool(g.train_mask) for g in graphs])
    batch = teddy.graph_set(graphs)
    _, edge_of_column = Edges.from_columns(batch.edge_index, batch.num_nodes)
    keep = keep_columns(ticket.keep, edge_of_column)[trains[batch.batch][batch.edge_index[0]]]
    state = {name: value.numpy().tobytes() for name, value in ticket.model.state_dict().items()}
    return seen, problem.dense().logits.numpy().tobytes(), keep.tolist(), state


@pytest.mark.parametrize("budget", ["each", "all"])
@pytest.mark.parametrize("method", ["teddy", "random", "ugs"])
@pytest.mark.parametrize("model", ["gcn", "gin", "gat", made(Nodes), made(Graphs)])
def test_nothing_of_a_held_out_graph_reaches_training(graphs, model, method, budget):
    """With one epoch there is none to choose by the validation graphs: all is training's."""
    other = changed(graphs, ("val_mask", "test_mask"))
    found = searched(graphs, model, method, budget, 1)
    assert searched(other, model, method, budget, 1) == found
    if method == "teddy" and budget == "each":
        trains = changed(graphs, ("train_mask",))
        assert searched(trains, model, method, budget, 1)[1] != found[1]  # the test can fail


@pytest.mark.parametrize("budget", ["each", "all"])
@pytest.mark.parametrize("method", ["teddy", "random", "ugs"])
@pytest.mark.parametrize("model", ["gcn", made(Nodes)])
def test_a_ticket_does_not_depend_on_the_test_graphs(graphs, model, method, budget):
    found = searched(graphs, model, method, budget, 6)
    assert searched(changed(graphs, ("test_mask",)), model, method, budget, 6) == found
    tested = [g for g in graphs if g.test_mask]
    fewer = [g for g in graphs if not g.test_mask] + tested[:1]
    assert searched(fewer, model, method, budget, 6) == found


def test_validation_chooses_the_epoch_and_nothing_else(graphs):
    found = searched(graphs, "gcn", "teddy", "each", 6)
    other = searched(changed(graphs, ("val_mask",)), "gcn", "teddy", "each", 6)
    dense = [loss for loss in found[0] if loss[0] == "dense"]
    assert [loss for loss in other[0] if loss[0] == "dense"] == dense
    assert other[2] == found[2]


# Bad input


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "ugs", "model": made(Bonds)}, "a Bonds needs edge_attr, expected data"),
        ({"method": "gain"}, "task graph-classification does not support score gain"),
        ({"method": "auto", "scores": "gain+teddy"}, "expected scores=teddy"),
        ({"weighted": True}, "weighted is True, expected data with edge_weight"),
        ({"model": "specformer"}, "model specformer does not support task graph-classification"),
        ({"model": "nagphormer"}, "model nagphormer does not support task graph-classification"),
        ({"model": "unimp", "label_rate": 0.5}, "does not support label input"),
        ({"budget": "graph"}, "budget is 'graph', expected one of: each, all"),
        ({"readout": "median"}, "readout is 'median', expected one of: mean, sum, max"),
        ({"inference": "all"}, "inference is 'all', expected one of: scored, training, none"),
        ({"loader": "partitions:parts=8:batch=4"}, "partitions do not support a set of graphs"),
        ({"task": "classification"}, "data is a list, expected a Data, or the task graph-class"),
        ({"target": "paper"}, "task graph-classification does not support a HeteroData"),
    ],
)
def test_unsupported_settings_raise_a_clear_message(graphs, settings, message):
    with pytest.raises(teddy.InputError, match=message):
        find(graphs, settings.pop("model", "gcn"), **settings)


def test_a_module_of_the_wrong_shape_is_named(graphs):
    class Wrong(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 2)

        def forward(self, x, edge_index, batch):
            return self.linear(x)

    with pytest.raises(teddy.InputError, match=r"expected logits of shape \[24, classes\]"):
        find(graphs, Wrong())
    with pytest.raises(teddy.InputError, match="readout is 'sum', but a Graphs takes batch"):
        find(graphs, Graphs(), readout="sum")


def test_other_data_are_refused(graphs, ticket):
    with pytest.raises(teddy.InputError, match="has 40 graphs with one y each"):
        find(teddy.graph_set(graphs), task="classification")
    with pytest.raises(teddy.InputError, match="y has shape"):
        find(small_graph())
    wide = [Data(x=torch.rand(3, 5), edge_index=torch.tensor([[0], [1]]))]
    with pytest.raises(teddy.InputError, match="the ticket expects 4 features, got 5"):
        ticket.predict(wide)
    with pytest.raises(teddy.InputError, match="its tickets take any graphs without it"):
        ticket.transfer(graphs)


def test_solubility_is_learned():
    data = teddy.load_dataset("solubility")
    ticket = find(data, "gin", hidden_channels=64, epochs=100, graph_sparsity=0.2)
    most = float(data.y[data.test_mask].bincount().max()) / 2.57
    assert ticket.info.dense.test > most + 10
    assert ticket.info.edges.total == 17153
    assert ticket.verify(data)["test"] == ticket.info.ticket.test
    assert ticket.info.classes == ["low", "medium", "high"]


def test_no_split_is_made_up_to_judge_by(graphs):
    """Graphs that the ticket learnt from must not count as test graphs."""
    bare = [Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in graphs]
    given = find(teddy.graph_set(bare, split=(range(20), range(20, 30), range(30, 40))))
    with pytest.raises(teddy.InputError, match="have no split, expected the split of"):
        given.evaluate(bare)
    drawn = find(bare, split_seed=3)
    for others in (bare[::-1], bare[:20]):
        with pytest.raises(
            teddy.InputError, match="differ from those that the ticket was found on"
        ):
            drawn.evaluate(others)
    assert drawn.predict(bare[:20]).shape == (20,)


def test_a_search_leaves_the_callers_draws_alone(graphs):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    find(graphs)
    assert torch.equal(torch.get_rng_state(), before)


class Conditioned(Graphs):
    def forward(self, x, edge_index, batch, u=None):
        return super().forward(x, edge_index, batch)


class Requires(Graphs):
    def forward(self, x, edge_index, batch, u):
        return super().forward(x, edge_index, batch)


@pytest.mark.parametrize("module", [Conditioned, Requires])
@pytest.mark.parametrize("form", [list, Batch.from_data_list, teddy.graph_set])
def test_a_value_of_each_graph_is_refused_however_the_graphs_come(graphs, form, module):
    graphs = [graph.clone() for graph in graphs]
    for graph in graphs:
        graph.u = torch.ones(1, 1)
    with pytest.raises(teddy.InputError, match="u is neither of nodes nor of edges"):
        find(form(graphs), module)
    assert find(form(graphs), Graphs, epochs=1).info.graphs is not None


def test_a_value_of_some_graphs_is_refused(graphs):
    graphs = [graph.clone() for graph in graphs]
    graphs[0].u = torch.ones(graphs[0].num_nodes, 1)
    with pytest.raises(teddy.InputError, match="u isn't of every graph"):
        find(graphs, Conditioned)
