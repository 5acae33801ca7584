from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from teddy.training.memory import _glibc, keep_freed_memory

needs_glibc = pytest.mark.skipif(_glibc() is None, reason="glibc only")


def faults(rounds: int) -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        torch.empty(16 << 20).fill_(1.0)  # 64 MiB: larger than what glibc keeps by itself
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@needs_glibc
def test_freed_memory_is_kept_within_and_given_back_after():
    with keep_freed_memory():
        faults(3)
        assert faults(5) < 1000
    assert faults(2) > 10_000


@needs_glibc
def test_an_error_within_gives_it_back_too():
    with pytest.raises(ValueError, match="inside"), keep_freed_memory():
        raise ValueError("inside")
    assert faults(2) > 10_000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_find_stays_small():
    """One seed of the default command; most of it is torch itself."""
    code = (
        "import pathlib, teddy\n"
        "teddy.find_ticket(teddy.load_dataset('citeseer'), epochs=5)\n"
        "print(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 800_000  # KiB
