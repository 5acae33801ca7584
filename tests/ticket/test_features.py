"""Features reach a ticket's network as it has learned them, or not at all."""

from __future__ import annotations

import pytest
import torch

import teddy
from conftest import small_graph

NAMES = [f"f{i}" for i in range(12)]
ORDER = torch.tensor([3, 1, 0, 2, 11, 10, 9, 8, 4, 5, 6, 7])


def named(x=None, names=NAMES):
    data = small_graph()
    data.x = data.x if x is None else x
    data.feature_names = list(names)
    return data


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    ticket = teddy.find_ticket(named(), "gcn", 0.5, 0.6, epochs=5, hidden_channels=8)
    path = tmp_path_factory.mktemp("found") / "a.ticket"
    ticket.save(path)
    return teddy.Ticket.load(path)


@pytest.mark.parametrize("layout", ["dense", "CSR"])
def test_columns_are_found_by_their_names(layout, found):
    expected = found.logits(small_graph())
    x = small_graph().x[:, ORDER]
    data = named(x.to_sparse_csr() if layout == "CSR" else x, [NAMES[i] for i in ORDER])
    assert found.info.features == NAMES
    torch.testing.assert_close(found.logits(data), expected)
    assert found.evaluate(data) == found.evaluate(small_graph())
    compiled = found.compile(data)
    torch.testing.assert_close(compiled(), expected)
    torch.testing.assert_close(compiled(data.x), expected)  # as it was compiled


def test_other_columns_are_refused(found):
    for x, names, problem in (
        (None, ["z", *NAMES[1:]], "missing 'f0', new 'z'"),
        (small_graph().x[:, 1:], NAMES[1:], "missing 'f0'"),
    ):
        for use in (found.predict, found.compile):
            with pytest.raises(
                teddy.InputError, match=f"differ from those of training: {problem}$"
            ):
                use(named(x, names))


def test_without_names_columns_are_taken_as_they_come(found, ticket, data):
    unnamed = small_graph()
    unnamed.x = unnamed.x[:, ORDER]
    assert not torch.equal(found.logits(unnamed), found.logits(small_graph()))
    assert ticket.info.features is None
    renamed = named(names=[f"other {i}" for i in range(12)])
    assert torch.equal(ticket.logits(renamed), ticket.logits(data))
    with pytest.raises(teddy.InputError, match="expects 12 features, got 11"):
        ticket.predict(named(data.x[:, 1:], NAMES))


def test_names_of_other_columns_are_not_recorded(data):
    """As a transform leaves them."""
    data.feature_names = NAMES[:5]
    assert (
        teddy.find_ticket(data, "gcn", 0.5, 0.6, epochs=1, hidden_channels=4).info.features is None
    )


@pytest.mark.parametrize("nodes", [39, 41])
def test_there_is_a_row_for_each_node(nodes, ticket, data):
    changed = data.clone()
    changed.x, changed.num_nodes = torch.ones(nodes, 12), 40
    for use in (ticket.predict, ticket.compile, ticket.transfer(changed, "none").logits):
        with pytest.raises(teddy.InputError, match=rf"x has {nodes} rows, expected 40 \(num_n"):
            use(changed)
