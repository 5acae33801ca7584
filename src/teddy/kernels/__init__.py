"""Numba kernels, each beside the torch code that computes the same without numba.

Nothing else imports numba, and :func:`use` switches all kernels off and on.
"""

from __future__ import annotations

__all__ = ["use"]


class use:  # noqa: N801 - a verb, called like a function
    """Switch the compiled kernels on or off; as a context manager, for the block only.

    Without kernels torch computes the same, slower. ``TEDDY_KERNELS=off`` in the environment
    switches them off for the process, and then they cannot be switched on.

    Args:
        enabled: Whether to use them, where numba is installed.

    Example:
        >>> import teddy.kernels
        >>> from teddy.kernels import jit
        >>> with teddy.kernels.use(False):
        ...     jit.numba is None
        True
    """

    def __init__(self, enabled: bool) -> None:
        from teddy.kernels import jit

        self._before = jit.numba
        jit.numba = jit.installed if enabled else None

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        from teddy.kernels import jit

        jit.numba = self._before
