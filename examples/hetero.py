"""A heterogeneous graph of authors, papers and venues, with a model by ``to_hetero``."""

import torch
import torch_geometric.transforms as T
from torch_geometric.data import HeteroData
from torch_geometric.nn import SAGEConv, to_hetero

import teddy

# Authors, citations and venues of a paper mostly belong to its field. Its own features are weak;
# those of its authors and venue are stronger.
torch.manual_seed(0)
PAPERS, AUTHORS, VENUES, FIELDS = 300, 100, 12, 4
field = {"paper": torch.arange(PAPERS) % FIELDS, "author": torch.arange(AUTHORS) % FIELDS}
field["venue"] = torch.arange(VENUES) % FIELDS


def linked(kind, times):
    """Return edges from each paper to ``times`` nodes of a type, mostly of its field."""
    paper = torch.arange(PAPERS).repeat_interleave(times)
    count = len(field[kind])
    other = torch.randint(count // FIELDS, paper.shape) * FIELDS + field["paper"][paper]
    stray = torch.rand(paper.shape) < 0.2
    return paper, torch.where(stray, torch.randint(count, paper.shape), other)


data = HeteroData()
for kind, strength in {"paper": 0.5, "author": 1.5, "venue": 3.0}.items():
    x = torch.randn(len(field[kind]), FIELDS + 2)
    data[kind].x = x + strength * torch.nn.functional.one_hot(field[kind], FIELDS + 2)
data["author", "writes", "paper"].edge_index = torch.stack(linked("author", 4)).flip(0)
data["paper", "cites", "paper"].edge_index = torch.stack(linked("paper", 4))
data["paper", "appears_at", "venue"].edge_index = torch.stack(linked("venue", 1))
data["paper"].y = field["paper"]
part = torch.randperm(PAPERS) % 3
for number, name in enumerate(("train_mask", "val_mask", "test_mask")):
    data["paper"][name] = part == number
data = T.ToUndirected()(data)  # adds rev_writes and rev_appears_at: one relation with theirs


class Layers(torch.nn.Module):
    """Two layers for one node type; ``to_hetero`` copies them for every relation."""

    def __init__(self):
        super().__init__()
        self.first, self.last = SAGEConv((-1, -1), 16), SAGEConv((-1, -1), FIELDS)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)


module = to_hetero(Layers(), data.metadata())
ticket = teddy.find_ticket(data, module, 0.64, 0.64, epochs=60, target="paper")
together = teddy.find_ticket(data, module, 0.64, 0.64, epochs=60, target="paper", budget="all")


def counts(ticket):
    """Return the kept edges of each relation."""
    return ", ".join(
        f"{part['edge_types'][0][1]} {part['kept']} of {part['total']}"
        for part in ticket.info.hetero["relations"]
    )


print(f"dense {ticket.info.dense.test:.1f}%")
print(f"a budget per relation {ticket.info.ticket.test:.1f}%: {counts(ticket)}")
print(f"one budget {together.info.ticket.test:.1f}%: {counts(together)}")
sparse = ticket.apply(data)  # a HeteroData
