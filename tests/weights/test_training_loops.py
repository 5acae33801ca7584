"""``L0Projected`` in the training loops that people write."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch_geometric.nn import GCN

import teddy
from conftest import small_graph

SPARSITY = 0.75


def net():
    torch.manual_seed(0)
    return GCN(12, 16, 2, 3)


def matrices(module):
    return [p for p in module.parameters() if p.dim() > 1]


def kept(module):
    return sum(int(torch.count_nonzero(p)) for p in matrices(module))


def budget(module):
    """Weights that remain of the matrices: a quarter."""
    return round((1 - SPARSITY) * sum(p.numel() for p in matrices(module)))


def run(module, optimizer, steps=6, forward=None, backward=None, step=None):
    """Train; return the losses."""
    data, losses = small_graph(), []
    for _ in range(steps):
        optimizer.zero_grad()
        z = (module if forward is None else forward)(data.x, data.edge_index)
        loss = F.cross_entropy(z[data.train_mask].float(), data.y[data.train_mask])
        (backward or torch.Tensor.backward)(loss)
        (step or optimizer.step)()
        losses.append(float(loss.detach()))
    return losses


def projected(module, make=torch.optim.AdamW, **options):
    return teddy.L0Projected(make(module.parameters(), lr=0.02), SPARSITY, **options)


@pytest.mark.parametrize(
    "make", [torch.optim.AdamW, torch.optim.SGD, torch.optim.NAdam, torch.optim.RAdam]
)
def test_optimizers(make):
    module = net()
    losses = run(module, projected(module, make))
    assert kept(module) == budget(module)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.05, total_steps=6),
        lambda o: torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(o, 3),
        lambda o: torch.optim.lr_scheduler.SequentialLR(o, [
            torch.optim.lr_scheduler.LinearLR(o), torch.optim.lr_scheduler.ExponentialLR(o, 0.9),
        ], milestones=[2]),
    ],
)  # fmt: skip
def test_schedulers(make, recwarn):
    module = net()
    optimizer = projected(module)
    scheduler, rates = make(optimizer), []

    def step():
        optimizer.step()
        scheduler.step()
        rates.append(optimizer.optimizer.param_groups[0]["lr"])

    run(module, optimizer, step=step)
    assert len(set(rates)) > 2
    assert kept(module) == budget(module)
    assert not [w for w in recwarn if "lr_scheduler" in str(w.message)]


def test_clipped_gradients_are_those_of_the_step():
    module, plain = net(), net()
    optimizer, other = projected(module, torch.optim.SGD), torch.optim.SGD(plain.parameters(), 0.02)
    for network, used in ((module, optimizer), (plain, other)):

        def step(network=network, used=used):
            norm = nn.utils.clip_grad_norm_(network.parameters(), 1e-3)
            assert norm > 1e-3
            used.step()

        run(network, used, steps=1, step=step)
    assert kept(module) == budget(module)
    for p, q in zip(matrices(module), matrices(plain), strict=True):
        assert torch.equal(p[p != 0], q[p != 0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_mixed_precision(dtype):
    module = net()
    optimizer, scaler = projected(module), torch.amp.GradScaler("cpu", enabled=dtype == torch.half)

    def forward(x, edge_index):
        with torch.autocast("cpu", dtype=dtype):
            return module(x, edge_index)

    def step():
        scaler.step(optimizer)
        scaler.update()

    losses = run(module, optimizer, 8, forward, lambda loss: scaler.scale(loss).backward(), step)
    assert losses[-1] < losses[0]
    assert kept(module) == budget(module)
    assert all(p.dtype == torch.float32 for p in module.parameters())


def test_a_step_that_the_scaler_skips_changes_nothing():
    module = net()
    optimizer, scaler = projected(module), torch.amp.GradScaler("cpu")
    before = [p.clone() for p in module.parameters()]
    run(module, optimizer, 1, backward=lambda loss: scaler.scale(loss * torch.inf).backward(),
        step=lambda: scaler.step(optimizer))  # fmt: skip
    assert all(map(torch.equal, module.parameters(), before))


def test_a_compiled_module():
    module = net()
    optimizer = projected(module)
    losses = run(module, optimizer, forward=torch.compile(module, backend="eager"))
    assert losses[-1] < losses[0]
    assert kept(module) == budget(module)


def test_distributed_data_parallel(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        module, plain = net(), net()
        losses = run(module, projected(module), forward=DistributedDataParallel(module))
        expected = run(plain, projected(plain))
    finally:
        dist.destroy_process_group()
    assert losses == pytest.approx(expected, rel=1e-5)
    assert kept(module) == kept(plain) == budget(module)


def test_groups_exclusions_and_a_schedule_together():
    module = net()
    first, last = module.convs
    adam = torch.optim.AdamW([
        {"params": list(first.parameters()), "sparsity": 0.5},
        {"params": list(last.parameters()), "weight_decay": 0.1},
    ], lr=0.02)  # fmt: skip
    optimizer = teddy.L0Projected(
        adam, SPARSITY, model=module, exclude=["convs.1.*"], schedule="cubic", ramp_steps=4
    )
    shares = []

    def step():
        optimizer.step()
        shares.append(float((first.lin.weight == 0).float().mean()))

    run(module, optimizer, step=step)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(0.5)
    assert bool((last.lin.weight != 0).all())


def test_gradients_summed_over_several_batches():
    module = net()
    optimizer, data = projected(module), small_graph()
    for part in data.train_mask.nonzero().flatten().split(4):
        F.cross_entropy(module(data.x, data.edge_index)[part], data.y[part]).backward()
    optimizer.step()
    assert kept(module) == budget(module)
