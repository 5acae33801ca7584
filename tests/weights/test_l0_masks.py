from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import teddy
from teddy.weights import FixedMask, largest_entries

numbers = st.sampled_from([0.0, 0.5, 1.0, 2.0, -float("inf")])


@given(
    parts=st.lists(st.lists(numbers, max_size=6), min_size=1, max_size=4),
    share=st.floats(0, 1),
)
def test_the_largest_are_exactly_as_many_and_not_smaller_than_the_others(parts, share):
    tensors = [torch.tensor(part) for part in parts]
    flat = np.concatenate([np.array(part) for part in parts])
    count = round(share * flat.size)
    marked = np.concatenate([mask.numpy() for mask in largest_entries(tensors, count)])
    # Written out: a stable sort from the largest down, ties in the order they come.
    expected = np.zeros(flat.size, dtype=bool)
    expected[np.argsort(-flat, kind="stable")[:count]] = True
    assert np.array_equal(marked, expected)


def test_shapes_are_kept():
    masks = largest_entries([torch.arange(6.0).view(2, 3), torch.tensor(9.0)], 2)
    assert [mask.shape for mask in masks] == [(2, 3), ()]
    assert masks[0].tolist() == [[False, False, False], [False, False, True]]


def test_impossible_counts_and_nan_are_errors():
    with pytest.raises(teddy.InputError, match="count must be from 0 to 2, got 3"):
        largest_entries([torch.zeros(2)], 3)
    with pytest.raises(teddy.InputError, match="magnitudes contain nan"):
        largest_entries([torch.tensor([float("nan"), 1.0])], 1)


def test_a_fixed_mask_after_every_step_is_training_under_the_mask():
    torch.manual_seed(0)
    start, target = torch.randn(8, dtype=torch.float64), torch.randn(8, dtype=torch.float64)
    mask = torch.tensor([True, False] * 4)

    projected = torch.nn.Parameter(start * mask)
    adam = torch.optim.Adam([projected], lr=0.1, weight_decay=1e-2)
    keep = FixedMask([projected], [mask])
    masked = torch.nn.Parameter(start.clone())
    other = torch.optim.Adam([masked], lr=0.1, weight_decay=1e-2)
    for _ in range(30):
        for weights, optimizer in ((projected, adam), (masked * mask, other)):
            optimizer.zero_grad()
            (weights - target).square().sum().backward()
            optimizer.step()
        keep()
    assert torch.equal(projected[mask], masked[mask])
    assert not projected[~mask].any()
