"""A training loop of your own: only the pruning of edges and of weights is taken from us."""

import torch
from torch.nn.functional import cross_entropy
from torch_geometric.nn import GCN

import teddy

torch.manual_seed(0)
data = teddy.load_dataset("citeseer")
data.x = data.x.to_dense()

data = teddy.SparsifyEdges(0.5)(data)  # half of the edges go; a PyG transform, once
model = GCN(data.num_features, 16, num_layers=2, out_channels=6, dropout=0.5)
adam = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
optimizer = teddy.L0Projected(adam, sparsity=0.9)  # after every step 90% of all weights are 0

best = {"val": 0.0, "test": 0.0}
for _ in range(40):
    model.train()
    optimizer.zero_grad()
    logits = model(data.x, data.edge_index)
    cross_entropy(logits[data.train_mask], data.y[data.train_mask]).backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        right = model(data.x, data.edge_index).argmax(dim=1) == data.y
    val, test = (100 * float(right[m].float().mean()) for m in (data.val_mask, data.test_mask))
    if val >= best["val"]:
        best = {"val": val, "test": test}

weights = list(model.parameters())
total, kept = sum(w.numel() for w in weights), sum(int(w.count_nonzero()) for w in weights)
print(f"{data.num_edges // 2} of 4552 edges, {kept:,} of {total:,} weights")
print(f"test {best['test']:.1f}% at the best validation epoch")
