"""A model for the tables in this folder: papers, their authors and venues."""

import torch
from torch import nn
from torch_geometric.nn import HeteroConv, SAGEConv


class Net(nn.Module):
    """Two layers over all relations, with embeddings for venues, which have no features."""

    def __init__(self, data, hidden=16):
        super().__init__()
        self.venue = nn.Embedding(data["venue"].num_nodes, hidden)
        self.first, self.last = (
            HeteroConv({kind: SAGEConv((-1, -1), width) for kind in data.edge_types})
            for width in (hidden, 3)
        )

    def forward(self, x_dict, edge_index_dict):
        """Return logits by node type."""
        x_dict = {**x_dict, "venue": self.venue.weight}
        hidden = {name: torch.relu(x) for name, x in self.first(x_dict, edge_index_dict).items()}
        return self.last(hidden, edge_index_dict)
