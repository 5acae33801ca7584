"""Edges with attributes: a module whose forward names ``edge_attr`` is given it."""

import torch
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, Linear

import teddy

# Friends are alike and foes are not; edge_attr says who is which.
torch.manual_seed(0)
N = 200
y = torch.arange(N) % 2
edge_index = torch.randint(N, (2, 1200))
friends = y[edge_index[0]] == y[edge_index[1]]
data = Data(
    x=torch.randn(N, 8) + 0.4 * y[:, None],
    edge_index=edge_index,
    edge_attr=torch.stack([friends, ~friends], dim=1).float(),
    y=y,
    train_mask=torch.arange(N) < 80,
    val_mask=(torch.arange(N) >= 80) & (torch.arange(N) < 130),
    test_mask=torch.arange(N) >= 130,
)


class Relations(torch.nn.Module):
    """Takes attributes where there are some."""

    def __init__(self):
        super().__init__()
        self.embed = Linear(8, 16)
        self.relate = GINEConv(torch.nn.Sequential(Linear(16, 16)), edge_dim=2)
        self.classify = Linear(16, 2)

    def forward(self, x, edge_index, edge_attr=None):
        if edge_attr is None:
            edge_attr = x.new_zeros(edge_index.size(1), 2)
        return self.classify(self.relate(self.embed(x), edge_index, edge_attr).relu())


settings = {"graph_sparsity": 0.3, "weight_sparsity": 0.3, "epochs": 80}
ticket = teddy.find_ticket(data, Relations, **settings)  # the class makes one for each seed

unknown = data.clone()
del unknown.edge_attr
blind = teddy.find_ticket(unknown, Relations, **settings)

known, not_known = ticket.info.ticket.test, blind.info.ticket.test
print(f"knows friends from foes: {known:.1f}%, does not: {not_known:.1f}%")
edges = ticket.info.edges
print(f"edges kept: {edges.kept} of {edges.total}, their attributes with them")
