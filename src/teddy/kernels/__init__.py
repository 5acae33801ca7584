"""Numba kernels, each beside the torch code that computes the same without numba.

Nothing else imports numba, and :func:`use` switches all kernels off and on.
"""

from teddy.kernels.jit import use

__all__ = ["use"]
