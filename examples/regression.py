"""Node regression: squared error, R2, predictions in the scale of ``y``."""

import torch
from torch_geometric.data import Data
from torch_geometric.utils import scatter, to_undirected

import teddy

# The price of a house depends on its features and those of its neighbours.
torch.manual_seed(0)
N = 300
x = torch.rand(N, 6)
edge_index = to_undirected(torch.randint(N, (2, 450)))
around = scatter(x[edge_index[0], 0], edge_index[1], dim_size=N, reduce="mean")
price = 200_000 + 150_000 * x[:, 1] + 100_000 * around + 5_000 * torch.randn(N)
nodes = torch.arange(N)
data = Data(
    x=x,
    edge_index=edge_index,
    y=price,  # [N], or [N, D] for several numbers; nan: unknown
    train_mask=nodes < 150,
    val_mask=(nodes >= 150) & (nodes < 200),
    test_mask=nodes >= 200,
)

ticket = teddy.find_ticket(
    data,
    "sage",
    graph_sparsity=0.3,
    weight_sparsity=0.5,
    epochs=150,
    hidden_channels=16,
    task="regression",
)
print(f"R2: dense {ticket.info.dense.test:.1f}%, ticket {ticket.info.ticket.test:.1f}%")
predicted = ticket.predict(data)  # in the scale of y; the model learns standardised numbers
for node in (200, 201, 202):
    print(f"node {node}: {price[node]:,.0f}, predicted {predicted[node]:,.0f}")
