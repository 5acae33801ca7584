"""A directed graph: messages run as listed, an edge and its reverse are pruned together."""

import torch
from torch_geometric.data import Data

import teddy

# A label depends on the people that a person follows, not on their followers.
torch.manual_seed(0)
N = 300
topic = torch.randint(2, (N,))  # the topic that a person writes about: a feature
y = torch.randint(2, (N,))  # the topic that a person reads: the label
reader, followed = torch.arange(N).repeat_interleave(6), torch.randint(N, (6 * N,))
chosen = topic[followed] == y[reader]  # people follow writers of the topic that they read
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
undirected = teddy.find_ticket(data, **settings, **options)  # as undirected

print(f"directed {ticket.info.ticket.test:.1f}%, undirected {undirected.info.ticket.test:.1f}%")
print(f"{ticket.info.edges.kept} of {ticket.info.edges.total} edges kept")
print(f"{ticket.apply(data).num_edges} of {data.num_edges} messages kept")
