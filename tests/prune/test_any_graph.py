"""One ``prune_edges`` for an edge_index, Data, Batch, HeteroData and lists."""

from __future__ import annotations

import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.loader import DataLoader

import teddy
from teddy.errors import InputError
from teddy.prune import SCORES
from teddy.prune.choose import score_of

WEIGHTED = [name for name in SCORES if score_of(name).weighted is not None]


def graphs_of(seed: int, count: int = 4) -> list[Data]:
    """Graphs with self-loops, duplicates and weights; one has no edge."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for place in range(count):
        nodes = int(torch.randint(1, 9, (1,), generator=generator))
        columns = 0 if place == 1 else int(torch.randint(0, 30, (1,), generator=generator))
        edge_index = torch.randint(nodes, (2, columns), generator=generator)
        weight = torch.rand(columns, generator=generator) + 0.1
        found.append(Data(edge_index=edge_index, edge_weight=weight, num_nodes=nodes))
    return found


@pytest.mark.parametrize("weighted", [False, True])
@given(seed=st.integers(0, 10_000), sparsity=st.floats(0, 1), score=st.sampled_from(WEIGHTED))
def test_graphs_of_a_batch_or_list_are_scored_and_pruned_separately(
    weighted, seed, sparsity, score
):
    graphs, options = graphs_of(seed), {"weighted": weighted}
    batch = Batch.from_data_list(graphs)
    scores = [teddy.edge_scores(graph, score, **options) for graph in graphs]
    for graph, own in zip(graphs, scores, strict=True):
        weight = {"edge_weight": graph.edge_weight} if weighted else {}
        alone = teddy.edge_scores(graph.edge_index, score, num_nodes=graph.num_nodes, **weight)
        assert torch.equal(own, alone)
    assert torch.equal(teddy.edge_scores(batch, score, **options), torch.cat(scores))
    for own, alone in zip(teddy.edge_scores(graphs, score, **options), scores, strict=True):
        assert torch.equal(own, alone)
    keep = [teddy.prune_edges(graph, sparsity, score, **options) for graph in graphs]
    assert torch.equal(teddy.prune_edges(batch, sparsity, score, **options), torch.cat(keep))
    for own, alone in zip(teddy.prune_edges(graphs, sparsity, score, **options), keep, strict=True):
        assert torch.equal(own, alone)


@given(seed=st.integers(0, 10_000), sparsity=st.floats(0, 1))
def test_a_relation_within_a_type_is_pruned_as_its_edge_index(seed, sparsity):
    for graph in graphs_of(seed, count=1):
        data = HeteroData(paper={"num_nodes": graph.num_nodes})
        data["paper", "cites", "paper"].edge_index = graph.edge_index
        (scores,) = teddy.edge_scores(data).values()
        assert torch.equal(scores, teddy.edge_scores(graph))
        (keep,) = teddy.prune_edges(data, sparsity).values()
        assert torch.equal(keep, teddy.prune_edges(graph, sparsity))


def test_a_list_is_transformed_graph_by_graph():
    graphs = graphs_of(3)
    before = copy.deepcopy(graphs)
    sparse = teddy.SparsifyEdges(0.5)(graphs)
    for graph, own, original in zip(graphs, sparse, before, strict=True):
        assert torch.equal(own.edge_weight, graph.edge_weight[teddy.prune_edges(graph, 0.5)])
        assert torch.equal(graph.edge_index, original.edge_index)


def test_the_transform_has_a_functional_name():
    pipe = torch.utils.data.datapipes.iter.IterableWrapper(graphs_of(1)).sparsify_edges(0.5)
    edges = [teddy.SparsifyEdges(0.5)(graph).num_edges for graph in graphs_of(1)]
    assert [graph.num_edges for graph in pipe] == edges


def test_a_batch_of_a_loader_of_heterogeneous_graphs_is_a_heterogeneous_graph():
    data = HeteroData(paper={"num_nodes": 4})
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    (batch,) = DataLoader([data, data], batch_size=2)
    (keep,) = teddy.prune_edges(batch, 0.5).values()
    assert (keep.numel(), int(keep.sum())) == (6, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: teddy.prune_edges(d, 0.5, num_nodes=4), "num_nodes is for an edge_index, got a"),
        (lambda d: teddy.prune_edges(d, 0.5, edge_weight=torch.ones(3)), "use weighted=True"),
        (lambda d: teddy.prune_edges(d.edge_index, 0.5, weighted=True), r"needs edge_weight=\.\."),
        (lambda d: teddy.prune_edges(d, 0.5, weighted=True), "the Data has none"),
        (lambda d: teddy.prune_edges([d], 0.5, weighted=True), "the Data has none"),
        (lambda d: teddy.prune_edges(d, 0.5, budget="every"), "budget is 'every', expected one of"),
        (lambda d: teddy.prune_edges([d, d], 0.5, "gain"), "gain needs .* does not support a set"),
        (lambda d: teddy.prune_edges("citeseer", 0.5), "got a str, expected an edge_index, a Data"),
        (lambda d: teddy.edge_scores(Data(num_nodes=3)), "Data has no edge_index, expected one"),
    ],
)  # fmt: skip
def test_wrong_arguments_raise_a_clear_message(call, message):
    data = Data(edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
    with pytest.raises(InputError, match=message) as error:
        call(data)
    assert "\n" not in str(error.value)
