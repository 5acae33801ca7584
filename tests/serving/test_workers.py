"""Processes of the HTTP service: one port, killed workers, signals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import torch

import teddy
from conftest import small_graph
from teddy.serving.workers import listen

pytest.importorskip("fastapi")
pytest.importorskip("prometheus_client")


def ask(port, path, content=None):
    data = None if content is None else json.dumps(content).encode()
    made = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=data)
    made.add_header("content-type", "application/json")
    with urllib.request.urlopen(made, timeout=10) as answer:
        return json.load(answer)


@pytest.fixture
def service(tmp_path):
    """A real service of two processes."""
    data = small_graph()
    ticket = teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8)
    ticket.save(tmp_path / "a.ticket")
    torch.save(data, tmp_path / "data.pt")
    command = [sys.executable, "-m", "teddy", "serve", "a.ticket", "data.pt"]
    command += ["--port", "0", "--workers", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    while line and "http://" not in line:
        line = process.stderr.readline()
    yield process, int(line.rpartition(":")[2]), ticket.predict(data), tmp_path
    process.kill()
    process.wait()


def test_a_service_of_two_processes(service):
    process, port, expected, folder = service
    found = ask(port, "/predict", {"nodes": list(range(40))})["predictions"]
    assert [int(value) for value in found] == expected.tolist()
    children = subprocess.run(
        ["ps", "--ppid", str(process.pid), "-o", "pid="], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(children) == 2
    os.kill(int(children[0]), signal.SIGKILL)
    assert "started again" in process.stderr.readline()
    stop = time.monotonic() + 60
    answered = 0
    while answered < 10 and time.monotonic() < stop:
        try:
            answered += ask(port, "/health") == {"status": "ok"}
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    assert answered == 10
    busy = subprocess.run(
        [sys.executable, "-m", "teddy", "serve", "a.ticket", "data.pt", "--port", str(port)],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert busy.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in busy.stderr.splitlines()[-1]
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", port)) != 0


def test_answers_do_not_wait_for_acknowledgements():
    listener = listen("127.0.0.1", 0)
    delays = []

    async def note(reader, writer):
        connection = writer.get_extra_info("socket")
        delays.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0)
        writer.close()

    async def connect():
        async with await asyncio.start_server(note, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            await reader.read()
            writer.close()

    asyncio.run(connect())
    assert delays == [False]


PARENT = """
import os, sys, time
from teddy.serving import workers
def serve(make_app, listener):
    print(os.getpid(), flush=True)
    time.sleep(60)
workers._serve = serve
workers.run(None, None, int(sys.argv[1]))
"""


def parent(count):
    """A parent whose workers sleep, and their process ids."""
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(count)], stdout=subprocess.PIPE, text=True
    )
    return process, [int(process.stdout.readline()) for _ in range(count)]


def is_running(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_workers_end_with_a_killed_parent():
    process, workers = parent(2)
    process.kill()
    process.wait()
    stop = time.monotonic() + 20
    while workers and time.monotonic() < stop:
        workers = [worker for worker in workers if is_running(worker)]
        time.sleep(0.05)
    assert workers == []


def test_workers_that_fail_at_once_end_the_service():
    script = PARENT.replace("    time.sleep(60)", "    raise OSError('no room')")
    script = script.replace("workers._serve =", "workers._SHORT_LIFE = 0.01\nworkers._serve =")
    done = subprocess.run(
        [sys.executable, "-c", script, "2"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert "a worker failed (OSError: no room)" in done.stderr
    assert done.stderr.strip().endswith("workers end as soon as they start, see the errors above")


@pytest.mark.parametrize(("count", "number"), [(1, signal.SIGTERM), (2, signal.SIGINT)])
def test_a_signal_ends_all_with_success(count, number):
    process, _ = parent(count)
    process.send_signal(number)
    assert process.wait(timeout=20) == 0
