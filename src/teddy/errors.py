"""Exceptions and warnings that are one line to a user."""

import warnings


class InputError(ValueError):
    """Unusable input; the message is one line: what was given, what was expected.

    The command line prints it as it is and exits with code 2.
    """


class ProcessError(RuntimeError):
    """Processes of one job lost their connection, or compute different things."""


class TeddyWarning(UserWarning):
    """A result that may mislead; the message is one line with the remedy.

    The command line prints it to stderr and goes on.
    """


def warn(message: str) -> None:
    """Issue a :class:`TeddyWarning`."""
    warnings.warn(message, TeddyWarning, stacklevel=2)
