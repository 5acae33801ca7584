"""Modules whose result is more than their weights, and searches without gradients around."""

from __future__ import annotations

import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import GCNConv

import teddy
from conftest import small_graph
from teddy.errors import TeddyWarning
from teddy.models.inputs import warn_of_casts
from teddy.training import TrainConfig, train


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = GCNConv(12, 3)

    def forward(self, x, edge_index):
        return self.conv(x, edge_index)


class Annealed(Plain):
    """A Python attribute decides on the result, and training changes it."""

    def __init__(self):
        super().__init__()
        self.tau = 1.0

    def forward(self, x, edge_index):
        if self.training:
            self.tau += 1.0
        sign = 1.0 if self.tau < 12 else -1.0
        return self.conv(sign * x, edge_index)


class Persistent(Plain):
    def __init__(self):
        super().__init__()
        self.register_buffer("tau", torch.ones(()))

    def forward(self, x, edge_index):
        if self.training:
            self.tau += 1.0
        return self.conv(x * self.tau, edge_index)


class Counting(Plain):
    """Changes itself in evaluation mode, too."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x, edge_index):
        self.calls += 1
        return self.conv(x, edge_index) + 0.2 * self.calls * x[:, :3]


class RandomDropout(Plain):
    def forward(self, x, edge_index):
        return self.conv(F.dropout(x, 0.5), edge_index)


def found(run):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = run()
    return result, [str(w.message) for w in seen if issubclass(w.category, TeddyWarning)]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Annealed, "a Annealed is not determined by its state_dict"),
        (Counting, "a Counting is not determined by its state_dict"),
        (RandomDropout, "a RandomDropout is random in evaluation mode"),
        (Plain, None),
        (Persistent, None),
    ],
)
def test_a_result_that_does_not_follow_from_the_state_dict_is_named(kind, message):
    torch.manual_seed(0)
    model, config = kind(), TrainConfig(epochs=12, lr=0.05)
    _, messages = found(lambda: train(model, small_graph(), config))
    assert len(messages) == (message is not None)
    assert not messages or (messages[0].startswith(message) and "\n" not in messages[0])


def test_the_check_leaves_random_numbers_and_weights_alone():
    torch.manual_seed(0)
    model, config = RandomDropout(), TrainConfig(epochs=3)
    with pytest.warns(TeddyWarning, match="random in evaluation mode"):
        train(model, small_graph(), config)
    drawn = torch.rand(1)
    torch.manual_seed(0)
    model = RandomDropout()
    data = small_graph()
    for _ in range(3 * 2 + 3):  # two passes an epoch; tests before and after, and the logits
        model(data.x, data.edge_index)
    assert torch.equal(drawn, torch.rand(1))


def test_a_state_of_non_tensors_raises_a_clear_message():
    class Extra(Plain):
        def get_extra_state(self):
            return {"step": 1}

        def set_extra_state(self, state):
            pass

    expected = "the model's state has a dict '_extra_state', expected tensors only"
    with pytest.raises(teddy.InputError, match=expected):
        teddy.find_ticket(small_graph(), Extra, epochs=1)
    with pytest.raises(teddy.InputError, match=expected):
        train(Extra(), small_graph())


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("model", ["gcn", Plain])
def test_a_search_works_where_gradients_are_off(mode, model):
    data = small_graph()
    expected = teddy.find_ticket(data, model, epochs=3)
    with mode():
        ticket = teddy.find_ticket(data, model, epochs=3)
        logits = ticket.logits(data)
        assert ticket.predict(data).shape == data.y.shape
        torch.testing.assert_close(ticket.compile(data)(), logits)
        made_here = data.clone()
        made_here.x = data.x.clone()  # an inference tensor, in inference mode
        again = teddy.find_ticket(made_here, model, epochs=3).logits(data)
        torch.testing.assert_close(again, logits, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(expected.logits(data), logits, rtol=1e-4, atol=1e-5)


class Timed(Plain):
    def forward(self, x, edge_index, t):
        return self.conv(x * t.view(-1, 1).sin(), edge_index)


@pytest.mark.parametrize(("offset", "warned"), [(1.7e9, True), (0.0, False)])
def test_timestamps_that_a_cast_rounds_are_named(offset, warned):
    data = small_graph()
    data.t = torch.linspace(0, 1000, data.num_nodes, dtype=torch.float64) + offset
    ticket, messages = found(lambda: teddy.find_ticket(data, Timed, epochs=2))
    assert len([m for m in messages if m.startswith("t is float64 and loses")]) == warned
    sparse = ticket.apply(data)
    assert sparse.t.dtype == torch.float32
    ticket.model.eval()
    by_pyg = ticket.model(sparse.x, sparse.edge_index, sparse.t)
    torch.testing.assert_close(by_pyg, ticket.logits(data), rtol=1e-5, atol=1e-6)
    assert torch.equal(ticket.logits(sparse), ticket.logits(data))


def test_a_missing_timestamp_hides_nothing_and_plain_doubles_are_silent():
    times = torch.linspace(0, 1000, 5000, dtype=torch.float64) + 1.7e9
    times[0] = 0
    generator = torch.Generator().manual_seed(0)
    plain = torch.rand(200_000, generator=generator, dtype=torch.float64)
    with pytest.warns(TeddyWarning, match="t is float64") as seen:
        warn_of_casts({"t": times, "plain": plain, "one": plain[:1]}, torch.float32)
    assert len(seen) == 1
