"""Your own training loop with TEDDY's pruning, projection and distillation."""

import torch
from torch_geometric.nn import GCN

import teddy

torch.manual_seed(0)
data = teddy.load_dataset("citeseer")
data.x = data.x.to_dense()


def make_model() -> GCN:
    """Make a network with new weights."""
    return GCN(data.num_features, 16, num_layers=2, out_channels=6, dropout=0.5)


teacher = make_model()  # the dense model, on the whole graph
adam = torch.optim.Adam(teacher.parameters(), lr=0.01, weight_decay=5e-4)
for _ in range(50):
    adam.zero_grad()
    logits = teacher(data.x, data.edge_index)
    torch.nn.functional.cross_entropy(logits[data.train_mask], data.y[data.train_mask]).backward()
    adam.step()
teacher.eval()
with torch.no_grad():
    teacher_logits = teacher(data.x, data.edge_index)

data = teddy.SparsifyEdges(0.5)(data)  # remove half of the edges, once
model = make_model()
adam = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
optimizer = teddy.L0Projected(adam, sparsity=0.9)  # after every step 90% of the weights are 0

best = {"val": 0.0, "test": 0.0}
for _ in range(50):
    model.train()
    optimizer.zero_grad()
    logits = model(data.x, data.edge_index)
    teddy.distillation_loss(logits, teacher_logits, data.y, data.train_mask, strength=10).backward()
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
