"""Arguments of find_ticket that do not exist."""

from __future__ import annotations

import pytest

import teddy
from conftest import small_graph


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("graph_sparsty", "find_ticket has no argument 'graph_sparsty'.*did you mean 'graph_spars"),
        ("epoch", "find_ticket has no argument 'epoch' .did you mean 'epochs'"),
        ("hidden", "did you mean 'hidden_channels'"),
        ("frobnicate", "gin has no option 'frobnicate'"),
    ],
)
def test_a_misspelt_argument_has_a_hint(argument, message):
    with pytest.raises(teddy.InputError, match=message):
        teddy.find_ticket(small_graph(), "gin", **{argument: 0.5})
