"""The one exception for input that can't be used."""


class InputError(ValueError):
    """What came in can't be used; the message is one line: what came, what was expected.

    The command line prints it as it is and exits with code 2.
    """
