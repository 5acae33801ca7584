"""One server in several threads and processes."""

from __future__ import annotations

import os
import pickle
import threading
import time

import torch

from serving.test_answers import close, graph, masked_model
from teddy.serving import Server


def make_server():
    edges, x, _ = graph(3, num_nodes=400, num_edges=1500)
    return Server(masked_model("gcn", 2), x, edges.edge_index)


def in_threads(work, seconds, count=8):
    """Run a function again and again in several threads; return what went wrong, and the calls."""
    wrong, calls, stop = [], [0] * count, time.monotonic() + seconds

    def run(number):
        generator = torch.Generator().manual_seed(number)
        try:
            while time.monotonic() < stop:
                work(generator)
                calls[number] += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong, sum(calls)


def test_eight_threads_give_the_answers_of_one():
    server = make_server()
    reference = server.logits(torch.arange(400))

    def ask(generator):
        nodes = torch.randint(400, (int(torch.randint(1, 60, (1,), generator=generator)),))
        assert torch.equal(server.logits(nodes), reference[nodes])

    wrong, calls = in_threads(ask, seconds=2)
    assert wrong == []
    assert calls > 100


def test_answers_during_changes_are_of_before_or_after():
    server = make_server()
    edge = torch.tensor([[0, 1, 2], [399, 398, 397]])
    before = server.logits([0, 1, 2])
    server.add_edges(edge)
    after = server.logits([0, 1, 2])
    assert not torch.allclose(before, after)

    def ask(generator):
        if torch.rand(1, generator=generator) < 0.2:
            if torch.rand(1, generator=generator) < 0.5:
                server.add_edges(edge)
            else:
                server.remove_edges(edge)
        found = server.logits([0, 1, 2])
        assert torch.allclose(found, before, atol=1e-5) or torch.allclose(found, after, atol=1e-5)

    wrong, calls = in_threads(ask, seconds=2)
    assert wrong == []
    assert calls > 50


def test_a_pickled_server_answers_alike():
    server = make_server()
    again = pickle.loads(pickle.dumps(server))
    assert torch.equal(again.logits([5, 7]), server.logits([5, 7]))
    again.add_edges(torch.tensor([[5], [7]]))
    assert repr(again) != repr(server)


def test_a_forked_process_answers_though_another_thread_held_the_lock():
    server = make_server()
    expected = server.logits([1, 2])
    held, release = threading.Event(), threading.Event()

    def hold():
        with server._lock.writing():
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if torch.equal(server.logits([1, 2]), expected) else 1)
    _, status = os.waitpid(child, 0)
    release.set()
    thread.join()
    assert status == 0
    close(server.logits([1, 2]), expected)
