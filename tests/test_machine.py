"""What memory there is, by whatever sets the limit."""

from __future__ import annotations

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
