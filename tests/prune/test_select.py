"""The md5 of pairs: those of hashlib, whether compiled or not."""

import hashlib

import numpy as np
import pytest

from teddy import kernels
from teddy.prune import select


@pytest.mark.parametrize("few", [0, 10**6])
@pytest.mark.parametrize("enabled", [False, True])
@pytest.mark.parametrize("prefix", ["", "7:", "x" * 100])
def test_arrays_as_lists(monkeypatch, few, enabled, prefix):
    monkeypatch.setattr(select, "_FEW", few)
    lows = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 500)
    highs = np.concatenate([[0, 9, 10, -1, -(2**63), 2**63 - 1], lows[6:] % 100_000])
    expected = [
        hashlib.md5(f"{prefix}{low}-{high}".encode()).hexdigest().encode()
        for low, high in zip(lows.tolist(), highs.tolist(), strict=True)
    ]
    with kernels.use(enabled):
        assert select.pair_digests(lows, highs, prefix).tolist() == expected
        assert select.pair_digests(lows.tolist(), highs.tolist(), prefix).tolist() == expected
