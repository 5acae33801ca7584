"""Forward passes of networks, with heads and masks beside them."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from conftest import small_graph
from teddy.errors import InputError
from teddy.models import build_model
from teddy.models.masks import Masks, check_takes_edge_weights
from teddy.training import FunctionLoader, TrainConfig, seeded, train
from teddy.training.adapters import BuiltInAdapter, ModuleAdapter
from teddy.training.config import with_model_defaults
from teddy.training.runner import Runner
from teddy.training.steps import NodeBatches
from teddy.weights import WeightBudget
from training.modules import Own

GLOBAL = WeightBudget(scope="global")
PARTS = 7


class Parts(nn.Module):
    """Sums of some nodes each: as many rows as there are parts."""

    def __init__(self, num_nodes: int) -> None:
        super().__init__()
        self.register_buffer("part", torch.arange(num_nodes) % PARTS, persistent=False)

    def forward(self, outputs: Tensor) -> Tensor:
        return outputs.new_zeros(PARTS, outputs.size(1)).index_add(0, self.part, outputs)


class Plain(nn.Module):
    """The same as your own module that predicts nodes: rows beyond the parts are 0."""

    def __init__(self, encoder: nn.Module, head: nn.Module) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        logits = self.head(self.encoder(x, edge_index))
        return torch.cat([logits, logits.new_zeros(x.size(0) - PARTS, logits.size(1))])


def parts_of(data):
    """The graph with targets of parts."""
    data = copy.copy(data)
    data.y = torch.tensor([0, 1, 2, 0, 1, 2, 0])
    for place, name in enumerate(("train_mask", "val_mask", "test_mask")):
        data[name] = torch.tensor([0, 0, 0, 1, 1, 2, 2]) == place
    return data


@pytest.fixture(scope="module")
def data():
    return small_graph()


@pytest.fixture(scope="module")
def head(data):
    return Parts(data.num_nodes)


def encoder_of(name: str | None, data, **options) -> nn.Module:
    return (
        Own()
        if name is None
        else build_model(name, data.x.size(1), 3, hidden_channels=8, **options)
    )


@pytest.mark.parametrize("name", ["gcn", "gin", "nagphormer", None])
def test_passes_are_those_of_the_encoder_then_the_head(data, head, name):
    encoder = encoder_of(name, data)
    runner = Runner(encoder, data.x, data.edge_index, head=head)
    assert isinstance(runner.adapter, ModuleAdapter if name is None else BuiltInAdapter)
    with torch.no_grad():
        expected = head(encoder.eval()(data.x, data.edge_index))
    assert expected.shape == (PARTS, 3)
    torch.testing.assert_close(runner.evaluation_logits(), expected)
    rows = torch.tensor([4, 1])
    torch.testing.assert_close(runner.evaluation_logits(rows), expected[rows])
    logits = runner.training_logits()
    assert logits.requires_grad
    assert not runner.evaluation_logits().requires_grad


@pytest.mark.parametrize("name", ["gcn", "gin", "nagphormer", None])
def test_logits_of_some_nodes_are_rows_of_those_of_all(data, name):
    options = {} if name is None else {"dropout": 0.0}
    runner = Runner(encoder_of(name, data, **options), data.x, data.edge_index)
    nodes = torch.tensor([4, 1, 30])
    torch.testing.assert_close(
        runner.evaluation_logits(nodes), runner.evaluation_logits()[nodes], rtol=1e-4, atol=1e-5
    )
    assert runner.training_logits(nodes).shape == (3, 3)
    if name is not None:
        torch.testing.assert_close(
            runner.training_logits(nodes), runner.training_logits()[nodes], rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize("masked", [False, True])
def test_an_encoder_without_dropout_is_run_once_for_evaluation_and_step(
    data, head, masked, monkeypatch
):
    encoder = encoder_of("gin", data)
    masks = Masks(encoder, None, None) if masked else None
    runner = Runner(encoder, data.x, data.edge_index, head=head, masks=masks)
    calls = []
    monkeypatch.setattr(type(encoder), "stem", _counted(encoder.stem, calls))
    runner.evaluation_logits()
    runner.training_logits().sum().backward()
    assert len(calls) == 1
    grads = [p.grad.clone() for p in encoder.parameters()]
    monkeypatch.undo()
    encoder.zero_grad()
    head(encoder.train()(data.x, data.edge_index)).sum().backward()
    for p, grad in zip(encoder.parameters(), grads, strict=True):
        torch.testing.assert_close(grad, p.grad)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_an_evaluation_without_gradients_is_not_learned_from(data, dropout):
    runner = Runner(encoder_of("gcn", data, dropout=dropout), data.x, data.edge_index)
    with torch.no_grad():
        runner.evaluation_logits()
    runner.training_logits().sum().backward()
    assert all(p.grad is not None for p in runner.network.parameters())


def _counted(function, calls):
    def call(self, *inputs):
        calls.append(1)
        return function(*inputs)

    return call


@pytest.mark.parametrize("name", ["gcn", "unimp", None])
def test_training_is_that_of_a_module_that_does_both(data, head, name):
    """The same targets as nodes of your own module, which training supports already."""
    targets = parts_of(data)
    with seeded(0, torch.device("cpu")):
        encoder = encoder_of(name, data, **({} if name is None else {"dropout": 0.0}))
    config = with_model_defaults(TrainConfig(epochs=5, distill_nodes="training"), encoder)
    plain = Plain(copy.deepcopy(encoder), head)
    teacher = torch.randn(PARTS, 3, generator=torch.Generator().manual_seed(1))
    sparse = {"weight_sparsity": 0.5, "budget": GLOBAL}
    with seeded(1, torch.device("cpu")):
        result = train(encoder, targets, config, head=head, teacher=teacher, **sparse)
    whole = copy.copy(targets)
    rest = data.num_nodes - PARTS
    whole.y = torch.cat([targets.y, torch.full((rest,), -1)])
    for mask in ("train_mask", "val_mask", "test_mask"):
        whole[mask] = torch.cat([targets[mask], torch.zeros(rest, dtype=torch.bool)])
    padded = torch.cat([teacher, teacher.new_zeros(rest, 3)])
    with seeded(1, torch.device("cpu")):
        other = train(plain, whole, config, teacher=padded, **sparse)
    torch.testing.assert_close(result.logits, other.logits[:PARTS], atol=1e-4, rtol=1e-4)
    assert (result.best.index, result.test) == (other.best.index, other.test)
    assert result.logits.shape == (PARTS, 3)


@pytest.mark.parametrize("name", ["gcn", None])
def test_masks_are_learned_under_a_head(data, head, name):
    targets, encoder = parts_of(data), encoder_of(name, data)
    stays = [torch.ones_like(p, dtype=torch.bool) for p in encoder.parameters()]
    masks = Masks(encoder, None if name is None else data.num_edges // 2, stays)
    if name is not None:
        check_takes_edge_weights(encoder)
    before = [mask.detach().clone() for mask in masks.parameters()]
    config = TrainConfig(epochs=3, distill_nodes="training")
    train(encoder, targets, config, head=head, masks=masks)
    for one, other in zip(before, masks.parameters(), strict=True):
        assert not one.equal(other)


def test_an_encoder_has_its_own_settings(data, head):
    """UniMP's learning rate isn't that of most: a step shows it."""
    targets, before = parts_of(data), encoder_of("unimp", data, dropout=0.0)
    own, given = copy.deepcopy(before), copy.deepcopy(before)
    train(own, targets, TrainConfig(epochs=1), head=head)
    train(given, targets, with_model_defaults(TrainConfig(epochs=1), before), head=head)
    for one, other in zip(own.parameters(), given.parameters(), strict=True):
        assert one.equal(other)


def test_settings_that_need_nodes_are_refused(data, head):
    targets, short = parts_of(data), TrainConfig(epochs=1)
    loader = FunctionLoader(lambda graph: [graph])
    with pytest.raises(InputError, match="does not support mini-batches"):
        train(encoder_of("gcn", data), targets, loader=loader, head=head)
    with pytest.raises(InputError, match="expected batch=0"):
        NodeBatches(encoder_of("nagphormer", data, batch=4), None, PARTS, head=head)
    with pytest.raises(InputError, match="label_rate above 0 needs node classes"):
        train(encoder_of("unimp", data, label_rate=0.5), targets, short, head=head)
    with pytest.raises(InputError, match="the head stores 'weight', expected a head"):
        Runner(Own(), data.x, data.edge_index, head=nn.Linear(1, 1, bias=False))
