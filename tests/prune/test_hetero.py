"""Relations: which are one, what goes of each, and that nothing depends on how they are listed."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

import teddy
from hetero_graphs import CITES, REV, WRITES, hetero_graphs, library
from prune.reference import degree_matrix, teddy_matrix
from teddy.graph import relation_edges
from teddy.prune import keep_highest
from teddy.prune.choose import needed_signals
from teddy.tasks.target_nodes import target_edges

METHODS = [
    name
    for name in teddy.prune.SCORES
    if (name not in ("local-degree", "forest-fire") or find_spec("networkit"))
    and not needed_signals(name)
]
methods, sparsities = st.sampled_from(METHODS), st.integers(0, 100)  # percent
scopes = st.sampled_from(["each", "all"])


def relations_of(data):
    """Edge types of each relation, with its reverse."""
    return relation_edges(data)[0].groups.relations


def small() -> HeteroData:
    """A tree of authors and papers, and a path of papers with a self-loop at its end."""
    data = HeteroData(author={"num_nodes": 3}, paper={"num_nodes": 4})
    data[WRITES].edge_index = torch.tensor([[0, 0, 0, 1, 2], [0, 1, 2, 2, 3]])
    data[WRITES].edge_attr = torch.arange(10).view(5, 2)
    data[CITES].edge_index = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 3]])
    data[CITES].edge_weight = torch.tensor([0.5, 1.5, 2.5, 3.5])
    return data


def kept(data: HeteroData, sparsity: float, **settings) -> dict:
    found = teddy.prune_edges(data, sparsity, **settings)
    return {kind[1]: keep.int().tolist() for kind, keep in found.items()}


# The bare tree's scores: 0.174 twice, 0.119, 0.279, 1; the path's middle edge has the lowest.
@pytest.mark.parametrize(
    ("sparsity", "writes", "cites"),
    [
        (0.0, [1, 1, 1, 1, 1], [1, 1, 1, 1]),
        (0.2, [1, 1, 0, 1, 1], [1, 0, 1, 1]),
        (0.6, [0, 0, 0, 1, 1], None),  # two of the path go: the middle, and one of equal ends
        (0.8, [0, 0, 0, 0, 1], [0, 0, 0, 1]),
        (1.0, [0, 0, 0, 0, 0], [0, 0, 0, 1]),  # a self-loop is never pruned
    ],
)
def test_each_relation_is_pruned_by_itself(sparsity, writes, cites):
    found = kept(small(), sparsity)
    assert found["writes"] == writes
    assert found["cites"] == cites if cites else sum(found["cites"]) == 2


# Neighbours by any relation: authors 3 1 1, papers 2 3 4 2; the highest mean degree goes first.
@pytest.mark.parametrize(
    ("sparsity", "writes", "cites"),
    [
        (0.2, [1, 1, 0, 1, 1], [1, 0, 1, 1]),
        (0.5, [1, 0, 0, 1, 1], [1, 0, 0, 1]),
    ],
)
def test_all_relations_are_pruned_together(sparsity, writes, cites):
    found = kept(small(), sparsity, score="degree-high", budget="all")
    assert (found["writes"], found["cites"]) == (writes, cites)


def test_the_transform_prunes_edge_attributes_only():
    data = small()
    data["paper"].x = torch.eye(4)
    sparse = T.Compose([T.ToUndirected(), teddy.SparsifyEdges(0.2), T.NormalizeFeatures()])(data)
    assert sparse[WRITES].edge_index.tolist() == [[0, 0, 1, 2], [0, 1, 2, 3]]
    assert sparse[WRITES].edge_attr.tolist() == [[0, 1], [2, 3], [6, 7], [8, 9]]
    assert sparse[REV].edge_index.tolist() == [[0, 1, 2, 3], [0, 0, 1, 2]]
    assert sparse[REV].edge_attr.equal(sparse[WRITES].edge_attr)
    assert sorted(set(sparse[CITES].edge_weight.tolist())) == [0.5, 2.5, 7.0]
    assert sparse["author"].num_nodes == 3
    assert data[WRITES].edge_index.size(1) == 5  # the original is as it was
    assert repr(teddy.SparsifyEdges(0.2, budget="all")) == (
        "SparsifyEdges(sparsity=0.2, score='teddy', budget='all')"
    )


def test_edges_of_two_relations_between_the_same_nodes_are_two_edges():
    data = HeteroData(paper={"num_nodes": 3})
    pairs = torch.tensor([[0, 1], [1, 2]])
    data[CITES].edge_index = pairs
    data["paper", "mentions", "paper"].edge_index = pairs
    assert [group[0][1] for group in relations_of(data)] == ["cites", "mentions"]
    assert kept(data, 0.0, budget="all") == {"cites": [1, 1], "mentions": [1, 1]}
    each, together = kept(data, 0.5), kept(data, 0.75, budget="all")
    assert [sum(keep) for keep in each.values()] == [1, 1]
    assert sum(sum(keep) for keep in together.values()) == 1
    draws = teddy.edge_scores(data, "random", budget="all")
    assert len({float(v) for scores in draws.values() for v in scores}) == 4


def edges(*pairs: tuple[int, int]) -> torch.Tensor:
    return torch.tensor(pairs).t()


@pytest.mark.parametrize(
    ("relations", "groups"),
    [
        ({WRITES: edges((0, 1)), REV: edges((1, 0))}, 1),
        ({WRITES: edges((0, 1)), REV: edges((0, 0))}, 1),  # by name, with any edges
        ({WRITES: edges((0, 1), (1, 0)), ("paper", "by", "author"): edges((0, 1), (1, 0))}, 1),
        ({WRITES: edges((0, 1), (1, 0)), ("paper", "by", "author"): edges((1, 0))}, 2),
        ({CITES: edges((0, 1)), ("paper", "cited", "paper"): edges((1, 0), (1, 0))}, 1),
        # Both ways each: no one's reverse, but two relations side by side.
        ({CITES: edges((0, 1), (1, 0)), ("paper", "likes", "paper"): edges((0, 1), (1, 0))}, 2),
        ({CITES: edges((0, 1), (1, 0)), ("paper", "rev_cites", "paper"): edges((0, 1))}, 1),
    ],
)
def test_pairing_of_relations(relations, groups):
    data = HeteroData(author={"num_nodes": 2}, paper={"num_nodes": 2})
    for kind, index in relations.items():
        data[kind].edge_index = index
    assert len(relations_of(data)) == groups


def test_a_named_reverse_with_fewer_edges_is_pruned_with_its_relation():
    data = small()
    data[REV].edge_index = torch.tensor([[2, 3], [0, 2]])
    assert kept(data, 0.2)["writes"] == [1, 1, 0, 1, 1]
    assert kept(data, 0.2)["rev_writes"] == [0, 1]


def dense(data: HeteroData, kinds: list) -> tuple[np.ndarray, dict]:
    """The adjacency of some relations over nodes (type, number), straight from the lists."""
    ids = {
        (name, i): 0 for name in data.node_types for i in range(data[name].num_nodes)
    }  # all nodes
    ids = {node: number for number, node in enumerate(ids)}
    A = np.zeros((len(ids), len(ids)))
    for kind in kinds:
        for source, target in data[kind].edge_index.t().tolist():
            i, j = ids[kind[0], source], ids[kind[2], target]
            if i != j:
                A[i, j] = A[j, i] = 1
    return A, ids


@pytest.mark.parametrize("relations", ["each", "all"])
@pytest.mark.parametrize(
    ("method", "matrix"),
    [("teddy", teddy_matrix), ("degree-low", degree_matrix)],
)
@given(data=hetero_graphs())
def test_scores_are_those_of_a_dense_reference(relations, method, matrix, data):
    found = teddy.edge_scores(data, method, budget=relations)
    assert found.keys() == set(data.edge_types)
    for group in relations_of(data):
        A, ids = dense(data, data.edge_types if relations == "all" else group)
        expected = matrix(A)
        for kind in group:
            for score, (source, target) in zip(
                found[kind].tolist(), data[kind].edge_index.t().tolist(), strict=True
            ):
                value = expected[ids[kind[0], source], ids[kind[2], target]]
                assert score == pytest.approx(value, rel=1e-12)


@given(data=hetero_graphs(), percent=sparsities, method=methods, scope=scopes)
def test_budgets_are_exact_and_self_loops_and_all_columns_of_kept_edges_are_kept(
    data, percent, method, scope
):
    found = teddy.prune_edges(data, percent / 100, method, budget=scope)
    total, gone = [], []
    for relation in relations_of(data):
        keep_by_ends: dict = {}
        for kind in relation:
            forward = kind == relation[0]
            one_type = kind[0] == kind[2]
            for keep, pair in zip(
                found[kind].tolist(), data[kind].edge_index.t().tolist(), strict=True
            ):
                if one_type and pair[0] == pair[1]:
                    assert keep
                    continue
                ends = tuple(sorted(pair)) if one_type else tuple(pair if forward else pair[::-1])
                assert keep_by_ends.setdefault(ends, keep) == keep
        total.append(len(keep_by_ends))
        gone.append(sum(not keep for keep in keep_by_ends.values()))
    if scope == "all":
        total, gone = [sum(total)], [sum(gone)]
    assert gone == [-(-percent * count // 100) for count in total]


@given(data=hetero_graphs(), one=sparsities, other=sparsities, method=methods, scope=scopes)
def test_kept_edges_are_nested(data, one, other, method, scope):
    low, high = (
        teddy.prune_edges(data, p / 100, method, budget=scope) for p in sorted((one, other))
    )
    assert all((low[kind] | ~high[kind]).all() for kind in low)


@given(
    data=hetero_graphs(), p=sparsities, method=methods, scope=scopes, draw=st.randoms(),
    permuted=st.integers(0, 100),
)  # fmt: skip
def test_the_order_in_which_relations_and_edges_are_listed_does_not_matter(
    data, p, method, scope, draw, permuted
):
    kinds, names = list(data.edge_types), list(data.node_types)
    draw.shuffle(kinds)
    draw.shuffle(names)
    other, order = HeteroData(), {}
    for name in names:
        other[name].num_nodes = data[name].num_nodes
    generator = torch.Generator().manual_seed(permuted)
    for kind in kinds:
        order[kind] = torch.randperm(data[kind].num_edges, generator=generator)
        other[kind].edge_index = data[kind].edge_index[:, order[kind]]
    before = teddy.prune_edges(data, p / 100, method, budget=scope)
    after = teddy.prune_edges(other, p / 100, method, budget=scope)
    assert all(before[kind][order[kind]].equal(after[kind]) for kind in kinds)


@given(data=hetero_graphs(), percent=sparsities, method=methods)
def test_each_relation_is_pruned_as_by_prune_edges(data, percent, method):
    sparsity = percent / 100
    found = teddy.prune_edges(data, sparsity, method)
    first = data["a"].num_nodes
    for kind in (("a", "s", "b"), ("a", "t", "a")):
        if any(kind in group for group in relations_of(data) if len(group) > 1):
            continue  # it has a reverse: its edges are theirs together
        index, count = data[kind].edge_index, first
        if kind[2] == "b":
            index, count = index + torch.tensor([[0], [first]]), first + data["b"].num_nodes
        assert found[kind].equal(teddy.prune_edges(index, sparsity, method, num_nodes=count))


@pytest.mark.parametrize("relations", ["each", "all"])
def test_weighted_degrees(relations):
    data = small()
    for kind in (WRITES, CITES):
        data[kind].edge_weight = torch.ones(data[kind].num_edges)
    plain = teddy.edge_scores(data, budget=relations)
    weighted = teddy.edge_scores(data, budget=relations, weighted=True)
    assert all(plain[kind].equal(weighted[kind]) for kind in plain)  # weights of 1: the same bits
    data[WRITES].edge_weight[4] = 100.0
    heavy = teddy.SparsifyEdges(0.2, weighted=True, budget=relations)(data)
    assert [2, 3] not in heavy[WRITES].edge_index.t().tolist()


def test_both_directions_of_a_large_graph_are_pruned_together():
    data = teddy.SparsifyEdges(0.64)(library(papers=200))
    there, back = data[WRITES].edge_index, data[REV].edge_index
    assert there.equal(back.flip(0))


def no_nodes() -> HeteroData:
    data = HeteroData()
    data[WRITES].edge_index = torch.tensor([[0], [0]])
    return data


def changed(change) -> HeteroData:
    data = small()
    change(data)
    return data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (HeteroData(), "data: no relations, expected at least one"),
        (no_nodes(), "node type 'author' has unknown size, expected x or num_nodes"),
        (
            changed(lambda d: d[WRITES].__setattr__("edge_index", torch.tensor([[3], [0]]))),
            r"data \(author, writes, paper\): edge_index\[0, 0\] is 3, expected a node from 0 to 2",
        ),
        (
            changed(lambda d: d[WRITES].__setattr__("edge_index", torch.rand(2, 1))),
            r"\(author, writes, paper\): edge_index is float32",
        ),
        (
            changed(lambda d: d[WRITES].__delattr__("edge_index")),
            r"\(author, writes, paper\): no edge_index, expected one for each relation",
        ),
    ],
)
def test_invalid_graphs_raise_one_line(data, message):
    with pytest.raises(teddy.InputError, match=message) as error:
        teddy.SparsifyEdges(0.5)(data)
    assert "\n" not in str(error.value)


def test_invalid_arguments_raise():
    with pytest.raises(teddy.InputError, match="budget is 'some', expected one of: each, all"):
        teddy.SparsifyEdges(0.5, budget="some")
    with pytest.raises(teddy.InputError, match=r"\(author, writes, paper\) has no edge_weight"):
        teddy.SparsifyEdges(0.5, weighted=True)(small())
    with pytest.raises(teddy.InputError, match="Data has no edge_index"):
        teddy.prune_edges(Data(num_nodes=1), 0.5)
    with pytest.raises(teddy.InputError, match="score cosine needs x and does not support"):
        teddy.SparsifyEdges(0.5, "cosine")(small())


@given(hetero_graphs(), scopes, sparsities, sparsities, st.integers(0, 1000))
def test_the_lowest_values_of_each_relation_are_removed(data, scope, lower, higher, seed):
    """Any values, such as magnitudes of masks; what is gone stays gone in a later round."""
    graph, _ = relation_edges(data, scope)
    generator = torch.Generator().manual_seed(seed)
    values = torch.randint(4, (graph.num_edges,), generator=generator).double()  # ties
    lower, higher = sorted([lower / 100, higher / 100])
    before = keep_highest(graph, values, lower)
    later = keep_highest(graph, values.neg().masked_fill(~before, -torch.inf), higher)
    assert not (later & ~before).any()
    for keep, sparsity in ((before, lower), (later, higher)):
        parts = keep.split(graph.num_in_group.tolist()) if scope == "each" else [keep]
        assert [int((~part).sum()) for part in parts] == graph.num_pruned(sparsity).tolist()


@given(hetero_graphs(), st.integers(0, 1000))
def test_messages_of_a_relation_and_its_reverse_are_of_one_edge(data, seed):
    whole = target_edges(data, "a")
    keep = torch.rand(whole.num_edges, generator=torch.Generator().manual_seed(seed)) < 0.6
    around = whole.fields(keep)["edge_index"]
    pairs = whole.node_pairs[:, keep]  # nodes of all types, numbered one after the other
    offsets = whole.groups.offsets
    for kind, index in around.edge_index_dict.items():
        ends = index + torch.tensor([[offsets[kind[0]]], [offsets[kind[2]]]])
        loops = ends[0] == ends[1]
        edge = around.edge_of[kind]
        assert (edge[loops] == pairs.size(1)).all()  # one past the last
        assert torch.equal(pairs[:, edge[~loops]], ends[:, ~loops].sort(dim=0).values)
