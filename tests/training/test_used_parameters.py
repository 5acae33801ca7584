"""Parameters that never reach a model's output."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, Linear

from conftest import small_graph
from teddy.errors import InputError
from teddy.models import GCN
from teddy.training.module_checks import unused_text, used_parameters
from teddy.training.runner import Runner


class TwoHeads(nn.Module):
    """A body with BatchNorm and dropout, a head, one that is never called, a frozen layer."""

    def __init__(self, lazy=False):
        super().__init__()
        self.body, self.norm = GCNConv(12, 8), nn.BatchNorm1d(8)
        self.head, self.second = GCNConv(8, 3), nn.Linear(8, 5)
        self.frozen = nn.Linear(8, 8).requires_grad_(False)
        self.lazy = Linear(-1, 2) if lazy else nn.Identity()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x, edge_index):
        h = self.norm(self.body(x, edge_index))
        h = nn.functional.dropout(self.frozen(h), 0.5, self.training)
        return self.head(h, edge_index)


class SkipsLayers(nn.Module):
    """Stochastic depth: a layer is left out at random in training."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([GCNConv(12, 12) for _ in range(4)])

    def forward(self, x, edge_index):
        for conv in self.convs:
            if not self.training or torch.rand(()) < 0.5:
                x = x + conv(x, edge_index)
        return x


def used(model):
    data = small_graph()
    return used_parameters(Runner(model, data.x, data.edge_index))


def test_a_head_that_is_never_called_is_not_used():
    model = TwoHeads()
    names = [name for name, _ in used(model)]
    assert names == [
        "body.bias", "body.lin.weight", "norm.weight", "norm.bias", "head.bias", "head.lin.weight",
    ]  # fmt: skip
    assert unused_text(model, used(model)) == (
        "parameters of scale, second never reach the output and are not counted"
    )
    assert all(value is dict(model.named_parameters())[name] for name, value in used(model))


def test_a_lazy_head_that_is_never_called_raises_a_clear_message():
    with pytest.raises(InputError, match=r"'lazy\.weight' of a TwoHeads is lazy and never used"):
        used(TwoHeads(lazy=True))


def test_a_layer_that_is_skipped_at_random_is_used():
    model = SkipsLayers()
    assert [name for name, _ in used(model)] == [name for name, _ in model.named_parameters()]
    assert unused_text(model, used(model)) is None


def test_nothing_is_changed():
    model = TwoHeads()
    model.norm.eval()
    data = small_graph()
    runner = Runner(model, data.x, data.edge_index)
    before, numbers = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    modes = [module.training for module in model.modules()]
    used_parameters(runner)
    assert torch.equal(torch.get_rng_state(), numbers)
    assert [module.training for module in model.modules()] == modes
    assert all(p.grad is None for p in model.parameters())
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_built_in_models_cost_no_pass():
    class Never(Runner):
        def training_logits(self, nodes=None):
            raise AssertionError

    model, data = GCN(12, 3), small_graph()
    for head in (None, nn.Identity()):
        runner = Never(model, data.x, data.edge_index, head=head)
        assert len(used_parameters(runner)) == len(list(model.parameters()))
