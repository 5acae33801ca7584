"""A ticket for your own PyG module and ``Data``."""

import torch
from torch_geometric.nn import GCNConv

import teddy


class Mine(torch.nn.Module):
    """Any module with ``forward(x, edge_index)``; its weights are the initial weights."""

    def __init__(self, features, classes):
        super().__init__()
        self.first, self.last = GCNConv(features, 16), GCNConv(16, classes)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)


torch.manual_seed(0)
data = teddy.load_dataset("citeseer")  # or any Data: x, edge_index, y, three bool masks
module = Mine(data.num_features, 6)
ticket = teddy.find_ticket(data, module, graph_sparsity=0.5, weight_sparsity=0.5, epochs=30)

ticket.save("mine.ticket")
again = teddy.Ticket.load("mine.ticket", module)  # the file has the weights, not the class
print(again)
print(f"dense {ticket.info.dense.test:.1f}%, ticket {again.evaluate(data)['test']:.1f}%")
