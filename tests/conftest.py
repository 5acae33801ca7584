"""What the tests share: real graphs, tiny graphs, a reference of the paper's equations."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

settings.register_profile(
    "shared-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.register_profile("quick", settings.get_profile("shared-machine"), max_examples=30)

#: Models whose layers pass messages: those whose edges can have weights.
LAYERED = ("gcn", "gat", "gin", "sage", "unimp")


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples where the slow tests are left out."""
    quick = getattr(config.option, "markexpr", "") == "not slow"
    settings.load_profile("quick" if quick else "shared-machine")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start each process of pytest-xdist with long tests, so that none is left for the end.

    Long tests of one file stay together and share their fixtures.
    """
    processes = getattr(config, "workerinput", {}).get("workercount", 0)
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("long"):
            files.setdefault(item.path, []).append(item)
    long_tests = list(files.values())
    short = iter([item for item in items if not item.get_closest_marker("long")])
    ordered: list[pytest.Item] = []
    for number in range(processes):
        share = [item for tests in long_tests[number::processes] for item in tests]
        size = (len(items) - len(ordered)) // (processes - number)
        ordered += [*share, *islice(short, max(size - len(share), 0))]
    items[:] = [*ordered, *short] if processes else items


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Programs that tests start can be interrupted, even if this one, in the background, can't."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def seeding_of_missing_devices() -> None:
    """Seed no device that is missing: torch formats the whole stack for each of these calls."""
    for device in (torch.cuda, torch.xpu, torch.mtia):
        if not device.is_available():
            device.manual_seed_all = lambda seed: None


@pytest.fixture(scope="session", autouse=True)
def no_width() -> None:
    """Tables in pipes are as wide as they need; pytest-xdist sets a width."""
    os.environ.pop("COLUMNS", None)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the user's cache."""
    os.environ["TEDDY_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of raw data sets beside the repository, where there is one."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not (folder / "planetoid").is_dir():
        pytest.skip("no ../shared/data with raw Planetoid files")
    return folder


@pytest.fixture(scope="session")
def citeseer() -> Data:
    import teddy

    return teddy.load_dataset("citeseer")


def small_graph(seed: int = 0, nodes: int = 40, features: int = 12, classes: int = 3) -> Data:
    """A small random graph with labels that its features tell."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, nodes)
    y[:classes] = range(classes)
    x = rng.random((nodes, features)) * (rng.random((nodes, features)) < 0.4)
    x[np.arange(nodes), y] += 1.0
    edges = rng.integers(0, nodes, (2, 3 * nodes))
    friend = rng.random(3 * nodes) < 0.8  # most edges join nodes of one class
    edges[1] = np.where(friend, [rng.choice(np.flatnonzero(y == c)) for c in y[edges[0]]], edges[1])
    part = np.arange(nodes) % 3
    part[:classes] = 0
    return Data(
        x=torch.tensor(x, dtype=torch.float32),
        edge_index=torch.tensor(np.concatenate([edges, edges[::-1]], axis=1)),
        y=torch.tensor(y),
        train_mask=torch.tensor(part == 0),
        val_mask=torch.tensor(part == 1),
        test_mask=torch.tensor(part == 2),
    )


@st.composite
def edge_lists(draw: st.DrawFn, max_nodes: int = 12) -> tuple[torch.Tensor, int]:
    """An edge_index with self-loops, duplicates and both directions as they come, and N."""
    num_nodes = draw(st.integers(1, max_nodes))
    node = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=4 * max_nodes))
    return torch.tensor(edges, dtype=torch.long).reshape(-1, 2).t(), num_nodes


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB; needs the right to mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no right to mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
