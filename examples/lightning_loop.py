"""A training loop in Lightning: a transform prunes the graph, the optimizer projects."""

import lightning
import torch
from torch.nn.functional import cross_entropy
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCN

import teddy


class Classifier(lightning.LightningModule):
    """A plain LightningModule around a PyG model."""

    def __init__(self, features, classes):
        super().__init__()
        self.model = GCN(features, 16, num_layers=2, out_channels=classes, dropout=0.5)

    def training_step(self, data, index):
        logits = self.model(data.x, data.edge_index)
        return cross_entropy(logits[data.train_mask], data.y[data.train_mask])

    def validation_step(self, data, index):
        self.log("val", self.accuracy(data, data.val_mask), batch_size=1)

    def test_step(self, data, index):
        self.log("test", self.accuracy(data, data.test_mask), batch_size=1)

    def accuracy(self, data, mask):
        right = self.model(data.x, data.edge_index).argmax(dim=1) == data.y
        return 100 * right[mask].float().mean()

    def configure_optimizers(self):
        adam = torch.optim.Adam(self.parameters(), lr=0.01, weight_decay=5e-4)
        return teddy.L0Projected(adam, sparsity=0.9)  # an optimizer like any other


lightning.seed_everything(0)
data = teddy.load_dataset("citeseer")
data.x = data.x.to_dense()
data = teddy.SparsifyEdges(0.5)(data)

classifier = Classifier(data.num_features, 6)
trainer = lightning.Trainer(
    max_epochs=40, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
)  # fmt: skip
loader = DataLoader([data])  # one graph, one step an epoch
trainer.fit(classifier, loader, loader)
(result,) = trainer.test(classifier, loader, verbose=False)

weights = list(classifier.parameters())
total, kept = sum(w.numel() for w in weights), sum(int(w.count_nonzero()) for w in weights)
print(f"{data.num_edges // 2} of 4552 edges, {kept:,} of {total:,} weights")
print(f"test {result['test']:.1f}%")
