"""Numba kernels, each next to the torch code that computes the same without numba.

No other subpackage imports numba, and :func:`use` switches all kernels off and on.
"""

from teddy.kernels.jit import use

__all__ = ["use"]
