"""Tickets for heterogeneous graphs, end to end."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch_geometric.data import HeteroData
from torch_geometric.nn import GraphConv, HeteroConv, SAGEConv

import teddy
from cli.command import refused, run_here
from conftest import small_graph
from hetero_graphs import CITES, REV, WRITES, hetero_module, library
from teddy.methods import make_problem
from teddy.methods.resume import SearchFolder
from teddy.methods.sparsity_level import SparsityLevel
from teddy.models import GCN
from teddy.settings import Settings
from teddy.ticket import Count
from teddy.ticket.description import model_card

SETTINGS = {"graph_sparsity": 0.5, "weight_sparsity": 0.5, "epochs": 6, "target": "paper"}


def find(data: HeteroData, module: nn.Module, **settings) -> teddy.Ticket:
    return teddy.find_ticket(data, module, **{**SETTINGS, **settings})


class ByHand(nn.Module):
    """Layers of relations, written by hand; edges of some have weights; logits of papers alone."""

    def __init__(self) -> None:
        super().__init__()
        layers = {WRITES: GraphConv((4, 6), 3), CITES: GraphConv(6, 3), REV: GraphConv((6, 4), 3)}
        self.conv = HeteroConv(layers, aggr="sum")

    def forward(self, x_dict, edge_index_dict, edge_weight_dict=None):
        weights = {} if edge_weight_dict is None else {"edge_weight_dict": edge_weight_dict}
        return self.conv(x_dict, edge_index_dict, **weights)["paper"]


@pytest.fixture(scope="module")
def data() -> HeteroData:
    return library()


@pytest.fixture(scope="module")
def ticket(data) -> teddy.Ticket:
    return find(data, hetero_module(data))


def test_budgets_are_exact_of_each_relation_and_over_all(data, ticket):
    relations = ticket.info.hetero["relations"]
    assert [part["edge_types"][0][1] for part in relations] == ["writes", "at", "cites"]
    for part in relations:
        assert part["kept"] == part["total"] - math.ceil(0.5 * part["total"])
    total = sum(part["total"] for part in relations)
    assert ticket.info.edges == Count(total, sum(part["kept"] for part in relations))
    assert ticket.info.hetero["nodes"] == {"author": 30, "paper": 60, "venue": 6}
    together = find(data, hetero_module(data), budget="all")
    assert together.info.edges == Count(total, total - math.ceil(0.5 * total))
    assert together.info.hetero["scope"] == "all"
    assert not together.keep.equal(ticket.keep)


def test_weights_are_counted_where_the_output_depends_on_them(data, ticket):
    # The last layers of authors and venues are in the module, but papers are predicted.
    found = ticket.model({n: data[n].x for n in data.node_types}, data.edge_index_dict)["paper"]
    named = dict(ticket.model.named_parameters())
    gradients = torch.autograd.grad(found.sum(), list(named.values()), allow_unused=True)
    used = [p for p, g in zip(named.values(), gradients, strict=True) if g is not None]
    total, kept = sum(p.numel() for p in used), sum(int((p != 0).sum()) for p in used)
    assert total < sum(p.numel() for p in named.values())
    assert ticket.info.weights == Count(total, kept)
    matrices = [p for p in used if p.dim() >= 2]
    pruned = sum(p.numel() for p in matrices)
    assert sum(int((p != 0).sum()) for p in matrices) == math.ceil(0.5 * pruned)


def each_once(relation):
    return torch.unique(relation.edge_index, dim=1)


def test_the_edges_are_those_that_the_transform_keeps(data, ticket):
    one, other = ticket.apply(data), teddy.SparsifyEdges(0.5)(data)
    assert all(one[kind].edge_index.equal(each_once(other[kind])) for kind in data.edge_types)
    assert torch.unique(one[WRITES].edge_index.flip(0), dim=1).equal(one[REV].edge_index)
    random = find(data, hetero_module(data), method="random", seed=3).apply(data)
    chosen = teddy.SparsifyEdges(0.5, "random", seed=3)(data)
    assert all(random[kind].edge_index.equal(each_once(chosen[kind])) for kind in data.edge_types)


def test_a_file_holds_it_all(data, ticket, tmp_path):
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", model=hetero_module(data, seed=7))  # lazy
    assert again.info == ticket.info
    assert again.logits(data).equal(ticket.logits(data))
    assert again.predict(data).equal(ticket.logits(data).argmax(dim=1))
    assert again.verify(data)["test"] == ticket.info.ticket.test
    with pytest.raises(teddy.InputError, match=r"expected that module: Ticket\.load\(path, model"):
        teddy.Ticket.load(tmp_path / "a.ticket")


def test_logits_are_the_modules_on_the_pruned_graph(data, ticket):
    sparse = ticket.apply(data)
    expected = ticket.model(sparse.x_dict, sparse.edge_index_dict)["paper"]
    torch.testing.assert_close(ticket.logits(data), expected)


def shuffled(data: HeteroData) -> HeteroData:
    """The same graph, its types, relations and edges listed in another order."""
    other = HeteroData()
    for name in reversed(data.node_types):
        other[name].update(data[name])
    for kind in reversed(data.edge_types):
        order = torch.randperm(data[kind].num_edges, generator=torch.Generator().manual_seed(1))
        other[kind].edge_index = data[kind].edge_index[:, order]
    return other


def test_the_same_call_gives_the_same_bytes_however_the_graph_is_listed(data, ticket, tmp_path):
    module = hetero_module(data)
    files = []
    for name, graph in {"a": data, "b": copy.deepcopy(data), "c": shuffled(data)}.items():
        found = ticket if name == "a" else find(graph, module)
        found.save(tmp_path / name)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1] == files[2]
    assert ticket.logits(shuffled(data)).equal(ticket.logits(data))


def test_labels_of_test_nodes_change_nothing(data, ticket):
    other = copy.deepcopy(data)
    paper = other["paper"]
    paper.y[paper.test_mask] = (paper.y[paper.test_mask] + 1) % 3
    found = find(other, hetero_module(data))
    assert found.logits(data).equal(ticket.logits(data))
    assert found.info.ticket.test != ticket.info.ticket.test


def test_it_trains_as_a_plain_loop_does(data):
    """Without sparsity and teacher: Adam on all papers, the last of the best validation epochs."""
    settings = {"graph_sparsity": 0.0, "weight_sparsity": 0.0, "distill": 0.0, "epochs": 12}
    found = find(data, hetero_module(data), **settings)
    torch.manual_seed(0)
    model = hetero_module(data)
    x_dict = {name: data[name].x for name in data.node_types}
    index = {kind: torch.unique(data[kind].edge_index, dim=1) for kind in data.edge_types}
    torch.manual_seed(0)
    model.eval()(x_dict, index)  # the seed's initial weights
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    paper, best, logits = data["paper"], -1.0, None
    for _ in range(12):
        loss = F.cross_entropy(
            model.train()(x_dict, index)["paper"][paper.train_mask], paper.y[paper.train_mask]
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        z = model.eval()(x_dict, index)["paper"].detach()
        right = float((z.argmax(1) == paper.y)[paper.val_mask].float().mean())
        if right >= best:
            best, logits = right, z
    torch.testing.assert_close(found.logits(data), logits, rtol=1e-4, atol=1e-5)
    assert found.info.ticket.val == pytest.approx(100 * best, abs=1e-4)


def test_a_module_by_hand_gets_the_weights_of_the_edges_that_stay(data, tmp_path):
    weighted = copy.deepcopy(data)
    for kind in (WRITES, REV):  # an edge that is listed twice has one weight
        author, paper = weighted[kind].edge_index.flip(0 if kind == REV else ())
        weighted[kind].edge_weight = 1.0 + (author + 2 * paper).double() % 5
    torch.manual_seed(0)
    module = ByHand()
    ticket = find(weighted, module)
    assert ticket.info.graph["edge_inputs"] == ["edge_weight"]
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", module)
    before = again.logits(weighted)
    assert before.equal(ticket.logits(weighted))
    weighted[WRITES].edge_weight = weighted[WRITES].edge_weight * 2
    assert not again.logits(weighted).equal(before)
    with pytest.raises(teddy.InputError, match="data have no edge_weight, expected it"):
        again.logits(data)
    with pytest.raises(teddy.InputError, match=r"\(paper, at, venue\) has no edge_weight"):
        find(weighted, module, weighted=True)


def test_weighted_degrees_choose_as_the_transform_does(data):
    weighted = library()
    for kind in weighted.edge_types:
        source, target = weighted[kind].edge_index
        weighted[kind].edge_weight = 1.0 + (source + target) % 7  # the same both ways
    torch.manual_seed(0)
    ticket = find(weighted, ByHand(), weighted=True).apply(weighted)
    simple = copy.copy(weighted)
    chosen = teddy.SparsifyEdges(0.5, weighted=True)(simple)
    for kind in weighted.edge_types:
        assert ticket[kind].edge_index.equal(each_once(chosen[kind]))
    assert not chosen[CITES].edge_index.equal(teddy.SparsifyEdges(0.5)(weighted)[CITES].edge_index)


def test_other_targets(data):
    numbers = copy.deepcopy(data)
    numbers["paper"].y = 100 + 20 * numbers["paper"].x[:, 0]
    ticket = find(numbers, lambda: One(), task="regression")
    assert ticket.info.task["metric"] == "R2"
    assert ticket.predict(numbers).shape == (60,)
    assert ticket.evaluate(numbers)["test"] == pytest.approx(ticket.info.ticket.test, abs=1e-3)


class One(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = SAGEConv((4, 6), 1)

    def forward(self, x_dict, edge_index_dict):
        return {"paper": self.conv((x_dict["author"], x_dict["paper"]), edge_index_dict[WRITES])}


@pytest.mark.parametrize("make", [hetero_module, lambda data: ByHand()], ids=["lazy", "by hand"])
def test_an_interrupted_search_resumes_to_the_same_ticket(data, make, tmp_path):
    class EndError(Exception):
        pass

    def progress(phase, epoch, share):
        if phase == "sparse" and epoch.index == 3:
            raise EndError

    folder = {"checkpoint": SearchFolder(tmp_path / "folder", 0)}
    torch.manual_seed(0)
    module = make(data)
    with pytest.raises(EndError):
        find(data, module, progress=progress, **folder)
    resumed, whole = find(data, module, **folder), find(data, module)
    resumed.save(tmp_path / "a")
    whole.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with pytest.raises(teddy.InputError, match="holds a search with budget each, got all"):
        find(data, module, budget="all", **folder)


@pytest.mark.parametrize("relations", ["each", "all"])
@pytest.mark.parametrize("graph_sparsity", [0.0, 1.0])
def test_all_edges_or_none(data, relations, graph_sparsity):
    settings = {"graph_sparsity": graph_sparsity, "budget": relations, "epochs": 2}
    ticket = find(data, hetero_module(data), class_weight="balanced", **settings)
    assert ticket.info.edges.kept == (1 - graph_sparsity) * ticket.info.edges.total
    assert ticket.logits(data).shape == (60, 3)


def test_the_card_on_the_hub_speaks_of_relations(ticket):
    pytest.importorskip("yaml")
    card = model_card(ticket.info, "me/papers")
    assert "96 nodes, 379 edges of 3 relations, 6 features" in card
    assert "a PyG HeteroData" in card


def test_your_own_method_must_keep_the_budget_of_each_relation(data):
    problem = make_problem(data, ByHand(), Settings.from_dict({"target": "paper"}))
    level = SparsityLevel(0.5, 0.5)
    total = problem.graph.num_edges
    keep = torch.arange(total) >= problem.num_pruned(level)
    with pytest.raises(teddy.InputError, match=r"mine removed 163 edges of \(author, writes, pap"):
        problem.train_ticket("mine", level, keep)


def test_another_graph_is_refused(data, ticket):
    other = copy.deepcopy(data)
    other[CITES].edge_index = other[CITES].edge_index[:, 1:]
    with pytest.raises(teddy.InputError, match=r"the ticket belongs to data with 30 author, 60 p"):
        ticket.predict(other)
    other = copy.deepcopy(data)
    for kind, end in ((WRITES, 0), (REV, 1)):  # as many edges, of other authors
        other[kind].edge_index[end] = (other[kind].edge_index[end] + 1) % 30
    with pytest.raises(teddy.InputError, match=r"got another graph with edges 163 \(author, writ"):
        ticket.logits(other)
    with pytest.raises(teddy.InputError, match="got another graph with 30 author, 50 paper"):
        ticket.apply(fewer_papers())
    with pytest.raises(teddy.InputError, match="data is a Data, expected a HeteroData"):
        ticket.evaluate(small_graph())
    narrow = copy.deepcopy(data)
    narrow["author"].x = narrow["author"].x[:, 1:]
    with pytest.raises(teddy.InputError, match="'author' has 3 features, expected 4"):
        ticket.logits(narrow)
    homogeneous = teddy.find_ticket(small_graph(), "gcn", epochs=2, hidden_channels=4)
    with pytest.raises(teddy.InputError, match="data is a HeteroData, expected a Data"):
        homogeneous.logits(data)


def fewer_papers() -> HeteroData:
    data = HeteroData(author={"num_nodes": 30}, venue={"num_nodes": 6}, paper={"num_nodes": 50})
    data[CITES].edge_index = torch.tensor([[0], [1]])
    return data


@pytest.mark.parametrize(
    "use",
    [
        lambda ticket, data: ticket.transfer(data),
        lambda ticket, data: ticket.edge_index(data),
        lambda ticket, data: ticket.fields(data),
    ],
)
def test_unsupported_methods_refuse_relations(ticket, data, use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(teddy.InputError, match=r"heterogeneous|HeteroData"):
        use(ticket, data)
    assert not list(tmp_path.iterdir())


def without(data: HeteroData, kind, name: str) -> HeteroData:
    data = copy.deepcopy(data)
    del data[kind][name]
    return data


def no_features(data: HeteroData) -> HeteroData:
    data = without(data, "paper", "x")
    data["paper"].num_nodes = 60
    return data


def more_nodes(data: HeteroData) -> HeteroData:
    data = copy.deepcopy(data)
    data["paper"].num_nodes = 61
    return data


def weighted(data: HeteroData) -> HeteroData:
    data = copy.deepcopy(data)
    data[CITES].edge_weight = torch.ones(data[CITES].num_edges)
    return data


def two_targets(data: HeteroData) -> HeteroData:
    data = copy.deepcopy(data)
    data["author"].y = torch.zeros(30)
    return data


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        (None, {"model": "gin"}, "model gin does not support a HeteroData"),
        (None, {"model": GCN(6, 3)}, "model is a GCN, which supports one node type"),
        (two_targets, {"target": None}, "target is not given, expected a node type that has y:"),
        (None, {"target": "book"}, "target is 'book', expected a node type that has y: one of pap"),
        (None, {"target": "author"}, r"data\['author'\]: no y, expected an integer label"),
        (None, {"budget": "one"}, "budget is 'one', expected one of: each, all"),
        (None, {"loader": "partitions"}, "partitions do not support a HeteroData, expected a"),
        (None, {"method": "ugs"}, r"does not take edge_weight, expected forward\(x_dict, "),
        (None, {"method": "wd-glt"}, r"does not take edge_weight, .*edge_weight_dict\) to learn"),
        (None, {"method": "gain"}, "score gain does not support a HeteroData"),
        (None, {"method": "auto", "scores": "gain"}, "score gain does not support a HeteroData"),
        (None, {"structure": "neurons"}, "has no removable hidden units"),
        (None, {"weighted": True}, "weighted is True, expected data with edge_weight"),
        (None, {"model": nn.Linear(1, 1), "hidden_channels": 3},
         "option 'hidden_channels' has no effect"),
        (lambda d: without(d, "paper", "val_mask"), {}, r"data\['paper'\]: no val_mask, expected"),
        (no_features, {}, r"data\['paper'\]: no x, expected a feature"),
        (more_nodes, {}, r"data\['paper'\]: x has 60 rows, expected 61 \(num_nodes\)"),
        (lambda d: without(d, CITES, "edge_index"), {}, r"\(paper, cites, paper\): no edge_index"),
        (weighted, {}, "does not take edge_weight, expected forward"),
        (lambda d: small_graph(), {}, "data: is a Data, expected a torch_geometric"),
    ],
)  # fmt: skip
def test_bad_input_raises_a_clear_message(data, change, settings, message):
    settings = dict(settings)
    model = settings.pop("model", None) or hetero_module(data)
    graph = data if change is None else change(data)
    with pytest.raises(teddy.InputError, match=message) as error:
        find(graph, model, **settings)
    assert "\n" not in str(error.value)


class Gives(nn.Module):
    """Gives what it is told to."""

    def __init__(self, what) -> None:
        super().__init__()
        self.weight, self.what = nn.Parameter(torch.zeros(1)), what

    def forward(self, x_dict, edge_index_dict):
        return self.what(x_dict)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (lambda x: {"author": x["author"]}, "returned logits of author, expected 'paper' among"),
        (lambda x: x["author"], r"the model returned \[30, 4\], expected logits of shape \[60, cl"),
        (lambda x: None, r"the model returned NoneType, expected logits of shape \[60, classes\]"),
    ],
)
def test_a_module_that_gives_something_else(data, what, message):
    with pytest.raises(teddy.InputError, match=message):
        find(data, Gives(what))


def test_the_only_type_with_targets_is_the_target(data, ticket):
    assert find(data, hetero_module(data), target=None).info == ticket.info


def test_the_command_line_requires_the_module(data, ticket, tmp_path):
    torch.save(data, tmp_path / "graph.pt")
    line = refused(run_here("find", "graph.pt", cwd=tmp_path))
    assert "model gin does not support a HeteroData" in line
    ticket.save(tmp_path / "a.ticket")
    shown = run_here("inspect", "--all", "a.ticket", cwd=tmp_path)
    assert shown.returncode == 0
    assert "paper, cites, paper" in shown.stdout
    for command in ("predict", "bench"):
        line = refused(run_here(command, "a.ticket", cwd=tmp_path))
        assert "expected that module: Ticket.load(path, model=...)" in line


def test_data_without_relations_takes_no_target():
    with pytest.raises(teddy.InputError, match="is a Data, expected a torch_geometric"):
        teddy.find_ticket(small_graph(), "gcn", target="paper")


@pytest.mark.parametrize("required", [True, False])
def test_a_value_of_nodes_that_a_module_names_is_refused(data, required):
    class Placed(ByHand):
        def forward(self, x_dict, edge_index_dict, edge_weight_dict=None, pos_dict=None):
            return super().forward(x_dict, edge_index_dict)

    class NeedsPlaces(Placed):
        def forward(self, x_dict, edge_index_dict, pos_dict):
            return super().forward(x_dict, edge_index_dict)

    data = copy.copy(data)
    data["paper"].pos = torch.ones(data["paper"].num_nodes, 2)
    kind = NeedsPlaces if required else Placed
    with pytest.raises(teddy.InputError, match="takes pos_dict, which a HeteroData") as error:
        find(data, kind, epochs=1)
    assert "\n" not in str(error.value)
