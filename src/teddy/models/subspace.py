"""Lower end of a spectrum: subspace iteration with a Chebyshev filter.

Unlike a Lanczos iteration from one vector it finds every copy of a multiple eigenvalue; Laplacians
of graphs have many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from teddy.errors import InputError

Array = NDArray[Any]

_RESIDUAL = 1e-8
_SWEEPS, _FEWEST, _MOST = 300, 8, 200  # of the filter, and its degrees


def block_width(count: int) -> int:
    """Return the number of iterated vectors for ``count`` pairs."""
    return count + max(8, count // 4)


def smallest_pairs(S: Any, kernel: Array, count: int) -> tuple[Array, Array]:
    """Return the smallest eigenvalues above 0 of L = I - S, and vectors, of a connected graph.

    Subspace iteration: a sweep multiplies a block of vectors with a Chebyshev polynomial of L that
    is small on :math:`[a, 2]` and grows below, then takes the best vectors of the space that they
    span. The interval begins above the wanted eigenvalues; as their mean is 1, those of a block
    that is a third of the nodes wide are below 1.5.

    Args:
        S: Sparse normalised adjacency.
        kernel: Eigenvector of 0, of length 1.
        count: Number of pairs.

    Example:
        >>> ring = 0.5 * (np.roll(np.eye(40), 1, axis=0) + np.roll(np.eye(40), -1, axis=0))
        >>> values, _ = smallest_pairs(ring, np.full(40, 40**-0.5), 2)
        >>> values.round(6)
        array([0.012312, 0.012312])
    """
    from scipy.linalg import eigh

    X = np.random.default_rng(0).standard_normal((kernel.size, block_width(count)))
    for _ in range(_SWEEPS):
        X -= np.outer(kernel, kernel @ X)
        X = np.linalg.qr(X)[0]
        LX = X - S @ X
        values, mix = eigh(X.T @ LX)
        X, LX = X @ mix, LX @ mix
        residual = LX[:, :count] - X[:, :count] * values[:count]
        if np.linalg.norm(residual, axis=0).max(initial=0) < _RESIDUAL:
            return values[:count], X[:, :count]
        last = values[count - 1]
        a = min(max(values[-1], 1.1 * last), 1.5)
        gap = max(a - last, 0.05 * a)
        degree = int(np.clip(2 / np.sqrt(gap / 2), _FEWEST, _MOST))
        X = _filtered(S, X, LX, a, degree)
    raise InputError(
        f"the {count} smallest eigenvalues of {kernel.size} nodes did not converge in {_SWEEPS} "
        f"sweeps: try fewer or more of them"
    )


def _filtered(S: Any, X: Array, LX: Array, a: float, degree: int) -> Array:
    """Multiply X by a Chebyshev polynomial of L on [a, 2], scaled to 1 at 0."""
    centre, half = (2 + a) / 2, (2 - a) / 2
    first = scale = -half / centre
    before, now = X, (LX - centre * X) * (scale / half)
    for _ in range(1, degree):
        next_scale = 1 / (2 / first - scale)
        after = S @ now
        after += (centre - 1) * now
        after *= -2 * next_scale / half
        after -= (scale * next_scale) * before
        before, now, scale = now, after, next_scale
    return now
