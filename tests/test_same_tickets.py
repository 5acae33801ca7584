"""The comparison of two checkouts sees what differs, and nothing else."""

from __future__ import annotations

from tools import same_tickets

import teddy
from conftest import small_graph


def test_tickets_that_differ_are_named(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    for place, seed in ((old, 0), (new, 1)):
        (place / "on").mkdir(parents=True)
        for name, own in (("same", 0), ("other", seed)):
            ticket = teddy.find_ticket(
                small_graph(), "gcn", 0.4, 0.5, epochs=2, hidden_channels=8, seed=own
            )
            ticket.save(place / "on" / f"{name}.ticket")
        (place / "on" / "a.txt").write_text("refused\n")
        (place / "on" / "b.json").write_text(f'{{\n "seed": {seed}\n}}\n')
    (new / "on" / "c.txt").write_text("refused\n")
    first, second, third = same_tickets.compare(old, new)
    assert first == 'on/b.json: "seed": 0 -> "seed": 1'
    assert second == "on/c.txt: only in NEW"
    assert third.startswith("on/other.ticket: TENSORS DIFFER; header: info.")
    assert "info.seed" in third
    assert same_tickets.compare(old, old) == []


def test_every_case_has_a_distinct_name():
    names = [name for name, _, _ in same_tickets.cases()]
    assert len(names) == len(set(names)) > 60


def test_times_and_places_are_not_compared():
    found = {"seconds": {"dense": 1.0}, "test": [{"peak_memory": 3, "acc": 1}], "ticket_file": "a"}
    assert same_tickets._compared(found) == {"test": [{"acc": 1}]}
