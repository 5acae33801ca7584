"""What the command line says of the layers of your own module."""

from __future__ import annotations

import json

from cli.command import run_here, save_npz

NET = """
from torch import nn
from torch_geometric.nn import GCNConv, SAGEConv


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = GCNConv(12, 8), SAGEConv(8, 3, aggr="max")

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)
"""


def test_find_says_which_layers_are_accelerated(tmp_path):
    save_npz(tmp_path / "graph.npz")
    (tmp_path / "net.py").write_text(NET)
    options = ["--model", "net.py:Net", "--epochs", 2, "--out", "a.ticket"]
    done = run_here("find", "graph.npz", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "Layers on the compiled kernels: first." in text
    assert "As in PyG: last (its aggregation is MaxAggregation, not a sum or a mean)." in text
    done = run_here("find", "graph.npz", *options, "--json", cwd=tmp_path)
    assert json.loads(done.stdout)
    done = run_here("find", "graph.npz", "--epochs", 2, cwd=tmp_path)
    assert "compiled kernels" not in done.stdout
