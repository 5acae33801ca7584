"""Edge weights in the messages of the model, and in the degrees of the score."""

import torch
from torch_geometric.data import Data

import teddy

# Two groups of people: meetings are random, but members of one group meet more often.
torch.manual_seed(0)
N = 200
y = torch.arange(N) % 2
edge_index = torch.randint(N, (2, 2000))
together = y[edge_index[0]] == y[edge_index[1]]
often = torch.where(together, 5.0, 0.2)  # the same in both directions
data = Data(
    x=torch.randn(N, 8) + 0.25 * y[:, None],  # weak features
    edge_index=edge_index,
    edge_weight=often,
    y=y,
    train_mask=torch.arange(N) < 60,
    val_mask=(torch.arange(N) >= 60) & (torch.arange(N) < 120),
    test_mask=torch.arange(N) >= 120,
)

settings = {"model": "gcn", "graph_sparsity": 0.3, "weight_sparsity": 0.5, "epochs": 60}
weighted = teddy.find_ticket(data, **settings, hidden_channels=16)
# With weighted degrees in the score: deg(v) is the sum of the weights at v.
by_degree = teddy.find_ticket(data, **settings, hidden_channels=16, weighted=True)

unweighted = data.clone()
del unweighted.edge_weight
plain = teddy.find_ticket(unweighted, **settings, hidden_channels=16)

print(f"edge weights                       {weighted.info.ticket.test:.1f}%")
print(f"edge weights and weighted degrees  {by_degree.info.ticket.test:.1f}%")
print(f"no edge weights                    {plain.info.ticket.test:.1f}%")

# As a transform: edge fields are pruned too.
sparse = teddy.SparsifyEdges(0.3, weighted=True)(data)
print(f"{sparse.num_edges} of {data.num_edges} messages, {len(sparse.edge_weight)} weights kept")
