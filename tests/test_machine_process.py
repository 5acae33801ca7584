"""Each test in a separate process, since the heap depends on earlier allocations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.command import run_forked
from teddy.machine import _glibc

needs_glibc = pytest.mark.skipif(_glibc() is None, reason="glibc only")

FAULTS = """
import resource
import torch
from teddy.machine import keep_freed_memory

def faults(rounds):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        torch.empty(16 << 20).fill_(1.0)  # 64 MiB: larger than what glibc keeps by itself
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
"""


def run(code: str) -> list[int]:
    """Run a program; return the numbers that it prints."""
    return numbers_of(run_forked(code=code))


def numbers_of(done) -> list[int]:
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


@needs_glibc
def test_freed_memory_is_kept_within_and_given_back_after():
    code = "with keep_freed_memory():\n    faults(10)\n    print(faults(5))\nprint(faults(2))"
    within, after = run(FAULTS + code)
    assert within < 1000
    assert after > 10_000


@needs_glibc
def test_an_error_within_gives_it_back_too():
    code = (
        "try:\n    with keep_freed_memory():\n        1 / 0\n"
        "except ZeroDivisionError:\n    print(faults(2))"
    )
    assert run(FAULTS + code)[0] > 10_000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_peak_memory_of_find():
    """One seed of the default command; most of it is torch itself."""
    code = (
        "import pathlib, teddy\n"
        "teddy.find_ticket(teddy.load_dataset('citeseer'), epochs=5)\n"
        "print(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
    )
    # From its start: what a process forks has the peak that it had itself.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert numbers_of(done)[0] < 800_000  # KiB
