"""A directed graph: messages run along edges as they are listed, an edge is pruned as one."""

import torch
from torch_geometric.data import Data

import teddy

# Whom a person follows says what they read; who follows them says nothing.
torch.manual_seed(0)
N = 300
topic = torch.randint(2, (N,))  # what a person writes about: in x
y = torch.randint(2, (N,))  # what they read: not in x
reader, followed = torch.arange(N).repeat_interleave(6), torch.randint(N, (6 * N,))
chosen = topic[followed] == y[reader]  # they follow those who write about what they read
data = Data(
    x=torch.nn.functional.one_hot(topic, 2).float(),
    edge_index=torch.stack([followed, reader])[:, chosen],  # from the writer to the reader
    y=y,
    train_mask=torch.arange(N) < 100,
    val_mask=(torch.arange(N) >= 100) & (torch.arange(N) < 200),
    test_mask=torch.arange(N) >= 200,
)

settings = {"model": "sage", "graph_sparsity": 0.3, "weight_sparsity": 0.3, "epochs": 80}
options = {"hidden_channels": 16, "lr": 0.05}
ticket = teddy.find_ticket(data, **settings, **options, directed=True)
mixed = teddy.find_ticket(data, **settings, **options)  # as undirected: who follows me counts, too

print(f"directed {ticket.info.ticket.test:.1f}%, as undirected {mixed.info.ticket.test:.1f}%")
print(
    f"an edge and its reverse are one: {ticket.info.edges.kept} of {ticket.info.edges.total} stay"
)
print(f"of {data.num_edges} columns {ticket.apply(data).num_edges} stay, as they run")
