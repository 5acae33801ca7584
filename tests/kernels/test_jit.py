from __future__ import annotations

import gc

import torch

from teddy.kernels.jit import _memory, empty, reused

LIKE = torch.zeros(0)


def test_memory_is_used_again_only_when_no_tensor_needs_it():
    with reused():
        first = empty(1024, 1024, LIKE).fill_(1)
        view = first[:2]
        place = first.data_ptr()
        del first
        second = empty(1024, 1024, LIKE).fill_(2)
        assert second.data_ptr() != place  # a view needs it
        assert bool((view == 1).all())
        del view
        assert empty(1000, 1000, LIKE).data_ptr() == place


def test_tensors_saved_by_autograd_are_not_reused():
    weight = torch.ones(1024, requires_grad=True)
    with reused():
        x = empty(1024, 1024, LIKE).fill_(3)
        loss = (x * weight).sum()
        del x
        empty(1024, 1024, LIKE).fill_(7)
        loss.backward()
    assert weight.grad.unique().tolist() == [3 * 1024]


def test_rows_begin_at_a_cache_line_and_types_are_kept():
    with reused():
        for dtype in (torch.float32, torch.float64):
            array = empty(700, 900, torch.zeros(0, dtype=dtype))
            assert array.dtype == dtype
            assert array.shape == (700, 900)
            assert array.data_ptr() % 64 == 0
            assert array.is_contiguous()


def test_tensors_outlive_the_context():
    with reused():
        array = empty(1024, 1024, LIKE).fill_(5)
    gc.collect()
    with reused():
        empty(1024, 1024, LIKE).fill_(6)
    assert bool((array == 5).all())


def test_nothing_is_kept_for_a_tensor_that_is_left():
    with reused():
        left, gone = empty(1024, 1024, LIKE), empty(1024, 1024, LIKE)
        del gone
        blocks = _memory.free[1 << 22]
        assert len(blocks) == 1
    assert blocks == []
    assert left.shape == (1024, 1024)
