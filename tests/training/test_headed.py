"""An encoder and a head, trained together."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from conftest import small_graph
from teddy.errors import InputError
from teddy.models import build_model
from teddy.models.headed import Headed
from teddy.models.masked import Masked, check_takes_edge_weights
from teddy.training import FromFunction, TrainConfig, seeded, train
from teddy.training.batches import Batches
from teddy.training.config import resolved
from teddy.training.forward import SharedForward
from teddy.training.passes import HeadedForward, forward_passes
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
    """The same as a module of one's own that predicts nodes: rows beyond the parts are 0."""

    def __init__(self, headed: Headed) -> None:
        super().__init__()
        self.headed = headed

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        logits = self.headed(x, edge_index)
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


def headed(name: str | None, data, **options) -> Headed:
    features = data.x.size(1)
    encoder = Own() if name is None else build_model(name, features, 3, hidden=8, **options)
    return Headed(encoder, Parts(data.num_nodes))


@pytest.mark.parametrize("name", ["gcn", "gin", "nagphormer", None])
def test_passes_are_those_of_the_encoder_then_the_head(data, name):
    model = headed(name, data)
    forward = forward_passes(model, data.x, data.edge_index)
    assert isinstance(forward, HeadedForward)
    with torch.no_grad():
        expected = model.eval()(data.x, data.edge_index)
    assert expected.shape == (PARTS, 3)
    torch.testing.assert_close(forward.evaluation_logits(), expected)
    rows = torch.tensor([4, 1])
    torch.testing.assert_close(forward.evaluation_logits(rows), expected[rows])
    assert forward.training_logits().requires_grad


def test_an_encoder_without_dropout_is_run_once_for_evaluation_and_step(data, monkeypatch):
    model = headed("gin", data)
    forward = forward_passes(model, data.x, data.edge_index)
    assert isinstance(forward.encoded, SharedForward)
    calls = []
    monkeypatch.setattr(type(model.encoder), "stem", _counted(model.encoder.stem, calls))
    forward.evaluation_logits()
    forward.training_logits().sum().backward()
    assert len(calls) == 1
    grads = [p.grad.clone() for p in model.parameters()]
    monkeypatch.undo()
    model.zero_grad()
    model.train()(data.x, data.edge_index).sum().backward()
    for p, grad in zip(model.parameters(), grads, strict=True):
        torch.testing.assert_close(grad, p.grad)


def _counted(function, calls):
    def call(self, *inputs):
        calls.append(1)
        return function(*inputs)

    return call


@pytest.mark.parametrize("name", ["gcn", "unimp", None])
def test_training_is_that_of_a_module_that_does_both(data, name):
    """The same targets as nodes of a module of one's own, which a training knows already."""
    targets = parts_of(data)
    with seeded(0, torch.device("cpu")):
        model = headed(name, data, **({} if name is None else {"dropout": 0.0}))
    config = resolved(TrainConfig(epochs=5, distill_nodes="training"), model.encoder)
    plain = Plain(copy.deepcopy(model))
    teacher = torch.randn(PARTS, 3, generator=torch.Generator().manual_seed(1))
    with seeded(1, torch.device("cpu")):
        result = train(model, targets, config, teacher=teacher, weight_sparsity=0.5, budget=GLOBAL)
    whole = copy.copy(targets)
    rest = data.num_nodes - PARTS
    whole.y = torch.cat([targets.y, torch.full((rest,), -1)])
    for mask in ("train_mask", "val_mask", "test_mask"):
        whole[mask] = torch.cat([targets[mask], torch.zeros(rest, dtype=torch.bool)])
    padded = torch.cat([teacher, teacher.new_zeros(rest, 3)])
    with seeded(1, torch.device("cpu")):
        other = train(plain, whole, config, teacher=padded, weight_sparsity=0.5, budget=GLOBAL)
    torch.testing.assert_close(result.logits, other.logits[:PARTS], atol=1e-4, rtol=1e-4)
    assert (result.best.index, result.test) == (other.best.index, other.test)
    assert result.logits.shape == (PARTS, 3)


@pytest.mark.parametrize("name", ["gcn", None])
def test_masks_are_learned_under_a_head(data, name):
    targets = parts_of(data)
    model = headed(name, data)
    masks = [torch.ones_like(p, dtype=torch.bool) for p in model.parameters()]
    masked = Masked(model.encoder, None if name is None else data.num_edges // 2, masks)
    if name is not None:
        check_takes_edge_weights(model.encoder)
    before = [mask.detach().clone() for mask in masked.masks()]
    train(model.around(masked), targets, TrainConfig(epochs=3, distill_nodes="training"))
    for one, other in zip(before, masked.masks(), strict=True):
        assert not one.equal(other)


def test_an_encoder_has_its_own_settings(data):
    """UniMP's learning rate isn't that of most: a step shows it."""
    targets, before = parts_of(data), headed("unimp", data, dropout=0.0)
    own, given = copy.deepcopy(before), copy.deepcopy(before)
    train(own, targets, TrainConfig(epochs=1))
    train(given, targets, resolved(TrainConfig(epochs=1), before.encoder))
    for one, other in zip(own.parameters(), given.parameters(), strict=True):
        assert one.equal(other)


def test_what_needs_nodes_is_refused(data):
    targets = parts_of(data)
    with pytest.raises(InputError, match="expected no loader for a "):
        train(headed("gcn", data), targets, loader=FromFunction(lambda graph: [graph]))
    with pytest.raises(InputError, match="expected a batch of 0"):
        Batches(headed("nagphormer", data, batch=4), None, PARTS)
    with pytest.raises(InputError, match="classes are an input of this model"):
        train(headed("unimp", data, label_rate=0.5), targets, TrainConfig(epochs=1))
    with pytest.raises(InputError, match="the head keeps 'weight', expected one without weights"):
        Headed(nn.Identity(), nn.Linear(1, 1, bias=False))
