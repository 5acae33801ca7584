"""Free memory under each kind of limit."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from teddy import machine


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [("max", "5", 1000), ("600", "200", 400), ("2000", "500", 1000), ("300", "500", 0)],
)
def test_the_limit_of_a_container(tmp_path, monkeypatch, limit, used, expected):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text(f"{used}\n")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert machine.free_memory() == expected


def test_without_a_container(tmp_path, monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=1000))
    monkeypatch.setattr(machine, "_CGROUP", tmp_path / "nowhere")
    assert machine.free_memory() == 1000


def test_the_peak_of_memory_is_reset():
    """A list of 80 MB that is gone again, and what came after it."""
    if machine.peak_memory() is None:
        pytest.skip("the system doesn't tell")
    machine.reset_peak_memory()
    before = machine.peak_memory()
    taken = bytearray(80_000_000)
    taken[::4096] = b"1" * len(taken[::4096])
    del taken
    assert machine.peak_memory() - before > 60_000_000
    machine.reset_peak_memory()
    assert machine.peak_memory() - before < 60_000_000


def test_an_interrupt_in_a_finaliser_is_delivered(monkeypatch):
    class Finalised:
        def __del__(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    machine.keep_interrupts()
    hook = sys.unraisablehook
    machine.keep_interrupts()
    assert sys.unraisablehook is hook
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        Finalised()
        time.sleep(0.1)
