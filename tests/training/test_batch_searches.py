"""Searches in mini-batches give the same ticket after interruptions and in two processes."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.loader import DataLoader, ImbalancedSampler

import teddy
from teddy.methods.resume import SearchFolder
from teddy.training import FunctionLoader
from training.batch_kinds import KINDS, PARTS, model_of, settings_of, steps, weighted
from training.test_distributed import processes


def find(kind, path, loader=None, **settings):
    data, *_, several = KINDS[kind]
    ticket = teddy.find_ticket(
        data(), model_of(kind), 0.3, 0.3, loader=several if loader is None else loader,
        **settings_of(kind, **settings),
    )  # fmt: skip
    ticket.save(path)
    return ticket, path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_search_gives_the_same_ticket(kind, tmp_path):
    torch.manual_seed(7)  # has no effect
    ticket, first = find(kind, tmp_path / "first")
    torch.manual_seed(8)
    _, second = find(kind, tmp_path / "second")
    assert first == second
    assert ticket.evaluate(KINDS[kind][0]())["test"] == pytest.approx(ticket.info.ticket.test)


@pytest.mark.parametrize("kind", ["graphs gcn", "links gcn", "directed gcn", "hetero"])
def test_two_processes_find_the_ticket_of_one(kind, tmp_path):
    loader = KINDS[kind][4]
    if not isinstance(loader, str):
        loader = FunctionLoader(loader, together=2)
    _, alone = find(kind, tmp_path / "9", loader)

    def work(rank, folder):
        return find(kind, folder / str(rank), loader)[1]

    assert processes(2, work, tmp_path) == [alone, alone]


class EndedError(Exception):
    pass


@pytest.mark.parametrize("kind", ["graphs bonds", "links gcn", "weights gcn"])
def test_a_search_that_was_ended_gives_the_same_ticket(kind, tmp_path):
    _, expected = find(kind, tmp_path / "whole")
    for phase, index in (("dense", 1), ("sparse", 2)):

        def end(at, epoch, done, phase=phase, index=index):
            if (at, epoch.index) == (phase, index):
                raise EndedError

        folder = SearchFolder(tmp_path / "c", 0.0)
        with pytest.raises(EndedError):
            find(kind, tmp_path / "x", checkpoint=folder, progress=end)
    assert find(kind, tmp_path / "x", checkpoint=tmp_path / "c")[1] == expected


def test_an_inductive_training_takes_weights_in_batches():
    data = weighted()
    ticket = teddy.find_ticket(
        data, "sage", 0.3, 0.3, epochs=3, hidden_channels=8, inductive=True, loader=PARTS
    )
    assert ticket.evaluate(data)["test"] == pytest.approx(ticket.info.ticket.test)


def test_a_graph_that_is_drawn_twice_counts_twice():
    def twice(graphs):
        torch.manual_seed(0)
        sampler = ImbalancedSampler(torch.cat([graph.y for graph in graphs]), num_samples=60)
        return DataLoader(graphs, batch_size=30, sampler=sampler)

    gradients, _, _, _ = steps("graphs gcn", twice)
    assert len(gradients) == 6


def test_one_graph_at_a_time_needs_no_batch():
    gradients, _, _, _ = steps("graphs own", lambda graphs: graphs)
    assert len(gradients) == 3 * 24
