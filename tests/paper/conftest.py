"""A small graph in a file."""

from __future__ import annotations

import pytest

from cli.command import save_npz


@pytest.fixture
def tiny_graph(tmp_path):
    return str(save_npz(tmp_path / "graph.npz"))
