import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stnp
from scipy.sparse import csr_matrix

from teddy.data.features import compact, csr_tensor, normalise_rows, take_rows

matrices = stnp.arrays(
    np.float32,
    stnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.sampled_from([0.0, 0.0, 0.0, 0.0, 1.0, 0.25, 3.0]),
)


@given(matrices)
def test_compact_keeps_the_values_and_chooses_by_density(matrix):
    dense = torch.from_numpy(matrix)
    sparse = np.count_nonzero(matrix) < matrix.size / 4
    for x in (dense, csr_tensor(csr_matrix(matrix))):
        out = compact(x)
        assert out.layout == (torch.sparse_csr if sparse else torch.strided)
        assert torch.equal(out.to_dense(), dense)


@given(matrices)
def test_rows_sum_to_one_or_zero(matrix):
    normal = normalise_rows(csr_matrix(matrix)).toarray()
    assert normal.dtype == np.float32
    sums = matrix.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(normal, matrix / np.where(sums > 0, sums, 1), rtol=1e-6)


def test_stored_zeros_and_duplicates_do_not_count():
    x = torch.sparse_csr_tensor(
        torch.tensor([0, 3]),
        torch.tensor([0, 1, 2]),
        torch.tensor([0.0, 2.0, 0.0]),
        size=(1, 9),
        check_invariants=True,
    )
    out = compact(x)
    assert out.values().tolist() == [2.0]
    assert out.col_indices().dtype == torch.int64


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_input_that_requires_gradients(layout):
    x = torch.eye(2, requires_grad=True)
    out = compact(x if layout == "dense" else x.to_sparse_csr())
    assert not out.requires_grad


@given(matrices, st.lists(st.integers(0, 5)))
def test_rows_are_taken_in_any_order_and_number(matrix, index):
    rows = torch.tensor([i % len(matrix) for i in index], dtype=torch.long)
    for x in (torch.from_numpy(matrix), csr_tensor(csr_matrix(matrix))):
        assert torch.equal(take_rows(x, rows).to_dense(), torch.from_numpy(matrix)[rows])
