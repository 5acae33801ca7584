"""Exceptions and warnings, each with a message of one line."""

import warnings


class InputError(ValueError):
    """Invalid input; the message names the value, what was expected, and the remedy.

    The command line prints the message and exits with code 2.
    """


class ProcessError(RuntimeError):
    """Processes of one job lost their connection, or run with different settings."""


class TeddyWarning(UserWarning):
    """Warning about a result that may mislead; the message names the remedy.

    The command line prints it to stderr and continues.
    """


def warn(message: str) -> None:
    """Issue a :class:`TeddyWarning`."""
    warnings.warn(message, TeddyWarning, stacklevel=2)
