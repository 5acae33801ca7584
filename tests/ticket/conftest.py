from __future__ import annotations

import pytest

import teddy
from conftest import small_graph


@pytest.fixture
def data():
    return small_graph()


@pytest.fixture
def ticket(data):
    return teddy.find_ticket(data, "gcn", 0.5, 0.6, epochs=5, hidden_channels=8)
