"""Graph classification: solubility of molecules, and a module with its own readout."""

import torch
from torch_geometric.nn import GINEConv, global_mean_pool

import teddy

data = teddy.load_dataset("solubility")  # a PyG Batch: 1,282 molecules, x for atoms, y for graphs


class Molecules(torch.nn.Module):
    """GINE layers; ``edge_attr`` is the bond type, ``batch`` the molecule of each atom."""

    def __init__(self):
        super().__init__()
        layers = [torch.nn.Linear(14, 32), torch.nn.Linear(32, 32)]
        self.layers = torch.nn.ModuleList(GINEConv(layer, edge_dim=3) for layer in layers)
        self.last = torch.nn.Linear(32, 3)

    def forward(self, x, edge_index, batch, edge_attr):
        for layer in self.layers:
            x = layer(x, edge_index, edge_attr).relu()
        return self.last(global_mean_pool(x, batch))


settings = {"graph_sparsity": 0.2, "weight_sparsity": 0.5, "task": "graph-classification"}
own = teddy.find_ticket(data, Molecules, epochs=100, **settings)
gcn = teddy.find_ticket(data, "gcn", epochs=100, hidden_channels=64, readout="mean", **settings)
for name, ticket in {"own": own, "gcn": gcn}.items():
    info = ticket.info
    print(f"{name}: dense {info.dense.test:.1f}%, ticket {info.ticket.test:.1f}%, {info.edges}")

# Other graphs with the same features: the ticket's score prunes each graph by itself.
pentane, cyclopentane = data[0], data[1]
predicted = own.predict([pentane, cyclopentane])
print([own.info.classes[c] for c in predicted])
sparse = teddy.SparsifyEdges(0.2)([pentane, cyclopentane])  # without a ticket
