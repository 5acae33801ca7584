"""Exceptions and warnings that are one line to a user."""

import warnings


class InputError(ValueError):
    """What came in can't be used; the message is one line: what came, what was expected.

    The command line prints it as it is and exits with code 2.
    """


class ProcessError(RuntimeError):
    """Processes of one job have lost each other, or compute different things."""


class TeddyWarning(UserWarning):
    """A result that may not be what the user thinks; the message is one line with the remedy.

    The command line prints it to stderr and goes on.
    """


def warn(message: str) -> None:
    """Issue a :class:`TeddyWarning`.

    Example:
        >>> with warnings.catch_warnings(record=True) as seen:
        ...     warnings.simplefilter("always")
        ...     warn("the graph has no edges")
        >>> seen[0].category.__name__, str(seen[0].message)
        ('TeddyWarning', 'the graph has no edges')
    """
    warnings.warn(message, TeddyWarning, stacklevel=2)
