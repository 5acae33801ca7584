"""Masks of edges and weights in modules of graphs and of several node types."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.data import HeteroData
from torch_geometric.nn import GraphConv, HeteroConv, global_add_pool

import teddy
from hetero_graphs import CITES, REV, WRITES
from teddy.edges import HeteroArcs
from teddy.models import build_model
from teddy.models.graph_head import of_graphs
from teddy.models.hetero import HeteroModel
from teddy.models.masked import Masked
from teddy.training.passes import forward_passes


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


def arcs_of(data: HeteroData) -> HeteroArcs:
    return HeteroArcs.of_hetero(data, "paper", ["edge_weight"] if "edge_weight" in data else [])


def under(model, values, x, edge_index, **named):
    """The forward passes with these masks, and the masks."""
    masked = Masked(model, values.numel(), None)
    with torch.no_grad():
        masked.edge_mask.copy_(values)
    return forward_passes(masked, x, edge_index, **named), masked.edge_mask


@pytest.mark.parametrize("weighted", [False, True])
def test_a_mask_of_0_removes_an_edge_of_a_relation_and_its_reverse(weighted):
    data = relations(weighted)
    arcs, x = arcs_of(data), data["paper"].x
    model = HeteroModel(Relations(), "paper")
    assert arcs.graph.num_edges == 5
    for number in range(2**5):
        keep = torch.tensor([bool(number >> place & 1) for place in range(5)])
        forward, _ = under(model, keep.float(), x, arcs.fields()["edge_index"])
        expected = model(x, arcs.fields(keep)["edge_index"])
        torch.testing.assert_close(forward.evaluation_logits(), expected)


def test_masks_multiply_the_weights_that_edges_have():
    data = relations(weighted=True)
    x, model = data["paper"].x, HeteroModel(Relations(), "paper")
    masks = torch.tensor([0.5, 2.0, 1.5, 3.0, 0.25])  # three of writes, two of cites
    forward, _ = under(model, masks, x, arcs_of(data).fields()["edge_index"])
    by_hand = model.module(
        data.x_dict,
        data.edge_index_dict,
        {
            WRITES: torch.tensor([0.5, 2.0, 1.5]),
            REV: torch.tensor([1.5, 2.0, 0.5]),
            CITES: torch.tensor([2.0 * 3.0, 3.0 * 0.25, 5.0]),  # a self-loop has no mask
        },
    )["paper"]
    torch.testing.assert_close(forward.evaluation_logits(), by_hand)


def test_every_mask_of_a_relation_has_a_gradient():
    data = relations(weighted=False)
    arcs = arcs_of(data)
    model = HeteroModel(Relations(), "paper")
    forward, masks = under(model, torch.ones(5), data["paper"].x, arcs.fields()["edge_index"])
    (found,) = torch.autograd.grad(forward.training_logits().pow(2).sum(), [masks])
    assert (found != 0).all()


def test_a_module_of_relations_that_takes_no_notice_of_masks_is_refused():
    class Deaf(Relations):
        def forward(self, x_dict, edge_index_dict, edge_weight_dict=None):
            return super().forward(x_dict, edge_index_dict)

    data = relations(weighted=False)
    with pytest.raises(teddy.InputError, match="the Deaf takes no notice of edge_weight"):
        under(
            HeteroModel(Deaf(), "paper"), torch.ones(5), data["paper"].x,
            arcs_of(data).fields()["edge_index"],
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


@pytest.mark.parametrize("network", [ByItself, lambda: build_model("gin", 2, 3, hidden=8)])
@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])])
def test_masks_of_graphs_remove_their_edges_and_have_gradients(network, weight):
    torch.manual_seed(0)
    model, x = of_graphs(network()), torch.rand(5, 2)
    model.eval()
    edge_of_column = torch.tensor([0, 0, 1, 1, 2, 2])
    around = model.around if hasattr(model, "around") else lambda masked: masked
    encoder = model.encoder if hasattr(model, "encoder") else model
    masked = Masked(encoder, 3, None)
    named = {"graph_of_node": GRAPHS, **({} if weight is None else {"edge_weight": weight})}
    forward = forward_passes(around(masked), x, EDGES, **named)
    for graph, masks in ((0, [0, 1]), (1, [2])):
        logits = forward.training_logits()
        (found,) = torch.autograd.grad(logits[graph].pow(2).sum(), [masked.edge_mask])
        assert found.nonzero().flatten().tolist() == masks
    for number in range(2**3):
        keep = torch.tensor([bool(number >> place & 1) for place in range(3)])
        with torch.no_grad():
            masked.edge_mask.copy_(keep)
        columns = keep[edge_of_column]
        own = {} if weight is None else {"edge_weight": weight[columns]}
        expected = model(x, EDGES[:, columns], graph_of_node=GRAPHS, **own)
        torch.testing.assert_close(forward.evaluation_logits(), expected)
