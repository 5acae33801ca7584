"""A module that isn't ours."""

from torch import nn
from torch_geometric.nn import GCNConv


class Own(nn.Module):
    """Module of a PyG user, with random numbers and its own state."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = GCNConv(12, 8), nn.BatchNorm1d(8), GCNConv(8, 3)

    def forward(self, x, edge_index):
        h = nn.functional.dropout(self.norm(self.first(x, edge_index)).relu(), 0.5, self.training)
        return self.last(h, edge_index)
