"""The exceptions that are one line to a user."""


class InputError(ValueError):
    """What came in can't be used; the message is one line: what came, what was expected.

    The command line prints it as it is and exits with code 2.
    """


class ProcessError(RuntimeError):
    """Processes of one job have lost each other, or compute different things."""
