"""Saved objects that are no graph; test_files.py has the good ones."""

import os

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.data.storage import GlobalStorage

from .small_graphs import message


class Evil:
    def __reduce__(self):
        return (os.mkdir, ("evil-was-here",))


@pytest.mark.parametrize("payload", [Evil(), Data(x=torch.ones(2, 2), note=Evil())])
def test_a_saved_file_runs_no_code(payload, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save(payload, "graph.pt")
    text = message("graph.pt")
    assert text == (
        "graph.pt: damaged or has objects other than tensors, "
        "expected a PyG Data saved with torch.save"
    )
    assert not (tmp_path / "evil-was-here").exists()


@pytest.mark.parametrize("payload", [{"x": torch.ones(2)}, [1], torch.ones(2), GlobalStorage()])
def test_something_else_saved(payload, tmp_path):
    torch.save(payload, tmp_path / "graph.pth")
    expected = f"graph.pth: has a {type(payload).__name__}, expected a PyG Data, or a list"
    assert message(tmp_path / "graph.pth").startswith(expected)
