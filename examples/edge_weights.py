"""Edges with weights: the model weighs messages by them, and the score its degrees."""

import torch
from torch_geometric.data import Data

import teddy

# Two groups of people. Who meets whom is chance; how often says who belongs together.
torch.manual_seed(0)
N = 200
y = torch.arange(N) % 2
edge_index = torch.randint(N, (2, 2000))
together = y[edge_index[0]] == y[edge_index[1]]
often = torch.where(together, 5.0, 0.2)  # both directions alike: an edge has one weight
data = Data(
    x=torch.randn(N, 8) + 0.25 * y[:, None],  # next to nothing can be seen of a person alone
    edge_index=edge_index,
    edge_weight=often,
    y=y,
    train_mask=torch.arange(N) < 60,
    val_mask=(torch.arange(N) >= 60) & (torch.arange(N) < 120),
    test_mask=torch.arange(N) >= 120,
)

settings = {"model": "gcn", "graph_sparsity": 0.3, "weight_sparsity": 0.5, "epochs": 60}
weighted = teddy.find_ticket(data, **settings, hidden_channels=16)
# The same with weighted degrees in the score: deg(v) is the sum of the weights at v.
by_degree = teddy.find_ticket(data, **settings, hidden_channels=16, weighted=True)

unweighted = data.clone()
del unweighted.edge_weight
plain = teddy.find_ticket(unweighted, **settings, hidden_channels=16)

print(f"with weights            {weighted.info.ticket.test:.1f}%")
print(f"and by weighted degrees {by_degree.info.ticket.test:.1f}%")
print(f"without weights         {plain.info.ticket.test:.1f}%")

# On its own, as a transform; what belongs to edges goes along.
sparse = teddy.SparsifyEdges(0.3, weighted=True)(data)
print(f"{data.num_edges} columns, {sparse.num_edges} left, {sparse.edge_weight.shape[0]} weights")
