"""What is special about UniMP: labels as an input, the gate, lone nodes."""

from __future__ import annotations

import pytest
import torch

import teddy
from conftest import small_graph
from teddy.models import build_model
from teddy.training import TrainConfig, seeded, train


def with_labels(data, rate=0.5, **options):
    torch.manual_seed(0)
    model = build_model(
        f"unimp:label_rate={rate}", data.x.size(1), 3, hidden_channels=4, heads=2, **options
    )
    model.learn_labels(data.y, data.train_mask.nonzero().flatten())
    return model


def test_labels_are_added_to_the_features_they_belong_to():
    data = small_graph()
    model = with_labels(data).eval()
    plain = build_model("unimp", data.x.size(1), 3, hidden_channels=4, heads=2).eval()
    state = {k: v for k, v in model.state_dict().items() if k != "labels"}
    plain.load_state_dict(state)
    nodes = data.train_mask.nonzero().flatten()
    shown = data.x.clone()
    shown[nodes] += model.labels.detach()[data.y[nodes]]
    for x in (data.x, data.x.to_sparse_csr()):
        torch.testing.assert_close(
            model(x, data.edge_index), plain(shown, data.edge_index), rtol=1e-4, atol=1e-5
        )


def test_in_training_some_labels_are_shown_and_the_others_predicted():
    data = small_graph()
    nodes = data.train_mask.nonzero().flatten()
    model = with_labels(data, 0.5, dropout=0.0).train()
    assert not model.deterministic
    counts = []
    for _ in range(200):
        model(data.x, data.edge_index)
        hidden = model.to_predict
        assert set(hidden.tolist()) <= set(nodes.tolist())
        counts.append(hidden.numel())
    assert 1 <= min(counts) < max(counts) <= nodes.numel()
    assert sum(counts) / 200 == pytest.approx(0.5 * nodes.numel(), abs=1)
    # The label of a node that is to be predicted isn't among the inputs.
    state = torch.get_rng_state()
    before = model(data.x, data.edge_index)
    predicted = model.to_predict
    model.learn_labels(torch.where(torch.isin(torch.arange(40), predicted), (data.y + 1) % 3,
                                   data.y), nodes)  # fmt: skip
    torch.set_rng_state(state)
    assert torch.equal(model(data.x, data.edge_index), before)


def test_the_loss_is_that_of_the_nodes_to_predict():
    data = small_graph()
    config = TrainConfig(epochs=1)
    with seeded(0):
        model = build_model("unimp:label_rate=0.9", 12, 3, hidden_channels=4, dropout=0.0)
        state = {name: value.clone() for name, value in model.state_dict().items()}
        start = torch.get_rng_state()
        result = train(model, data, config)
        again = build_model("unimp:label_rate=0.9", 12, 3, hidden_channels=4, dropout=0.0)
        again.load_state_dict(state)
        again.learn_labels(data.y, data.train_mask.nonzero().flatten())
        torch.set_rng_state(start)
        logits = again.train()(data.x, data.edge_index)
    nodes = again.to_predict
    expected = torch.nn.functional.cross_entropy(logits[nodes], data.y[nodes])
    assert result.history[0].loss == pytest.approx(float(expected.detach()), rel=1e-5)


def test_a_ticket_takes_the_labels_along(tmp_path):
    data = small_graph()
    ticket = teddy.find_ticket(data, "unimp:label_rate=0.6", 0.3, 0.3, epochs=3, hidden_channels=4)
    ticket.save(tmp_path / "t.ticket")
    again = teddy.Ticket.load(tmp_path / "t.ticket")
    assert again.model.known_nodes.tolist() == data.train_mask.nonzero().flatten().tolist()
    assert torch.equal(again.logits(data), ticket.logits(data))


def test_a_node_without_edges_has_its_residual_only():
    data = small_graph()
    model = build_model("unimp:gated=false", 12, 3, hidden_channels=4, heads=2, num_layers=1).eval()
    width = model.queries[0].size(1)
    expected = data.x @ model.skips[0] + model.biases[0][2 * width :]
    torch.testing.assert_close(model(data.x, torch.empty(2, 0, dtype=torch.long)), expected)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("unimp:label_rate=1", "label_rate is 1.0, expected 0 or more and below 1"),
        ("unimp:gated=maybe", "option 'gated' of unimp is 'maybe', expected true or false"),
        ("unimp:hops=3", "unimp has no option 'hops', expected one of: hidden"),
        ("unimpp", "unknown model 'unimpp'"),
    ],
)
def test_bad_options_raise_a_clear_message(word, message):
    with pytest.raises(teddy.InputError, match=message):
        build_model(word, 3, 2)
