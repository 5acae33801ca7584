"""Layers of PyG on the compiled kernels, against PyG itself."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
import torch_geometric.nn as pyg
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch_geometric.nn import MessagePassing

import teddy
import teddy.kernels
from conftest import small_graph
from teddy.kernels import jit
from teddy.kernels.sparse import SparseMatrix
from teddy.layers import Acceleration, accelerate
from teddy.layers.features import SparseInput
from teddy.layers.messages import linear_message, reason_against

pytestmark = pytest.mark.skipif(jit.installed is None, reason="numba is not installed")


class Doubled(MessagePassing):
    """A layer of one's own with a norm, as in PyG's tutorial."""

    def __init__(self, inputs, outputs, **options):
        super().__init__(**options)
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, edge_index):
        source, _ = edge_index
        norm = 1 / (1 + torch.bincount(source, minlength=x.size(0)).to(x))
        return self.propagate(edge_index, x=self.linear(x), norm=norm[source])

    def message(self, x_j, norm):
        return norm.view(-1, 1) * x_j


LAYERS = {
    "GCN": lambda a, b: pyg.GCNConv(a, b),
    "GCN without norm": lambda a, b: pyg.GCNConv(a, b, normalize=False, bias=False),
    "GCN backwards": lambda a, b: pyg.GCNConv(a, b, flow="target_to_source"),
    "SAGE mean": lambda a, b: pyg.SAGEConv(a, b),
    "SAGE sum": lambda a, b: pyg.SAGEConv(a, b, aggr="sum", project=True, normalize=True),
    "GIN": lambda a, b: pyg.GINConv(nn.Linear(a, b)),
    "GIN eps": lambda a, b: pyg.GINConv(nn.Linear(a, b), eps=0.3, train_eps=True),
    "GraphConv": lambda a, b: pyg.GraphConv(a, b),
    "GraphConv mean": lambda a, b: pyg.GraphConv(a, b, aggr="mean"),
    "GAT": lambda a, b: pyg.GATConv(a, b, heads=3, concat=False),
    "GAT one head": lambda a, b: pyg.GATConv(a, b, add_self_loops=False),
    "GATv2": lambda a, b: pyg.GATv2Conv(a, b, heads=2, concat=False),
    "TAG": lambda a, b: pyg.TAGConv(a, b),
    "SG": lambda a, b: pyg.SGConv(a, b, K=2),
    "Cheb": lambda a, b: pyg.ChebConv(a, b, K=3),
    "ARMA": lambda a, b: pyg.ARMAConv(a, b),
    "ClusterGCN": lambda a, b: pyg.ClusterGCNConv(a, b),
    "own": lambda a, b: Doubled(a, b),
    "own mean": lambda a, b: Doubled(a, b, aggr="mean"),
}
WEIGHED = ["GCN", "GCN without norm", "GraphConv", "GraphConv mean", "TAG", "SG"]


class Two(nn.Module):
    """Two layers with ReLU and dropout, whose features are dense or have few non-zeros."""

    def __init__(self, kind, features=7, width=5):
        super().__init__()
        self.first, self.last = LAYERS[kind](features, width), LAYERS[kind](width, 3)

    def forward(self, x, edge_index, *weight):
        h = F.dropout(self.first(x, edge_index, *weight).relu(), 0.4, self.training)
        return self.last(h, edge_index, *weight)


def inputs(seed=0, nodes=40, edges=120, features=7, share=0.3, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(nodes, features, generator=generator, dtype=dtype)
    x = x * (torch.rand(nodes, features, generator=generator) < share)
    return x, torch.randint(nodes, (2, edges), generator=generator)


def gradients(module, *args):
    for p in module.parameters():
        p.grad = None
    out = module(*args)
    (out * torch.linspace(-1, 1, out.numel()).view_as(out)).sum().backward()
    return out.detach(), [p.grad for p in module.parameters()]


def assert_same(found, expected):
    torch.testing.assert_close(found[0], expected[0])
    for one, other in zip(found[1], expected[1], strict=True):
        torch.testing.assert_close(one, other)


@pytest.fixture
def everything(monkeypatch):
    """Small matrices count as large ones."""
    monkeypatch.setattr("teddy.layers.features._LEAST", 1)


@pytest.mark.parametrize("share", [0.15, 1.0])
@pytest.mark.parametrize("kind", LAYERS)
def test_outputs_and_gradients_are_those_of_pyg(kind, share, everything):
    torch.manual_seed(0)
    x, edge_index = inputs(share=share)
    module = Two(kind).double().eval()
    expected = gradients(module, x, edge_index)
    with accelerate(module) as fast:
        assert fast.layers == [
            n for n, m in module.named_modules() if isinstance(m, MessagePassing)
        ]
        assert_same(gradients(module, x, edge_index), expected)
        assert_same(gradients(module, x, edge_index), expected)  # from the caches
    assert_same(gradients(module, x, edge_index), expected)


@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("kind", WEIGHED)
def test_edge_weights_and_their_gradients(kind, learned, everything):
    torch.manual_seed(0)
    x, edge_index = inputs(share=0.15)
    weight = torch.rand(edge_index.size(1), dtype=torch.float64, requires_grad=learned)
    module = Two(kind).double().eval()
    expected = gradients(module, x, edge_index, weight)
    of_weight = weight.grad
    weight.grad = None
    with accelerate(module):
        assert_same(gradients(module, x, edge_index, weight), expected)
    if learned:
        torch.testing.assert_close(weight.grad, of_weight)


@pytest.mark.parametrize("kind", ["GCN", "SAGE mean", "GIN eps", "GAT", "GATv2", "GraphConv"])
def test_gradients_of_features(kind, everything):
    torch.manual_seed(0)
    x, edge_index = inputs(nodes=6, edges=9, share=1.0)
    module = Two(kind).double().eval()
    with accelerate(module):
        assert torch.autograd.gradcheck(lambda x: module(x, edge_index), x.requires_grad_())


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(0, 25), st.sampled_from(list(LAYERS)))
@settings(max_examples=80)
def test_any_graph(seed, nodes, edges, kind):
    """Repeated edges, self-loops, nodes without any."""
    torch.manual_seed(0)
    x, edge_index = inputs(seed, nodes, edges)
    module = Two(kind).double().eval()
    expected = gradients(module, x, edge_index)
    with accelerate(module):
        assert_same(gradients(module, x, edge_index), expected)


def test_bipartite_layers():
    x, other = torch.rand(5, 4), torch.rand(3, 4)
    edge_index = torch.tensor([[0, 1, 4, 4], [0, 2, 2, 1]])
    for layer in (pyg.SAGEConv((4, 4), 2), pyg.GraphConv((4, 4), 2), pyg.GATConv((4, 4), 2,
                  add_self_loops=False)):  # fmt: skip
        expected = layer((x, other), edge_index)
        with accelerate(layer):
            torch.testing.assert_close(layer((x, other), edge_index), expected)
    lonely = pyg.SAGEConv((4, 4), 2)
    expected = lonely((x, None), edge_index, size=(5, 3))
    with accelerate(lonely):
        torch.testing.assert_close(lonely((x, None), edge_index, size=(5, 3)), expected)


def test_heterogeneous_modules():
    x = {"a": torch.rand(4, 3), "b": torch.rand(5, 3)}
    edges = {("a", "to", "b"): torch.tensor([[0, 1, 3], [4, 4, 0]]),
             ("b", "of", "b"): torch.tensor([[0, 1], [1, 2]])}  # fmt: skip
    module = pyg.HeteroConv({kind: pyg.SAGEConv((3, 3), 2) for kind in edges})
    expected = module(x, edges)["b"]
    with accelerate(module) as fast:
        assert len(fast.layers) == 2
        torch.testing.assert_close(module(x, edges)["b"], expected)


class Changing(nn.Module):
    """Changes its edge list in place, and keeps it."""

    def __init__(self):
        super().__init__()
        self.conv, self.kept, self.turn = pyg.SAGEConv(7, 3), None, 0

    def forward(self, x, edge_index):
        self.kept = edge_index
        if self.turn:
            edge_index[:, 0] = self.turn
        self.turn += 1
        return self.conv(x, edge_index)


def test_a_module_may_change_inspect_and_keep_its_edges():
    x, edge_index = inputs(dtype=torch.float32)
    plain, fast = Changing(), Changing()
    fast.load_state_dict(plain.state_dict())
    ours, theirs = edge_index.clone(), edge_index.clone()
    with accelerate(fast):
        for _ in range(4):
            torch.testing.assert_close(fast(x, ours), plain(x, theirs))
            assert fast.kept is ours
            assert type(fast.kept) is torch.Tensor


def test_features_may_change_in_place(everything):
    x, edge_index = inputs(share=0.1, dtype=torch.float32)
    module = pyg.GCN(7, 4, 2, 3).eval()
    with accelerate(module):
        module(x, edge_index)
        x[0] = 5.0
        found = module(x, edge_index)
    torch.testing.assert_close(found, module(x, edge_index))


class Reads(nn.Module):
    """Reads its features in many ways."""

    def __init__(self):
        super().__init__()
        self.conv, self.linear = pyg.SAGEConv(7, 5), nn.Linear(7, 5)

    def forward(self, x, edge_index):
        assert isinstance(x, torch.Tensor)
        assert x.shape == (40, 7)
        assert x.size(-1) == len(x[0])
        y = torch.cat([x, x.mean(dim=0, keepdim=True).expand_as(x)], dim=1)[:, :7]
        h = self.conv(x, edge_index) + self.linear(x) + x @ self.linear.weight.t()
        h = h + self.linear(2 * x) + self.linear(x * 0.5 + x) + (x * x).sum(dim=1, keepdim=True)
        z = h.relu()
        assert z.shape == h.shape
        parts = torch.stack([z, z.clone(), F.dropout(z, 0.5, training=False)])
        return parts.sum(0) + self.linear(y) + F.relu(h).exp().log1p() + x.to(torch.float64)[:, :5]


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_sparse_features_are_read_as_any_other(share, everything):
    torch.manual_seed(0)
    x, edge_index = inputs(share=share)
    module = Reads().double()
    expected = gradients(module, x, edge_index)
    with accelerate(module):
        assert_same(gradients(module, x, edge_index), expected)


def test_results_are_plain_tensors(everything):
    class Gives(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = pyg.GCNConv(7, 3)

        def forward(self, x, edge_index):
            return {"x": x, "h": (self.conv(x, edge_index).relu(), x @ x.t()[:, :7])}

    x, edge_index = inputs(share=0.1, dtype=torch.float32)
    module = Gives()
    with accelerate(module):
        out = module(x, edge_index)
    assert [type(t) for t in (out["x"], *out["h"])] == [torch.Tensor] * 3
    assert out["x"].equal(x)


def test_dropout_keeps_its_share_and_the_gradient_has_the_same_mask(everything):
    torch.manual_seed(0)
    module = pyg.GCN(7, 64, 2, 3, dropout=0.4)
    hidden = []

    class Spy(nn.Module):
        def __init__(self):
            super().__init__()
            self.gcn, self.conv = module, pyg.SAGEConv(64, 64)

        def forward(self, h, edge_index):
            dropped = F.dropout(h.relu(), 0.4, self.training)
            hidden.append(dropped + 0)
            return self.conv(dropped, edge_index)

    spy = Spy()
    h = torch.ones(500, 64, requires_grad=True)
    with accelerate(spy):
        spy(h, torch.empty(2, 0, dtype=torch.long))
    (dropped,) = hidden
    assert dropped.unique().tolist() == pytest.approx([0.0, 1 / 0.6])
    assert float((dropped > 0).float().mean()) == pytest.approx(0.6, abs=0.02)
    (of_h,) = torch.autograd.grad(dropped.sum(), h)
    assert of_h.equal(dropped.detach())


def test_the_same_seed_gives_the_same_training(everything):
    x, edge_index = inputs(share=0.1, dtype=torch.float32)

    def run():
        torch.manual_seed(0)
        module = pyg.GCN(7, 16, 2, 3, dropout=0.5)
        with accelerate(module):
            return gradients(module.train(), x, edge_index)

    first, second = run(), run()
    assert first[0].equal(second[0])
    assert all(map(torch.equal, first[1], second[1]))


def test_what_is_not_supported_says_why_and_runs_as_before():
    torch.manual_seed(0)
    x, edge_index = inputs(dtype=torch.float32)
    module = nn.ModuleList([
        pyg.SAGEConv(7, 3, aggr="max"), pyg.PNAConv(7, 3, ["mean"], ["identity"],
        torch.ones(9, dtype=torch.long)), pyg.EdgeConv(nn.Linear(14, 3)), pyg.GCNConv(7, 3),
    ])  # fmt: skip
    expected = [layer(x, edge_index) for layer in module]
    with accelerate(module) as fast:
        assert fast.layers == ["3"]
        assert fast.others["0"] == "its aggregation is MaxAggregation, not a sum or a mean"
        assert "message" in fast.others["1"]
        for layer, before in zip(module, expected, strict=True):
            torch.testing.assert_close(layer(x, edge_index), before)


class Halved(pyg.GCNConv):
    def message(self, x_j, edge_weight):
        return 0.5 * super().message(x_j, edge_weight)


class Summed(pyg.SAGEConv):
    def update(self, aggr_out):
        return aggr_out + 1


def test_subclasses_that_change_messages_are_left_alone():
    assert "message" in reason_against(Halved(2, 2))
    assert "update" in reason_against(Summed(2, 2))
    assert linear_message(Halved.message) is None


def test_hooks_on_messages_are_called():
    x, edge_index = inputs(dtype=torch.float32)
    layer, seen = pyg.GCNConv(7, 3), []
    layer.register_message_forward_hook(lambda *_: seen.append(1))
    with accelerate(layer):
        layer(x, edge_index)
    assert seen == [1]


def test_wrong_edges_are_pygs_errors():
    layer = pyg.SAGEConv(7, 3)
    x, _ = inputs(dtype=torch.float32)
    for wrong in (torch.tensor([[0], [99]]), torch.tensor([[99], [0]]), torch.tensor([[-1], [0]])):
        with pytest.raises(Exception) as expected:  # noqa: PT011 - any error of PyG
            layer(x, wrong)
        with accelerate(layer), pytest.raises(type(expected.value)):
            layer(x, wrong)


def test_without_kernels_nothing_is_changed():
    module = pyg.GCN(7, 4, 2, 3)
    with teddy.kernels.use(False), accelerate(module):
        assert "forward" not in vars(module)
    module = pyg.MLP([7, 3])
    with accelerate(module) as fast:
        assert fast.layers == []
        assert "forward" not in vars(module)


def test_an_error_leaves_the_module_as_it_was():
    module = pyg.GCN(7, 4, 2, 3)
    with pytest.raises(RuntimeError), Acceleration(module):
        module(torch.rand(3, 9), torch.tensor([[0], [1]]))
    assert "forward" not in vars(module)
    assert all("propagate" not in vars(conv) for conv in module.convs)


def test_accelerated_modules_can_be_copied_pickled_and_freed():
    x, edge_index = inputs(dtype=torch.float32)
    module = pyg.GCN(7, 4, 2, 3).eval()
    expected = module(x, edge_index)
    fast = accelerate(module)
    module(x, edge_index)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        with torch.no_grad():
            for p in other.parameters():
                p.zero_()
        assert float(other(x, edge_index).abs().max()) == 0
    torch.testing.assert_close(module(x, edge_index), expected)
    alive = weakref.ref(edge_index)
    del edge_index, expected
    gc.collect()
    assert alive() is None
    fast.remove()


def test_state_dict_and_parameters_are_unchanged():
    module = pyg.GCN(7, 4, 2, 3)
    before = list(module.state_dict())
    fast = accelerate(module)
    assert list(module.state_dict()) == before
    assert fast.layers == ["convs.0", "convs.1"]
    fast.remove()


def test_sparse_features_say_what_they_are():
    x = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
    late = SparseInput.make(x, SparseMatrix.from_tensor(x))
    assert isinstance(late, SparseInput)
    assert late.shape == x.shape
    assert late.dtype == x.dtype
    assert late.tolist() == x.tolist()
    assert repr(late) == repr(x)
    assert (late == x).all()


def test_inference_mode():
    x, edge_index = inputs(dtype=torch.float32)
    module = pyg.GCN(7, 4, 2, 3).eval()
    expected = module(x, edge_index)
    with accelerate(module), torch.inference_mode():
        torch.testing.assert_close(module(x, edge_index), expected)
        torch.testing.assert_close(module(x.clone(), edge_index.clone()), expected)


def test_layers_called_by_themselves_give_plain_tensors(everything):
    x, edge_index = inputs(dtype=torch.float32)
    module = pyg.GCN(7, 4, 2, 3)
    with accelerate(module):
        assert type(module.convs[0](x, edge_index)) is torch.Tensor
        assert type(module(x, edge_index)) is torch.Tensor


def test_threads_do_not_disturb_each_other(everything):
    """A layer called in another thread, while this one is in a module."""
    x, edge_index = inputs(dtype=torch.float32)
    found = []

    class Calls(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = pyg.SAGEConv(7, 3)

        def forward(self, x, edge_index):
            with ThreadPoolExecutor(1) as pool:
                found.append(type(pool.submit(self.conv, torch.ones_like(x), edge_index).result()))
            return self.conv(x, edge_index)

    module = Calls()
    with accelerate(module):
        module(x, edge_index)
    assert found == [torch.Tensor]


def agrees(make, *args, read=None):
    """The module does the same with and without acceleration; return what it gives."""
    torch.manual_seed(0)
    plain, results = make().double(), []
    for module in (copy.deepcopy(plain), plain):
        with accelerate(module) if results else nullcontext():
            out = module(*args) if read is None else read(module, *args)
            for p in module.parameters():
                p.grad = None
            if out.requires_grad:
                out.pow(2).sum().backward()
            results.append((out.detach(), [p.grad for p in module.parameters()]))
    assert_same(results[1], results[0])
    return results[1][0]


class Body(nn.Module):
    """Two layers around some code."""

    def __init__(self, body):
        super().__init__()
        self.first, self.last, self.body = pyg.GCNConv(7, 6), pyg.SAGEConv(6, 3), body
        self.linear = nn.Linear(6, 6)

    def forward(self, x, edge_index):
        return self.last(self.body(self, self.first(x, edge_index), edge_index), edge_index)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -grad


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return F.relu(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


def logged(net, h, edge_index):
    h = h.relu()
    with torch.no_grad():
        net.dead = float((h == 0).double().mean())
    return net.linear(h)


def made_without_gradient(net, h, edge_index):
    with torch.no_grad():
        t = net.last.propagate(edge_index, x=(h, h)).relu()
    return net.linear(h) + t


def changed_in_place(net, h, edge_index):
    z = h.relu()
    out = net.linear(z) + net.last.propagate(edge_index, x=(h, h))
    return F.relu(out + 1, inplace=True) * z


@pytest.mark.parametrize("body", [
    logged, made_without_gradient, changed_in_place,
    lambda net, h, e: Reverse.apply(h.relu()),
    lambda net, h, e: Straight.apply(h),
    lambda net, h, e: checkpoint(lambda z: net.linear(z).relu(), h, use_reentrant=True),
    lambda net, h, e: checkpoint(lambda z: net.last.propagate(e, x=(z, z)), h, use_reentrant=False),
])  # fmt: skip
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_code_between_layers(body, share, everything):
    agrees(lambda: Body(body), *inputs(share=share))


def test_hooks_on_modules_and_hidden_tensors(everything):
    seen = []

    def body(net, h, edge_index):
        h.retain_grad()
        net.hidden = h
        h.register_hook(lambda grad: seen.append(float(grad.norm())))
        return net.linear(h.relu())

    def read(module, *args):
        module.linear.register_full_backward_hook(lambda *_: seen.append(0.0))
        out = module(*args)
        out.sum().backward(retain_graph=True)
        return out + 0 * module.hidden.grad.sum()

    agrees(lambda: Body(body), *inputs(share=0.1), read=read)
    assert len(seen) == 8
    assert seen[:4] == pytest.approx(seen[4:])


@pytest.mark.parametrize("kind", ["GCN", "GAT", "GATv2", "SAGE mean", "GIN eps"])
def test_gradients_of_gradients(kind, everything):
    def read(module, x, edge_index):
        x = x.clone().requires_grad_()
        out = module(x, edge_index).tanh()
        (of_x,) = torch.autograd.grad(out.pow(2).sum(), x, create_graph=True)
        return of_x

    agrees(lambda: Two(kind).eval(), *inputs(share=1.0), read=read)


def test_gradients_of_gradients_of_edge_weights_and_sparse_features(everything):
    x, edge_index = inputs(share=0.1)

    def read(module, x, edge_index):
        weight = torch.linspace(0.5, 1, edge_index.size(1)).double().requires_grad_()
        out = module(x, edge_index, weight)
        given = [weight, *module.parameters()]
        found = torch.autograd.grad(out.pow(2).sum(), given, create_graph=True)
        return torch.cat([part.flatten() for part in found])

    agrees(lambda: Two("GraphConv").eval(), x, edge_index, read=read)


def test_features_that_learn_to_need_a_gradient(everything):
    def read(module, x, edge_index):
        x = x.clone()
        out = module(x, edge_index)
        assert x.requires_grad
        (of_x,) = torch.autograd.grad(out.sum(), x)
        return of_x

    class Asks(Body):
        def forward(self, x, edge_index):
            x.requires_grad_()
            return super().forward(x, edge_index)

    agrees(lambda: Asks(lambda net, h, e: h), *inputs(share=0.1), read=read)


def test_changes_that_torch_does_not_count(everything):
    x, edge_index = inputs(share=0.1)
    module = Two("SAGE mean").double().eval()
    with accelerate(module):
        module(x, edge_index)
        x.numpy()[:5] = 1.0
        edge_index.data[0, :9] = 1
        found = module(x, edge_index)
    torch.testing.assert_close(found, module(x, edge_index))


def test_methods_that_were_replaced_are_called(everything):
    x, edge_index = inputs()

    class Twice(pyg.GCNConv):
        def propagate(self, *args, **kwargs):
            return 2 * super().propagate(*args, **kwargs)

    def patched(name, change):
        layer = pyg.SAGEConv(7, 3)
        original = getattr(layer, name)
        setattr(layer, name, lambda *a, **k: change(original(*a, **k)))
        return layer

    for make in (
        lambda: Twice(7, 3), lambda: patched("message", lambda m: 3 * m),
        lambda: patched("propagate", lambda m: 5 * m),
        lambda: patched("aggregate", lambda m: m + 1), lambda: patched("forward", lambda m: m - 1),
    ):  # fmt: skip
        layer = make().double()
        before = {n: v for n, v in vars(layer).items() if n in ("propagate", "forward")}
        expected = layer(x, edge_index)
        with accelerate(layer):
            torch.testing.assert_close(layer(x, edge_index), expected)
        after = {n: v for n, v in vars(layer).items() if n in ("propagate", "forward")}
        assert after == before
    layer = pyg.SAGEConv(7, 3).double()
    with accelerate(layer):
        layer.aggr_module = pyg.MaxAggregation()
        found = layer(x, edge_index)
    torch.testing.assert_close(found, layer(x, edge_index))


def test_blocks_within_blocks():
    module = pyg.GCN(7, 4, 2, 3)
    outer = accelerate(module)
    with Acceleration(module):
        pass
    with outer, outer:
        pass
    assert "propagate" not in vars(module.convs[0])
    outer.start()
    assert "propagate" in vars(module.convs[0])
    outer.remove()
    assert "propagate" not in vars(module.convs[0])
    assert "forward" not in vars(module)


def test_messages_with_other_ends_or_channels_are_not_linear():
    class Gate(MessagePassing):
        def forward(self, x, edge_index, g):
            return self.propagate(edge_index, x=x, g=g)

        def message(self, x_j, g):
            return g.unsqueeze(1) * x_j

    class Ends(MessagePassing):
        def message(self, x_j, y_i):
            return x_j

    assert linear_message(Gate.message).by_head is False
    assert linear_message(Ends.message) is None
    gate = Gate(node_dim=0).double()
    x, edge_index = torch.rand(5, 3, 3).double(), torch.tensor([[0, 1], [1, 2]])
    g = torch.rand(2, 3).double()
    expected = gate(x, edge_index, g)
    with accelerate(gate):
        torch.testing.assert_close(gate(x, edge_index, g), expected)


def test_transforms_of_torch_run_as_in_pyg(everything):
    x, edge_index = inputs(share=0.1, dtype=torch.float32)
    module = pyg.GraphSAGE(7, 4, 2, 3).eval()
    with accelerate(module):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert module(x, edge_index).dtype == torch.bfloat16
        traced = torch.jit.trace(module, (x, edge_index))
        parameters = dict(module.named_parameters())

        def loss(parameters):
            return torch.func.functional_call(module, parameters, (x, edge_index)).sum()

        grads = torch.func.grad(loss)(parameters)
    assert set(grads) == set(parameters)
    torch.testing.assert_close(traced(x, edge_index), module(x, edge_index))


def test_inference_then_training_with_learned_weights():
    x, edge_index = inputs(share=1.0)
    module = pyg.GraphConv(7, 3).double()
    weight = torch.rand(edge_index.size(1)).double().requires_grad_()
    with accelerate(module):
        with torch.inference_mode():
            module(x, edge_index, weight)
        module(x, edge_index, weight).sum().backward()
    assert weight.grad is not None


def test_outputs_keep_their_containers(everything):
    class Out(OrderedDict):
        logits = property(lambda self: self["logits"])

    class Gives(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = pyg.GCNConv(7, 3)

        def forward(self, x, edge_index):
            return Out(logits=self.conv(x, edge_index), x=x)

    x, edge_index = inputs(share=0.1, dtype=torch.float32)
    module = Gives()
    with accelerate(module):
        out = module(x, edge_index)
    assert out.logits.shape == (40, 3)
    assert out["x"] is x


def test_eight_threads_at_once():
    x, edge_index = inputs(nodes=400, edges=4000, dtype=torch.float32)
    module = pyg.GCN(7, 16, 2, 3).eval()
    expected = module(x, edge_index)

    def ask(_):
        with torch.no_grad(), fast:
            return module(x, edge_index)

    fast = Acceleration(module)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(ask, range(200)):
            torch.testing.assert_close(found, expected)
    assert "forward" not in vars(module)


def test_a_search_with_checkpointed_layers():
    """Backward repeats a part of the forward outside of the accelerated block."""

    class Saves(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = pyg.GCNConv(12, 600), pyg.SAGEConv(600, 3)

        def part(self, h, edge_index):
            return self.last(F.dropout(h.relu(), 0.5, self.training), edge_index)

        def forward(self, x, edge_index):
            h = self.first(x, edge_index)
            return checkpoint(self.part, h, edge_index, use_reentrant=False)

    ticket = teddy.find_ticket(small_graph(), Saves(), 0.3, 0.3, epochs=3)
    assert ticket.info.config["pyg_layers"]["accelerated"] == ["first", "last"]
