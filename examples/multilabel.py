"""Multilabel classification with unknown labels."""

import torch
from torch_geometric.data import Data

import teddy

# Four labels per node, each with its own feature; a tenth is unknown.
torch.manual_seed(0)
N = 300
x = torch.randn(N, 12)
tags = (x[:, :4] + 0.3 * torch.randn(N, 4) > 0).float()
tags[torch.rand(N, 4) < 0.1] = torch.nan  # or -1
y, nodes = tags, torch.arange(N)
data = Data(
    x=x,
    edge_index=torch.randint(N, (2, 600)),
    y=y,  # [N, 4]
    train_mask=nodes < 150,
    val_mask=(nodes >= 150) & (nodes < 200),
    test_mask=nodes >= 200,
)

ticket = teddy.find_ticket(
    data,
    "sage",
    graph_sparsity=0.5,
    weight_sparsity=0.5,
    epochs=120,
    hidden_channels=16,
    task="multilabel",
)
print(f"micro-F1: dense {ticket.info.dense.test:.1f}%, ticket {ticket.info.ticket.test:.1f}%")
predicted = ticket.predict(data)  # 0 or 1, [N, 4]
print("first test nodes:", predicted[data.test_mask][:3].tolist())
