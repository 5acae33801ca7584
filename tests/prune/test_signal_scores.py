"""Scores that look at features, or at what a dense model says of the nodes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

import teddy
from conftest import edge_lists
from teddy.errors import InputError
from teddy.graph import Edges
from teddy.prune import SCORES, Signals
from teddy.prune.choose import needed_signals
from teddy.prune.scores.edge_values import ranks

NAMES = [name for name in SCORES if needed_signals(name)]


def signals_of(num_nodes: int, seed: int = 0, classes: int = 3) -> dict[str, torch.Tensor]:
    """Signals of all kinds; a third of the nodes are for training."""
    rng = np.random.default_rng(seed)
    return {
        "x": torch.tensor(rng.random((num_nodes, 5)) * (rng.random((num_nodes, 5)) < 0.6)).float(),
        "logits": torch.tensor(rng.normal(size=(num_nodes, classes)) * 3).float(),
        "isolated_logits": torch.tensor(rng.normal(size=(num_nodes, classes)) * 3).float(),
        "labels": torch.tensor(
            np.where(rng.random(num_nodes) < 0.3, rng.integers(0, classes, num_nodes), -1)
        ),
    }


def some(signals, name):
    return {need: signals[need] for need in needed_signals(name)}


# References, written from the equations, an edge at a time


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def neighbours(pairs, i):
    return [b if a == i else a for a, b in pairs if i in (a, b)]


def reference_teddy(pairs, num_nodes):
    degree = np.zeros(num_nodes)
    for i, j in pairs:
        degree[[i, j]] += 1
    value = np.zeros(num_nodes)
    for i in range(num_nodes):
        around = neighbours(pairs, i)
        if around:
            value[i] = np.mean([1 / np.sqrt(degree[u]) for u in around]) / degree[i]
    return {(i, j): value[i] * value[j] for i, j in pairs}


def reference_agreement(pairs, signals):
    p = [softmax(z) for z in signals["logits"].double().numpy()]
    return {(i, j): float(p[i] @ p[j]) for i, j in pairs}


def reference_gain(pairs, signals):
    labels = signals["labels"].numpy()
    p = [softmax(z) for z in signals["logits"].double().numpy()]
    q = [softmax(z) for z in signals["isolated_logits"].double().numpy()]
    for i in np.flatnonzero(labels >= 0):
        p[i] = np.eye(len(p[i]))[labels[i]]

    def worth(i, j):  # of the message from j to i
        need = 1.0 if labels[i] >= 0 else 1 - p[i] @ q[i]
        return (0.1 + need) * (p[i] @ (p[j] + q[j]) / 2)

    def got(i, j):
        if labels[i] >= 0:
            return worth(i, j)
        better = [k for k in neighbours(pairs, i) if worth(i, k) > worth(i, j)]
        return worth(i, j) / (1 + len(better))

    return {(i, j): got(i, j) + got(j, i) for i, j in pairs}


def walks(pairs, num_nodes):
    """Number of walks of one or two steps."""
    A = np.zeros((num_nodes, num_nodes))
    for i, j in pairs:
        A[i, j] = A[j, i] = 1
    return A.sum() + (A @ A).sum()


def reference_serving(pairs, signals, num_nodes):
    gain, all_walks = reference_gain(pairs, signals), walks(pairs, num_nodes)
    others = {pair: [p for p in pairs if p != pair] for pair in pairs}
    return {pair: gain[pair] / (all_walks - walks(others[pair], num_nodes)) for pair in pairs}


def reference_cosine(pairs, signals):
    x = signals["x"].double().numpy()

    def cosine(a, b):
        length = np.sqrt((a @ a) * (b @ b))
        return a @ b / length if length else 0.0

    return {(i, j): cosine(x[i], x[j]) for i, j in pairs}


def reference_label_propagation(pairs, signals, num_nodes):
    labels = signals["labels"].numpy()
    A = np.zeros((num_nodes, num_nodes))
    for i, j in pairs:
        A[i, j] = A[j, i] = 1
    d = A.sum(axis=1).clip(min=1)
    A = A / np.sqrt(np.outer(d, d))
    Y = np.zeros((num_nodes, 3))
    for i in np.flatnonzero(labels >= 0):
        Y[i, labels[i]] = 1
    spread = Y
    for _ in range(10):
        spread = 0.9 * A @ spread + 0.1 * Y
    return {(i, j): A[i, j] * (spread[i] @ spread[j]) for i, j in pairs}


def reference(name, pairs, signals, num_nodes):
    if name == "gain":
        return reference_gain(pairs, signals)
    if name == "serving":
        return reference_serving(pairs, signals, num_nodes)
    if name == "label-propagation":
        return reference_label_propagation(pairs, signals, num_nodes)
    if name == "k-agreement":
        a = reference_agreement(pairs, signals)

        def place(i, j):
            mine = [a[min(i, k), max(i, k)] for k in neighbours(pairs, i)]
            return 1 + sum(value > a[min(i, j), max(i, j)] for value in mine)

        return {(i, j): a[i, j] / 2 - min(place(i, j), place(j, i)) for i, j in pairs}
    of_ends = reference_agreement if name == "agreement" else reference_cosine
    degrees, ends = reference_teddy(pairs, num_nodes), of_ends(pairs, signals)
    return {pair: degrees[pair] * ends[pair] for pair in pairs}


@pytest.mark.parametrize("name", NAMES)
@given(graph=edge_lists(), seed=st.integers(0, 99))
def test_scores_are_those_of_the_equations(name, graph, seed):
    edge_index, num_nodes = graph
    signals = signals_of(num_nodes, seed)
    simple, _ = Edges.from_columns(edge_index, num_nodes)
    pairs = [tuple(pair) for pair in simple.pairs.t().tolist()]
    expected = reference(name, pairs, signals, num_nodes)
    found = teddy.edge_scores(edge_index, name, num_nodes=num_nodes, **some(signals, name))
    for (i, j), score in zip(edge_index.t().tolist(), found.tolist(), strict=True):
        if i == j:
            assert score == np.inf
        else:
            assert score == pytest.approx(expected[min(i, j), max(i, j)], abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(
    graph=edge_lists(),
    p=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    seed=st.integers(0, 99),
)
def test_budgets_are_exact_and_nested(name, graph, p, seed):
    edge_index, num_nodes = graph
    signals = some(signals_of(num_nodes, seed), name)
    simple, edge = Edges.from_columns(edge_index, num_nodes)
    less, more = (teddy.prune_edges(edge_index, q, name, num_nodes=num_nodes, **signals) for q in p)
    assert not (more & ~less).any()
    for q, keep in zip(p, (less, more), strict=True):
        kept = {e for e, k in zip(edge.tolist(), keep.tolist(), strict=True) if k and e >= 0}
        total = simple.num_edges
        assert len(kept) == total - teddy.sparsity.num_pruned_edges(q, total)
    assert more[edge < 0].all()


@pytest.mark.parametrize("name", NAMES)
@given(graph=edge_lists(), seed=st.integers(0, 99))
def test_other_numbers_of_the_nodes_give_the_same_scores(name, graph, seed):
    edge_index, num_nodes = graph
    signals = signals_of(num_nodes, seed)
    number = torch.randperm(num_nodes, generator=torch.Generator().manual_seed(seed))
    moved = {key: torch.empty_like(value) for key, value in signals.items()}
    for key, value in signals.items():
        moved[key][number] = value
    scores = teddy.edge_scores(edge_index, name, num_nodes=num_nodes, **some(signals, name))
    again = teddy.edge_scores(number[edge_index], name, num_nodes=num_nodes, **some(moved, name))
    assert torch.allclose(scores, again, rtol=1e-12, atol=1e-12)


def test_sparse_features_are_as_good_as_dense():
    x = signals_of(30)["x"]
    edges = torch.randint(0, 30, (2, 80), generator=torch.Generator().manual_seed(0))
    dense = teddy.edge_scores(edges, "cosine", num_nodes=30, x=x)
    for sparse in (x.to_sparse_csr(), x.to_sparse()):
        assert torch.allclose(
            teddy.edge_scores(edges, "cosine", num_nodes=30, x=sparse), dense, rtol=1e-12
        )


def test_outputs_with_a_gradient_and_short_integers_are_taken_as_they_are():
    signals = signals_of(30)
    edges = torch.randint(0, 30, (2, 80), generator=torch.Generator().manual_seed(0))
    expected = teddy.prune_edges(edges, 0.5, "gain", num_nodes=30, **some(signals, "gain"))
    signals["logits"].requires_grad_()
    signals["labels"] = signals["labels"].int()
    assert torch.equal(
        teddy.prune_edges(edges, 0.5, "gain", num_nodes=30, **some(signals, "gain")), expected
    )


def test_long_lists_are_taken_in_parts(monkeypatch):
    x = signals_of(30)["x"]
    edges = torch.randint(0, 30, (2, 80), generator=torch.Generator().manual_seed(0))
    whole = teddy.edge_scores(edges, "cosine", num_nodes=30, x=x)
    monkeypatch.setattr("teddy.prune.scores.edge_values._AT_ONCE", 35)
    assert torch.equal(teddy.edge_scores(edges, "cosine", num_nodes=30, x=x), whole)
    sparse = teddy.edge_scores(edges, "cosine", num_nodes=30, x=x.to_sparse_csr())
    assert torch.allclose(sparse, whole, rtol=1e-12)


def test_places_by_hand():
    # 1 has the edges 0-1 (worth 3), 1-2 (worth 5), 1-3 (worth 5).
    graph = Edges(4, torch.tensor([[0, 1, 1], [1, 2, 3]]))
    values = torch.tensor([[9.0, 5.0, 5.0], [3.0, 0.0, 0.0]])
    assert ranks(graph, values).tolist() == [[1, 1, 1], [3, 1, 1]]


def test_a_node_gets_the_message_that_it_lacks_before_one_that_it_has():
    # 0 is of class 0 with its neighbours, but can't tell it alone; 1 can tell, 2 can't.
    sure, other = [6.0, 0.0], [0.0, 6.0]
    graph = torch.tensor([[0, 0], [1, 2]])
    signals = {
        "logits": torch.tensor([sure, sure, sure]),
        "isolated_logits": torch.tensor([other, sure, other]),
        "labels": torch.full((3,), -1),
    }
    keep = teddy.prune_edges(graph, 0.5, "gain", num_nodes=3, **signals)
    assert keep.tolist() == [True, False]


def test_messages_to_a_training_node_all_count_in_full():
    sure = [6.0, 0.0]
    star = torch.tensor([[0, 0, 0], [1, 2, 3]])
    logits = torch.tensor([sure] * 4)
    labels = torch.tensor([0, -1, -1, -1])
    scores = teddy.edge_scores(
        star, "gain", num_nodes=4, logits=logits, isolated_logits=logits, labels=labels
    )
    # The centre gets 1.1 times almost 1 from each; a leaf needs almost nothing.
    assert scores.tolist() == pytest.approx([1.2] * 3, abs=0.02)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("agreement", {}, "score agreement needs logits, pass logits=..."),
        (
            "gain",
            {"logits": torch.zeros(3, 2)},
            "needs isolated_logits, pass isolated_logits=",
        ),
        ("agreement", {"logits": torch.zeros(2, 2)}, r"logits has shape \[2, 2\], expected a row"),
        ("agreement", {"logits": torch.zeros(3)}, r"logits has shape \[3\], expected a row"),
        ("teddy", {"x": torch.eye(3)}, "score teddy does not use x, expected no signals"),
        ("cosine", {"logits": torch.eye(3)}, "score cosine does not use logits, expected x"),
        ("cosine", {"x": [[1.0]] * 3}, "signals: x is a list, expected a tensor"),
        ("cosine", {"x": torch.ones(3, 0)}, r"x has shape \[3, 0\], expected \[N, F\], both above"),
        ("cosine", {"x": torch.eye(3).log()}, r"x\[0, 1\] is -inf, expected finite features"),
        ("label-propagation", {"labels": torch.zeros(3)}, "labels is float32, expected integers"),
        (
            "gain",
            signals_of(3) | {"isolated_logits": torch.ones(3, 2)},
            "isolated_logits has 2 columns, expected 3",
        ),
        ("gain", signals_of(3) | {"labels": torch.arange(3, 6)}, "labels go up to 5, expected cl"),
    ],
)
def test_signals_that_are_missing_or_too_many(name, given, message):
    given = {key: value for key, value in given.items() if name != "gain" or key != "x"}
    for call in (teddy.edge_scores, lambda edges, *a, **k: teddy.prune_edges(edges, 0.5, *a, **k)):
        with pytest.raises(InputError, match=message):
            call(torch.tensor([[0, 1], [1, 2]]), name, num_nodes=3, **given)


def test_the_transform_takes_signals_from_the_graph():
    edge_index = torch.tensor([[0, 1], [1, 2]])
    x = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    data = Data(x=x, edge_index=edge_index, edge_attr=torch.tensor([5, 6]))
    assert teddy.SparsifyEdges(0.5, "cosine")(data).edge_attr.tolist() == [5]
    with pytest.raises(InputError, match="needs logits"):
        teddy.SparsifyEdges(0.5, "agreement")(data)
    data.logits = torch.tensor([[9.0, 0.0], [0.0, 9.0], [0.0, 9.0]])
    assert teddy.SparsifyEdges(0.5, "agreement")(data).edge_attr.tolist() == [6]


def test_signals_may_be_anywhere():
    signals = Signals(x=torch.eye(2)).to(torch.device("meta"))
    assert signals.x.device.type == "meta"
    assert signals.logits is None


def test_dissimilar_ends_are_removed_first_at_any_degree():
    """A negative cosine times TEDDY's score would put hubs first."""
    edges = torch.tensor([[0, 0, 0, 0, 5, 7], [1, 2, 3, 4, 6, 8]])  # a star, and two lone edges
    x = torch.tensor([[1.0], [-1.0], [-1.0], [-1.0], [-1.0], [1.0], [-1.0], [1.0], [1.0]])
    scores = teddy.edge_scores(edges, "cosine", num_nodes=9, x=x)
    assert scores.tolist() == [0, 0, 0, 0, 0, 1]


def test_labels_spread_equally_to_equal_nodes():
    """Integer sums: how nodes are numbered doesn't matter to the last bit."""
    rng = np.random.default_rng(0)
    ring, leaves = np.arange(12), 3
    edges = [(i, (i + 1) % 12) for i in ring]
    edges += [(i, 12 + leaves * i + leaf) for i in ring for leaf in range(leaves)]
    labels = np.where(np.arange(12 + 12 * leaves) < 12, 0, -1)
    name = rng.permutation(labels.size)
    index, known = torch.from_numpy(name[np.array(edges).T]), np.empty_like(labels)
    known[name] = labels
    scores = teddy.edge_scores(
        index, "label-propagation", num_nodes=labels.size, labels=torch.from_numpy(known)
    )
    assert len(scores[:12].unique()) == 1
    assert len(scores[12:].unique()) == 1


def test_many_edges_are_processed_in_chunks(monkeypatch):
    rng = np.random.default_rng(1)
    edges, signals = torch.from_numpy(rng.integers(0, 30, (2, 90))), signals_of(30)
    expected = {n: teddy.edge_scores(edges, n, num_nodes=30, **some(signals, n)) for n in NAMES}
    monkeypatch.setattr("teddy.prune.scores.edge_values._AT_ONCE", 21)
    for name in NAMES:
        scores = teddy.edge_scores(edges, name, num_nodes=30, **some(signals, name))
        assert scores.equal(expected[name]), name
