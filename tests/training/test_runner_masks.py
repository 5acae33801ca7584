"""Masks of edges and weights in modules of graphs and of several node types."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import GraphConv, HeteroConv, global_add_pool

import teddy
from hetero_graphs import CITES, REV, WRITES
from teddy.graph import Edges
from teddy.models import build_model
from teddy.models.hetero import call_hetero
from teddy.models.masks import Masks
from teddy.tasks.heads import readout_for
from teddy.tasks.target_nodes import target_edges
from teddy.training.runner import Runner


class Relations(nn.Module):
    """Sums over neighbours, weighted: an edge of weight 0 is as good as removed."""

    def __init__(self) -> None:
        super().__init__()
        layers = {WRITES: GraphConv((2, 3), 4), CITES: GraphConv(3, 4), REV: GraphConv((3, 2), 4)}
        self.first, self.last = HeteroConv(layers), HeteroConv({WRITES: GraphConv((4, 4), 2)})

    def forward(self, x_dict, edge_index_dict, edge_weight_dict=None):
        weights = {} if edge_weight_dict is None else {"edge_weight_dict": edge_weight_dict}
        hidden = self.first(x_dict, edge_index_dict, **weights)
        return self.last(hidden, edge_index_dict, **weights)


def relations(weighted: bool) -> HeteroData:
    """Authors 0, 1 write papers 0, 1, 2; papers cite each other, paper 2 itself."""
    torch.manual_seed(0)
    data = HeteroData()
    data["author"].x, data["paper"].x = torch.rand(2, 2), torch.rand(3, 3)
    data[WRITES].edge_index = torch.tensor([[0, 0, 1], [0, 1, 2]])
    data[REV].edge_index = torch.tensor([[2, 1, 0], [1, 0, 0]])
    data[CITES].edge_index = torch.tensor([[0, 1, 2], [1, 2, 2]])
    if weighted:
        data[CITES].edge_weight = torch.tensor([2.0, 3.0, 5.0])
    return data


def edges_of(data: HeteroData) -> Edges:
    names = ["edge_weight"] if "edge_weight" in data else []
    return target_edges(data, "paper", names=names)


def under(model, values, x, edge_index):
    """The runner with these masks, and the masks."""
    masks = Masks(model, values.numel(), None)
    with torch.no_grad():
        masks.edge_mask.copy_(values)
    return Runner(model, x, edge_index, masks=masks), masks.edge_mask


@pytest.mark.parametrize("weighted", [False, True])
def test_a_mask_of_0_removes_an_edge_of_a_relation_and_its_reverse(weighted):
    data = relations(weighted)
    edges, x = edges_of(data), data["paper"].x
    model = Relations()
    assert edges.num_edges == 5
    for number in range(2**5):
        keep = torch.tensor([bool(number >> place & 1) for place in range(5)])
        runner, _ = under(model, keep.float(), x, edges.fields()["edge_index"])
        expected = call_hetero(model, x, edges.fields(keep)["edge_index"])
        torch.testing.assert_close(runner.evaluation_logits(), expected)


def test_masks_multiply_the_weights_that_edges_have():
    data = relations(weighted=True)
    x, model = data["paper"].x, Relations()
    masks = torch.tensor([0.5, 2.0, 1.5, 3.0, 0.25])  # three of writes, two of cites
    runner, _ = under(model, masks, x, edges_of(data).fields()["edge_index"])
    by_hand = model(
        data.x_dict,
        data.edge_index_dict,
        {
            WRITES: torch.tensor([0.5, 2.0, 1.5]),
            REV: torch.tensor([1.5, 2.0, 0.5]),
            CITES: torch.tensor([2.0 * 3.0, 3.0 * 0.25, 5.0]),  # a self-loop has no mask
        },
    )["paper"]
    torch.testing.assert_close(runner.evaluation_logits(), by_hand)


def test_every_mask_of_a_relation_has_a_gradient():
    data = relations(weighted=False)
    edges = edges_of(data)
    model = Relations()
    runner, masks = under(model, torch.ones(5), data["paper"].x, edges.fields()["edge_index"])
    (found,) = torch.autograd.grad(runner.training_logits().pow(2).sum(), [masks])
    assert (found != 0).all()


def test_a_module_of_relations_that_takes_no_notice_of_masks_is_refused():
    class Deaf(Relations):
        def forward(self, x_dict, edge_index_dict, edge_weight_dict=None):
            return super().forward(x_dict, edge_index_dict)

    data = relations(weighted=False)
    with pytest.raises(teddy.InputError, match="the Deaf ignores edge_weight"):
        under(
            Deaf(), torch.ones(5), data["paper"].x,
            edges_of(data).fields()["edge_index"],
        )  # fmt: skip


class ByItself(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = GraphConv(2, 3)

    def forward(self, x, edge_index, batch, edge_weight=None):
        return global_add_pool(self.conv(x, edge_index, edge_weight).tanh(), batch)


#: A path of three nodes and an edge beside it.
EDGES = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
GRAPHS = torch.tensor([0, 0, 0, 1, 1])


@pytest.mark.parametrize("network", [ByItself, lambda: build_model("gin", 2, 3, hidden_channels=8)])
@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])])
def test_masks_of_graphs_remove_their_edges_and_have_gradients(network, weight):
    torch.manual_seed(0)
    model, x = network(), torch.rand(5, 2)
    head, masks = readout_for(model), Masks(model, 3, None)
    edge_of_column = torch.tensor([0, 0, 1, 1, 2, 2])
    named = {"graph_of_node": GRAPHS, **({} if weight is None else {"edge_weight": weight})}
    runner = Runner(model, x, EDGES, named, head=head, masks=masks)
    for graph, edges in ((0, [0, 1]), (1, [2])):
        logits = runner.training_logits()
        (found,) = torch.autograd.grad(logits[graph].pow(2).sum(), [masks.edge_mask])
        assert found.nonzero().flatten().tolist() == edges
    for number in range(2**3):
        keep = torch.tensor([bool(number >> place & 1) for place in range(3)])
        with torch.no_grad():
            masks.edge_mask.copy_(keep)
        columns = keep[edge_of_column]
        own = {} if weight is None else {"edge_weight": weight[columns]}
        if head is None:
            expected = model.eval()(x, EDGES[:, columns], GRAPHS, **own)
        else:
            expected = head(model.eval()(x, EDGES[:, columns], **own), GRAPHS)
        torch.testing.assert_close(runner.evaluation_logits(), expected)
