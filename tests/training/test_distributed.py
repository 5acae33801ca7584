"""Several processes: the same ticket as one's, and a job that ends when one of them does."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
import traceback

import psutil
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch import nn
from torch_geometric.nn import GCNConv

import teddy
from cli.command import Started, refused, run_here, save_npz
from conftest import small_graph
from teddy.errors import InputError, ProcessError
from teddy.methods.resume import SearchFolder
from teddy.models import build_model
from teddy.training import FunctionLoader, Partitions, TrainConfig, World, seeded, train
from teddy.training.layerwise import LayerwiseAdapter


def processes(count, work, folder):
    """Run work(rank, folder) in processes that are connected; return what it returned in each."""
    multiprocessing.start_processes(
        _process, (count, work, folder), count, join=True, start_method="fork"
    )
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(count)]


def _process(rank, count, work, folder):
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    store = dist.FileStore(str(folder / "store"), count)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=count)
    try:
        result = work(rank, folder)
    except Exception as error:
        result = error
        traceback.print_exc()
    torch.save(result, folder / f"{rank}.pt")
    dist.barrier() if not isinstance(result, Exception) else None


def ticket(rank, folder, model="gcn", **settings):
    """A ticket's bytes and weights."""
    if isinstance(model, str):
        settings = {"hidden_channels": 8, **settings}
    found = teddy.find_ticket(
        small_graph(), model, 0.3, 0.3, epochs=6,
        **{"loader": Partitions(parts=8, batch=2, together=2), **settings},
    )  # fmt: skip
    found.save(folder / f"{rank}.ticket")
    weights = torch.cat([p.detach().flatten() for p in found.model.parameters()])
    return (folder / f"{rank}.ticket").read_bytes(), weights


@pytest.mark.parametrize("model", ["gcn", "gin", "gat", "unimp"])
def test_two_processes_find_the_ticket_of_one_bit_for_bit(model, tmp_path):
    """Where each has one batch of a step, sums are of two numbers: their order doesn't matter."""
    alone = ticket(9, tmp_path, model)[0]
    for found, _ in processes(2, lambda *at: ticket(*at, model), tmp_path):
        assert found == alone


def test_three_processes_find_the_ticket_of_one(tmp_path):
    settings = {"loader": Partitions(parts=8, batch=1, together=4)}
    _, alone = ticket(9, tmp_path, **settings)
    for _, weights in processes(3, lambda *at: ticket(*at, **settings), tmp_path):
        torch.testing.assert_close(weights, alone, rtol=1e-3, atol=1e-5)


class Own(nn.Module):
    """With running statistics, and a parameter that nothing depends on."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = GCNConv(12, 8), nn.BatchNorm1d(8), GCNConv(8, 3)
        self.unused = nn.Parameter(torch.ones(3))

    def forward(self, x, edge_index):
        h = nn.functional.dropout(self.norm(self.first(x, edge_index)).relu(), 0.5, self.training)
        return self.last(h, edge_index)


def test_your_own_module_learns_the_same_weights(tmp_path):
    _, alone = ticket(9, tmp_path, Own)
    one, two = processes(2, lambda *at: ticket(*at, Own), tmp_path)
    assert one[0] == two[0]
    torch.testing.assert_close(one[1], alone, rtol=1e-3, atol=1e-5)


def test_processes_share_the_evaluation(tmp_path):
    data = small_graph()
    with seeded(0):
        model = build_model("gat", 12, 3, hidden_channels=4, num_layers=3)

    def logits(*_):
        return LayerwiseAdapter(model, data.x, data.edge_index, block=7).evaluation_outputs()

    alone = logits()
    for found in processes(3, logits, tmp_path):
        assert torch.equal(found, alone)


def test_a_checkpoint_is_of_the_first_process_and_for_all(tmp_path):
    """One process begins, two resume in its folder."""
    alone = ticket(9, tmp_path)[0]
    data = small_graph()

    def begin(phase, epoch, done):
        if phase == "sparse" and epoch.index == 2:
            raise KeyboardInterrupt

    loader = Partitions(parts=8, batch=2, together=2)
    settings = {"loader": loader, "checkpoint": SearchFolder(tmp_path / "0", 0)}
    with pytest.raises(KeyboardInterrupt):
        teddy.find_ticket(
            data, "gcn", 0.3, 0.3, epochs=6, hidden_channels=8, progress=begin, **settings
        )

    def go_on(rank, folder):
        settings = {"checkpoint": SearchFolder(folder / str(rank), 0)}
        return ticket(rank, folder, **settings)

    assert [found for found, _ in processes(2, go_on, tmp_path)] == [alone, alone]
    assert not (tmp_path / "1").exists()


def test_weights_that_differ_are_an_error(tmp_path):
    def work(rank, folder):
        with seeded(rank):
            model = build_model("gcn", 12, 3, hidden_channels=8)
        loader = Partitions(parts=4, batch=1)
        return train(model, small_graph(), TrainConfig(epochs=2), loader=loader)

    for error in processes(2, work, tmp_path):
        assert isinstance(error, ProcessError)
        assert "the weights of process 1 differ from those of process 0 before" in str(error)


def test_a_process_that_is_gone_is_noticed(tmp_path):
    def work(rank, folder):
        World.current().sum_(torch.ones(1))
        if rank == 1:
            torch.save(None, folder / "1.pt")
            os._exit(0)
        for _ in range(100):
            World.current().sum_(torch.ones(1))

    error, _ = processes(2, work, tmp_path)
    assert isinstance(error, ProcessError)
    assert str(error).startswith("another process of the job has ended or does not answer (")


@pytest.mark.parametrize(
    ("loader", "message"),
    [
        (None, "2 processes need mini-batches to share, expected a loader"),
        (FunctionLoader(lambda g: [g]), "together is 1, expected at least 2: a batch for"),
    ],
)
def test_unsupported_loaders_of_several_processes_raise_a_clear_message(loader, message, tmp_path):
    def work(rank, folder):
        return ticket(rank, folder, loader=loader)

    for error in processes(2, work, tmp_path):
        assert isinstance(error, InputError)
        assert message in str(error)


COMMAND = (
    "find", "graph.npz", "--model", "gcn", "--hidden-channels", "16", "--epochs", "60",
    "--threads", "1",
    "--loader", "partitions:parts=8:batch=2",
)  # fmt: skip


OPTIONS = ("--out", "two.ticket", "--checkpoint", "job", "--checkpoint-seconds", "0")


def launch(folder):
    """A job of two processes by torchrun, at a pace at which it can be met anywhere."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone",
                "--nproc-per-node", "2", "-m", "teddy", *COMMAND, *OPTIONS]  # fmt: skip
    return subprocess.Popen(
        torchrun, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def members(job):
    """The two processes of a job, by their numbers."""
    found = [p for p in psutil.Process(job.pid).children() if "teddy" in p.cmdline()]
    return sorted(found, key=lambda p: p.environ().get("RANK", ""))


def pair(folder):
    """The same two processes, by another launcher that says no more than where they meet."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
    return [Started(*COMMAND, *OPTIONS, cwd=folder, RANK=rank, **place) for rank in "01"]


def wait_for(folder, name, process):
    """Wait until a file is there and the folder at work, then for a moment that nobody knows."""
    before = times(folder)
    while process.poll() is None and not ((folder / name).exists() and times(folder) != before):
        time.sleep(0.01)
    time.sleep(random.random() / 2)


def times(folder):
    """When each file of a checkpoint was written; it may go while it is looked at."""
    try:
        return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    except FileNotFoundError:
        return {}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sends signals as Linux has them")
def test_a_job_killed_anywhere_resumes_to_the_same_ticket(tmp_path):
    save_npz(tmp_path / "graph.npz")
    state = tmp_path / "job" / "seed-0"
    job = launch(tmp_path)
    wait_for(state, "training-dense.safetensors", job)
    if job.poll() is None and len(members(job)) == 2:
        members(job)[1].kill()
        _, errors = job.communicate(timeout=60)
        assert job.returncode != 0
        assert "with --checkpoint the same command resumes" in errors
    else:
        job.communicate(timeout=60)
    first, second = pair(tmp_path)
    wait_for(state, "dense.safetensors", first)
    both = first.poll() is None and second.poll() is None
    first.kill()
    first.communicate(timeout=60)
    _, errors = second.communicate(timeout=60)
    if both and not (tmp_path / "two.ticket").exists():  # they were at work
        assert second.returncode != 0
        assert "with --checkpoint the same command resumes" in errors
    for process in pair(tmp_path):
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert run_here(*COMMAND, "--out", "one.ticket", cwd=tmp_path).returncode == 0
    assert (tmp_path / "one.ticket").read_bytes() == (tmp_path / "two.ticket").read_bytes()


def test_the_command_line_prints_a_clear_message(tmp_path):
    save_npz(tmp_path / "graph.npz")
    line = refused(run_here("find", "graph.npz", "--loader", "metis", cwd=tmp_path))
    assert line.startswith("teddy: unknown loader 'metis', expected one of: partitions, ")
