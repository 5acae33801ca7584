"""Edges on disk: each once, and no more of them in memory than a bucket's share."""

from itertools import pairwise

import numpy as np
import pytest

from teddy.scale import buckets
from teddy.scale.buckets import Buckets


@pytest.mark.parametrize("directed", [False, True])
def test_a_hub_is_sorted_a_part_at_a_time(tmp_path, monkeypatch, directed):
    monkeypatch.setattr(buckets, "SORTED", 1000)
    monkeypatch.setattr(buckets, "CHUNK", 700)
    leaves = np.arange(1, 30_001)
    hub = np.zeros_like(leaves)
    files = Buckets(tmp_path, 60_000, 15, directed)
    files.add(hub, leaves)
    files.add(leaves, hub)
    files.add(hub[:5], hub[:5])
    parts = list(files.unique())
    assert files.num_loops == 5
    assert files.num_edges == (60_000 if directed else 30_000)
    assert max(part.size for part in parts) < 2500
    expected = {int(t) for t in leaves} | ({int(s) << 32 for s in leaves} if directed else set())
    assert all(a < b for part in parts for a, b in pairwise(part.tolist()))
    again = np.concatenate(list(files.chunks())).tolist()
    assert len(again) == files.num_edges
    assert set(again) == expected
