"""UGS and its ablations against a plain reference, their budgets, and what they leave out."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

import teddy
from conftest import LAYERED, small_graph
from models.test_masks import Weighted
from teddy.graph import Edges
from teddy.methods import METHODS, SparsityLevel, make_problem
from teddy.models import build_model
from teddy.settings import Settings
from teddy.sparsity import num_kept_weights, num_pruned_edges
from teddy.training import TrainConfig, seeded

LEVELS = [SparsityLevel.from_schedule(i) for i in (1, 2, 4)]


def problem(model="gcn", epochs=6, seed=0, distill=0.0, **options):
    settings = {"epochs": epochs, "distill": distill, "hidden_channels": 8, **options}
    return make_problem(small_graph(), model, Settings.from_dict(settings), seed)


def find(method, levels=LEVELS, **settings):
    options = {k: settings.pop(k) for k in ("weights", "separation") if k in settings}
    return list(METHODS[method].tickets(problem(**settings), levels, **options))


def reference_masks(data, weights, edge_mask, weight_masks, epochs, l1_edges, l1_weights, decay):
    """One round of UGS for a GCN without dropout, on dense matrices, as its equations say."""
    n = data.num_nodes
    graph, _ = Edges.from_columns(data.edge_index, n)
    low, high = graph.pairs
    weights = [w.clone().requires_grad_() for w in weights]
    edge_mask = edge_mask.clone().requires_grad_()
    weight_masks = [m.clone().requires_grad_() for m in weight_masks]
    masks = {"params": [edge_mask, *weight_masks], "weight_decay": 5e-4}
    adam = torch.optim.Adam([{"params": weights}, masks], lr=0.01, weight_decay=decay)

    def logits():
        a = torch.zeros(n, n, dtype=torch.float64)
        a = a.index_put((low, high), edge_mask).index_put((high, low), edge_mask)
        a = a + torch.eye(n, dtype=torch.float64)
        scale = a.abs().sum(dim=1).rsqrt()
        a = scale[:, None] * a * scale[None, :]
        first, second = (w * m for w, m in zip(weights, weight_masks, strict=True))
        return a @ (a @ data.x @ first).relu() @ second

    best = None
    for _ in range(epochs):
        z = logits()
        loss = nn.functional.cross_entropy(z[data.train_mask], data.y[data.train_mask])
        loss = loss + l1_edges * edge_mask.abs().sum()
        loss = loss + l1_weights * sum(m.abs().sum() for m in weight_masks)
        adam.zero_grad()
        loss.backward()
        adam.step()
        with torch.no_grad():
            right = logits().argmax(dim=1) == data.y
        val = int(right[data.val_mask].sum())
        if best is None or val >= best[0]:
            best = val, edge_mask.detach().clone(), [m.detach().clone() for m in weight_masks]
    return best[1], best[2]


@pytest.mark.parametrize("decay", [5e-4, 0.05])
def test_a_round_follows_the_equations(decay):
    from teddy.models.masks import Masks
    from teddy.training import train

    data = small_graph()
    data.x = data.x.double()
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    data.edge_index = graph.edge_index
    torch.manual_seed(0)
    model = build_model("gcn", 12, 3, hidden_channels=8, dropout=0.0).double()
    stays = [torch.rand_like(w) < 0.8 for w in model.weights]
    learned = Masks(model, graph.num_edges, stays)
    start = [w.detach().clone() for w in model.weights]
    masks = learned.edge_mask.detach().clone(), [m.detach().clone() for m in learned.weight_masks]

    config = TrainConfig(epochs=25, distill=0.0, weight_decay=decay)
    train(model, data, config, masks=learned, regularizer=lambda z: learned.penalty(1e-2, 1e-3))
    edges, weights = reference_masks(data, start, *masks, 25, 1e-2, 1e-3, decay)
    assert torch.allclose(learned.edge_mask, edges, rtol=1e-8, atol=1e-8)
    for ours, theirs in zip(learned.weight_masks, weights, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("model", LAYERED)
@pytest.mark.parametrize("method", ["ugs", "wd-glt"])
def test_budgets_are_exact_and_nested_at_every_level(method, model):
    tickets = find(method, model=model)
    before = None
    for level, ticket in zip(LEVELS, tickets, strict=True):
        edges, weights = ticket.info.edges, ticket.info.weights
        assert edges.kept == edges.total - num_pruned_edges(level.graph_sparsity, edges.total)
        assert weights.kept <= num_kept_weights(level.weight_sparsity, weights.total)
        assert weights.kept >= num_kept_weights(level.weight_sparsity, weights.total) - 2  # eps
        if before is not None:
            assert not (ticket.keep & ~before.keep).any()
            for new, old in zip(ticket.model.parameters(), before.model.parameters(), strict=True):
                assert not ((new != 0) & (old == 0)).any()
        before = ticket


def test_a_level_is_the_same_alone_and_on_the_way_to_others():
    alone = find("ugs", [LEVELS[1]])[0]
    together = find("ugs")[1]
    assert torch.equal(alone.keep, together.keep)
    assert torch.equal(alone.logits(small_graph()), together.logits(small_graph()))


def test_levels_share_their_rounds():
    one = problem()
    phases = []
    one.phases.progress = lambda phase, epoch, done: phases.append((phase, epoch.index, done))
    list(METHODS["ugs"].tickets(one, LEVELS))
    rounds = [p for p, index, _ in phases if p.startswith("round") and index == 0]
    assert rounds == ["round 1 of 1", "round 2 of 2", "round 3 of 4", "round 4 of 4"]
    assert sum(p == "dense" and index == 0 for p, index, _ in phases) == 1
    assert phases[-1][2] == 1.0


def test_weights_are_rewound_to_the_initial_ones():
    """One epoch of training is one step of Adam away from the initial weights."""
    (ticket,) = find("ugs", [LEVELS[0]], epochs=1)
    with seeded(0):
        initial = build_model("gcn", 12, 3, hidden_channels=8)
    for trained, start in zip(ticket.model.weights, initial.weights, strict=True):
        kept = trained != 0
        assert (trained - start)[kept].abs().max() <= 0.0101


@pytest.mark.parametrize("model", LAYERED)
@pytest.mark.parametrize("method", ["teddy", "ugs", "wd-glt"])
def test_a_removed_edge_has_no_influence_on_a_tickets_output(method, model):
    """Change a node and look only at those that every path to it was removed from."""
    data = small_graph()
    (ticket,) = METHODS[method].tickets(problem(model), [SparsityLevel(0.6, 0.3)])
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    near = torch.eye(data.num_nodes, dtype=torch.bool)
    adjacency = torch.zeros(data.num_nodes, data.num_nodes, dtype=torch.bool)
    low, high = graph.pairs[:, ticket.keep]
    adjacency[low, high] = adjacency[high, low] = True
    for _ in range(2):  # two layers
        near = near | (near.float() @ adjacency.float() > 0)
    removed = graph.pairs[:, ~ticket.keep].t().tolist()
    apart = [(i, j) for i, j in removed if not near[i, j]]
    assert apart
    before = ticket.logits(data)
    for i, j in apart[:10]:
        changed = data.clone()
        changed.x[j] = changed.x[j] + 10.0
        after = ticket.logits(changed)
        assert torch.equal(after[i], before[i])
        assert not torch.equal(after[j], before[j])


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("teddy", {"weights": "masks"}),
        ("random", {"weights": "masks"}),
        ("ugs", {"weights": "projection"}),
        ("ugs", {"distill": 5.0}),
        ("ugs", {"distill": 5.0, "weights": "projection"}),
        ("wd-glt", {"weights": "projection"}),
        ("teddy", {"distill": 0.0}),
    ],
)
def test_ablations_compose_with_exact_budgets(method, options):
    for level, ticket in zip(LEVELS, find(method, **options), strict=True):
        edges, weights = ticket.info.edges, ticket.info.weights
        assert edges.kept == edges.total - num_pruned_edges(level.graph_sparsity, edges.total)
        assert weights.kept == num_kept_weights(level.weight_sparsity, weights.total)
        assert ticket.info.config["distill"] == options.get("distill", 0.0)
        assert ticket.info.config["weights"] == options.get(
            "weights", "masks" if method == "ugs" else "projection"
        )


def test_teddy_with_masks_keeps_teddys_edges():
    with_masks = find("teddy", weights="masks")
    plain = find("teddy")
    for ours, theirs in zip(with_masks, plain, strict=True):
        assert torch.equal(ours.keep, theirs.keep)


@pytest.mark.parametrize("method", ["teddy", "ugs"])
def test_edges_only_and_weights_only(method):
    edges_only, weights_only = find(method, [SparsityLevel(0.3, 0.0), SparsityLevel(0.0, 0.3)])
    assert edges_only.info.weights.kept == edges_only.info.weights.total
    assert edges_only.info.edges.kept < edges_only.info.edges.total
    assert weights_only.info.edges.kept == weights_only.info.edges.total
    assert weights_only.info.weights.kept == num_kept_weights(0.3, weights_only.info.weights.total)


def test_every_edge_can_be_removed():
    (ticket,) = METHODS["ugs"].tickets(problem(epochs=1), [SparsityLevel(1.0, 0.9)])
    assert ticket.info.edges.kept == 0


def test_the_wasserstein_term_changes_the_kept_edges():
    with_term = find("wd-glt", [LEVELS[2]], epochs=30, separation=5.0)[0]
    without = find("wd-glt", [LEVELS[2]], epochs=30, separation=0.0)[0]
    assert not torch.equal(with_term.keep, without.keep)


def test_your_own_module_under_masks():
    ticket = teddy.find_ticket(small_graph(), Weighted, 0.2, 0.2, epochs=5, method="ugs")
    total = 12 * 3 + 3
    assert ticket.info.weights.total == total
    assert ticket.info.edges.kept == ticket.info.edges.total - math.ceil(
        0.2 * ticket.info.edges.total
    )
    ticket.predict(small_graph())


def test_a_module_that_can_not_weigh_edges_is_refused():
    class Plain(Weighted):
        def forward(self, x, edge_index):
            return self.conv(x, edge_index)

    with pytest.raises(teddy.InputError, match="does not take edge_weight"):
        teddy.find_ticket(small_graph(), Plain, 0.2, 0.2, epochs=2, method="ugs")


def test_the_same_call_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        ticket = teddy.find_ticket(
            small_graph(), "gat", 0.1, 0.1, epochs=3, hidden_channels=4, method="ugs"
        )
        ticket.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.slow
def test_the_published_ugs_on_cora(shared_data):
    """The published code gives 80.7 and 80.3 at levels 1 and 2 for GCN on Cora."""
    data = teddy.load_dataset("cora", data_dir=shared_data)
    levels = [SparsityLevel.from_schedule(i) for i in (1, 2)]
    tests = [
        [t.info.ticket.test for t in METHODS["ugs"].tickets(
            make_problem(data, "gcn", seed=seed, method="ugs"), levels)]
        for seed in range(3)
    ]  # fmt: skip
    first, second = (sum(values) / 3 for values in zip(*tests, strict=True))
    assert abs(first - 80.7) <= 2
    assert abs(second - 80.3) <= 2


def test_wd_glt_states_its_memory_needs(monkeypatch, caplog):
    from teddy.kernels import jit
    from teddy.methods import wd_glt

    monkeypatch.setattr(wd_glt, "_LOGGED", set())
    with caplog.at_level("INFO", logger="teddy"):
        METHODS["wd-glt"].tickets(problem(), LEVELS)
        monkeypatch.setattr(jit, "numba", None)
        METHODS["wd-glt"].tickets(problem(), LEVELS)
        METHODS["wd-glt"].tickets(problem(), LEVELS)  # logged already
    first, second = caplog.records
    assert "wd-glt needs 0 MB for distances between 40 outputs" in first.message
    assert (first.levelname, second.levelname) == ("INFO", "WARNING")

    monkeypatch.setattr(wd_glt, "separation_memory", lambda *_: 10**15)
    with pytest.raises(teddy.InputError, match=r"wd-glt needs 1,000,000,000 MB .* MB are free"):
        METHODS["wd-glt"].tickets(problem(), LEVELS)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_one_interface(method):
    chosen = METHODS[method]()
    ticket = teddy.find_ticket(
        small_graph(), "gcn", 0.1, 0.05, method=chosen, epochs=2, hidden_channels=4
    )
    assert ticket.info.method == method
    assert ticket.info.edges.kept == ticket.info.edges.total - math.ceil(
        0.1 * ticket.info.edges.total
    )


@pytest.mark.parametrize("name", ["GAT", "GIN", "GraphSAGE"])
def test_a_module_that_takes_no_notice_of_edge_weights_is_refused(name):
    import torch_geometric.nn

    module = getattr(torch_geometric.nn, name)(12, 8, num_layers=2, out_channels=3)
    with pytest.raises(teddy.InputError, match=f"a {name} does not take edge_weight"):
        teddy.find_ticket(small_graph(), module, 0.2, 0.2, epochs=2, method="ugs")
    # Weights alone need no such thing.
    ticket = teddy.find_ticket(small_graph(), module, 0.0, 0.2, epochs=2, method="ugs")
    assert ticket.info.weights.kept < ticket.info.weights.total

    class Deaf(Weighted):
        def forward(self, x, edge_index, edge_weight=None):
            return self.conv(x, edge_index)

    with pytest.raises(teddy.InputError, match="the Deaf ignores edge_weight"):
        teddy.find_ticket(small_graph(), Deaf, 0.2, 0.2, epochs=2, method="ugs")


def test_edge_weights_are_passed_by_name():
    class ByName(Weighted):
        def forward(self, x, edge_index, batch=None, *, edge_weight=None):
            assert batch is None
            return self.conv(x, edge_index, edge_weight)

    teddy.find_ticket(small_graph(), ByName, 0.2, 0.2, epochs=2, method="ugs")


def test_masks_of_half_precision():
    module = Weighted().to(torch.bfloat16)
    ticket = teddy.find_ticket(small_graph(), module, 0.2, 0.2, epochs=2, method="ugs")
    assert ticket.info.edges.kept < ticket.info.edges.total


def test_levels_that_hardly_differ_have_separate_rounds():
    one, other = find("ugs", [SparsityLevel(0.05, 0.0), SparsityLevel(0.05, 1e-10)])
    assert one.info.weights.kept == other.info.weights.total
