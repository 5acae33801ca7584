"""Class weights in the loss, for a rare class."""

import torch
from torch_geometric.data import Data

import teddy

# One node in twelve has the rare class.
torch.manual_seed(0)
N = 600
y = (torch.arange(N) % 12 == 0).long()
edge_index = torch.randint(N, (2, 1500))
data = Data(
    x=torch.randn(N, 8) + 0.9 * y[:, None],
    edge_index=edge_index,
    y=y,
    train_mask=torch.arange(N) < 200,
    val_mask=(torch.arange(N) >= 200) & (torch.arange(N) < 400),
    test_mask=torch.arange(N) >= 400,
)


def recall(ticket):
    """Return the recall of the rare class on the test nodes, in percent."""
    rare = data.test_mask & (y == 1)
    return 100 * float((ticket.predict(data)[rare] == 1).float().mean())


settings = {"model": "sage", "graph_sparsity": 0.5, "weight_sparsity": 0.5, "epochs": 60}
recalls = {}
for weight in (None, "balanced", [1.0, 30.0]):
    # The weighted mean of torch.nn.CrossEntropyLoss; balanced is n / (k n_c).
    ticket = teddy.find_ticket(data, **settings, hidden_channels=16, class_weight=weight)
    recalls[str(weight)] = recall(ticket)
    accuracy = ticket.info.ticket.test
    print(f"{weight!s:>12}: accuracy {accuracy:.1f}%, rare-class recall {recall(ticket):.0f}%")
