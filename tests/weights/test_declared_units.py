"""Hidden units that a user's own module declares: checked, projected whole, removed."""

from __future__ import annotations

import copy
import warnings
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

import teddy
from conftest import small_graph
from teddy.weights import Part, Units
from teddy.weights.units import declared_units


class TwoGCN(nn.Module):
    def __init__(self, features=12, hidden=16, outputs=3):
        super().__init__()
        self.first = pyg.GCNConv(features, hidden)
        self.last = pyg.GCNConv(hidden, outputs)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)

    def units(self):
        incoming = Part(self.first.lin.weight, 0), Part(self.first.bias, 0)
        return [Units(self.first.out_channels, incoming, (Part(self.last.lin.weight, 1),))]


class NormedSAGE(nn.Module):
    """Three layers, two of them hidden, of two weights each, with batch normalisation between."""

    def __init__(self, features=12, hidden=16, outputs=3, norm=nn.BatchNorm1d):
        super().__init__()
        sizes = [features, hidden, hidden, outputs]
        self.convs = nn.ModuleList(pyg.SAGEConv(a, b) for a, b in pairwise(sizes))
        self.norms = nn.ModuleList(norm(hidden) for _ in range(2))

    def forward(self, x, edge_index):
        for conv, norm in zip(self.convs, self.norms, strict=False):
            x = nn.functional.dropout(norm(conv(x, edge_index)).relu(), 0.2, self.training)
        return self.convs[-1](x, edge_index)

    def units(self):
        found = []
        for conv, norm, after in zip(self.convs, self.norms, self.convs[1:], strict=False):
            norm = getattr(norm, "module", norm)  # PyG's holds torch's
            incoming = (
                Part(conv.lin_l.weight, 0), Part(conv.lin_l.bias, 0), Part(conv.lin_r.weight, 0),
                Part(norm.weight, 0), Part(norm.bias, 0),
            )  # fmt: skip
            outgoing = Part(after.lin_l.weight, 1), Part(after.lin_r.weight, 1)
            buffers = Part(norm.running_mean, 0), Part(norm.running_var, 0)
            found.append(Units(conv.out_channels, incoming, outgoing, buffers=buffers))
        return found


class PyGNormed(NormedSAGE):
    def __init__(self):
        super().__init__(norm=pyg.BatchNorm)


def found(module, data=None, **settings):
    data = small_graph() if data is None else data
    settings = {"epochs": 8, "structure": "neurons", **settings}
    return data, teddy.find_ticket(data, module, 0.4, 0.6, **settings)


def dead(matrix):
    """Rows without an entry, as a set, by hand."""
    return {row for row, entries in enumerate(matrix.tolist()) if not any(entries)}


def test_units_of_a_gcn_are_removed_whole():
    torch.manual_seed(0)
    _, ticket = found(TwoGCN())
    model = ticket.model
    gone = dead(model.first.lin.weight.detach())
    assert 6 <= len(gone) < 16
    assert gone <= {i for i, b in enumerate(model.first.bias.tolist()) if b == 0}
    assert gone <= dead(model.last.lin.weight.detach().t())
    kept = 16 - len(gone)
    total = sum(p.numel() for p in model.parameters())
    of_unit = 12 + 1 + 3
    assert kept * of_unit + 3 <= -(-4 * total // 10)  # ceil of 40% of all weights
    assert (kept + 1) * of_unit + 3 > -(-4 * total // 10)


def test_the_choice_is_that_of_largest_norm():
    """One step of the projection, against norms in plain Python."""
    torch.manual_seed(1)
    module = NormedSAGE().requires_grad_(False)
    units = module.units()[0]
    conv, norm, after = module.convs[0], module.norms[0], module.convs[1]
    expected = [
        sum(v * v for v in (
            *conv.lin_l.weight[j].tolist(), *conv.lin_r.weight[j].tolist(),
            float(conv.lin_l.bias[j]), float(norm.weight[j]), float(norm.bias[j]),
            *after.lin_l.weight[:, j].tolist(), *after.lin_r.weight[:, j].tolist()))
        for j in range(16)
    ]  # fmt: skip
    torch.testing.assert_close(units.squares(), torch.tensor(expected))


@pytest.mark.parametrize("make", [TwoGCN, NormedSAGE, PyGNormed])
def test_compiled_it_is_smaller_and_equal(make):
    torch.manual_seed(2)
    data, ticket = found(make())
    before = copy.deepcopy(ticket.model.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = ticket.compile(data)
    nonzero = ticket.info.weights
    assert compiled.num_weights < 0.5 * nonzero.total
    torch.testing.assert_close(compiled(), ticket.logits(data), atol=1e-5, rtol=1e-5)
    other = torch.rand_like(data.x)
    changed = data.clone()
    changed.x = other
    torch.testing.assert_close(compiled(other), ticket.logits(changed), atol=1e-5, rtol=1e-5)
    for name, value in ticket.model.state_dict().items():  # the ticket is as it was
        assert torch.equal(value, before[name])


def test_layers_have_their_new_sizes():
    torch.manual_seed(2)
    data, ticket = found(NormedSAGE())
    small = ticket.compile(data).model
    first, second = (int((~d).sum()) for d in (
        (ticket.model.convs[i].lin_l.weight == 0).all(dim=1) for i in range(2)))  # fmt: skip
    assert 1 <= first < 16
    assert small.convs[0].lin_l.weight.shape == (first, 12)
    assert (small.convs[1].in_channels, small.convs[1].out_channels) == (first, second)
    assert (small.convs[2].lin_r.in_channels, small.convs[2].lin_r.out_channels) == (second, 3)
    assert small.norms[0].num_features == first
    assert small.norms[0].running_mean.shape == (first,)
    assert repr(first) in repr(small.convs[0])


def test_without_a_dead_unit_nothing_is_removed():
    torch.manual_seed(3)
    data = small_graph()
    ticket = teddy.find_ticket(data, TwoGCN(), 0.4, 0.0, epochs=2)
    assert ticket.compile(data).num_weights == ticket.info.weights.total


def test_lazy_modules_are_sized_first():
    torch.manual_seed(4)
    data, ticket = found(lambda: TwoGCN(features=-1))
    assert ticket.compile(data).num_weights < ticket.info.weights.total


def test_a_module_that_cannot_be_smaller_runs_unchanged_with_a_note():
    class Fixed(TwoGCN):
        def forward(self, x, edge_index):
            h = self.first(x, edge_index).relu()
            return self.last(h.view(-1, 16), edge_index)

    class Shifted(TwoGCN):  # an activation that isn't 0 at 0, and a mean over units
        def forward(self, x, edge_index):
            h = self.first(x, edge_index).sigmoid()
            return self.last(h / h.mean(dim=1, keepdim=True), edge_index)

    for make, reason in ((Fixed, "fails"), (Shifted, "outputs that differ by")):
        torch.manual_seed(5)
        data, ticket = found(make())
        with pytest.warns(UserWarning, match=f"without its dead units .*{reason}") as told:
            compiled = ticket.compile(data)
        assert "\n" not in str(told[0].message)
        assert compiled.num_weights == ticket.info.weights.total
        assert torch.equal(compiled(), ticket.logits(data))


def test_saved_and_loaded_it_compiles_the_same(tmp_path):
    torch.manual_seed(6)
    data, ticket = found(NormedSAGE())
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", model=NormedSAGE())
    a, b = ticket.compile(data), again.compile(data)
    assert a.num_weights == b.num_weights
    assert torch.equal(a(), b())


def test_citeseer_with_your_own_module(citeseer):
    torch.manual_seed(7)
    settings = {"epochs": 15, "distill": 10.0}
    data, ticket = found(TwoGCN(3703, 32, 6), citeseer, **settings)
    compiled = ticket.compile(data)
    assert compiled.num_weights <= ticket.info.weights.kept + 16
    torch.testing.assert_close(compiled(), ticket.logits(data), atol=1e-5, rtol=1e-5)
    assert ticket.info.ticket.test > 40


def wrong(**changes):
    class Wrong(TwoGCN):
        def units(self):
            w, last = self.first.lin.weight, self.last.lin.weight
            parts = {"count": 16, "incoming": (Part(w, 0),), "outgoing": (Part(last, 1),)}
            given = {k: v(self) if callable(v) else v for k, v in changes.items()}
            return given["returned"] if "returned" in given else [Units(**{**parts, **given})]

    return Wrong()


WRONG = {
    "another": (wrong(returned=[3]), "returned a list, expected a list of teddy.weights.Units"),
    "none": (wrong(returned=7), "returned a int, expected a list of teddy.weights.Units"),
    "empty": (wrong(returned=[]), "has no removable hidden units"),
    "copy": (
        wrong(incoming=lambda m: (Part(m.first.lin.weight.clone(), 0),)),
        r"incoming 1 of layer 1 is a tensor \[16, 12\], expected a Part of a parameter",
    ),
    "tensor": (
        wrong(incoming=lambda m: (m.first.lin.weight,)),
        r"incoming 1 of layer 1 is a (tensor \[16, 12\]|Parameter), expected a Part",
    ),
    "count": (
        wrong(count=20),
        r"'first.lin.weight' \[16, 12\], expected 20 units of 1 in dimension 0",
    ),
    "dimension": (
        wrong(outgoing=lambda m: (Part(m.last.lin.weight, 2),)),
        r"'last.lin.weight' \[3, 16\] without a dimension 2",
    ),
    "no outgoing": (wrong(outgoing=()), "layer 1 has no outgoing weights"),
    "twice": (
        wrong(own=lambda m: (Part(m.first.lin.weight, 0),)),
        "own 1 of layer 1 is dimension 0 of 'first.lin.weight', which is incoming 1 of layer 1",
    ),
    "buffer": (
        wrong(buffers=lambda m: (Part(m.first.bias, 0),)),
        r"buffers 1 of layer 1 is a tensor \[16\], expected a Part of a buffer",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_invalid_declarations_raise_one_line(case):
    module, message = WRONG[case]
    with pytest.raises(teddy.InputError, match=message) as error:
        found(module)
    assert "\n" not in str(error.value)


def test_an_attribute_called_units_is_no_declaration():
    module = TwoGCN()
    module.units = 64
    assert declared_units(module) == []
    data = small_graph()
    ticket = teddy.find_ticket(data, module, 0.4, 0.5, epochs=2)
    assert torch.equal(ticket.compile(data)(), ticket.logits(data))
