"""Edge attributes: a module whose forward names ``edge_attr`` gets them."""

import torch
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv, Linear

import teddy

# Friends have the same class, foes do not; edge_attr tells friends from foes.
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
    """A GINE layer that runs with and without edge attributes."""

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
ticket = teddy.find_ticket(data, Relations, **settings)  # a new module for each seed

without = data.clone()
del without.edge_attr
blind = teddy.find_ticket(without, Relations, **settings)

print(f"with attributes    {ticket.info.ticket.test:.1f}%")
print(f"without attributes {blind.info.ticket.test:.1f}%")
print(f"{ticket.info.edges.kept} of {ticket.info.edges.total} edges kept, with their attributes")
