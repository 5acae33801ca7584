"""The command ``teddy``: one file a command.

May import every room. Heavy imports wait until a command runs.
"""

from teddy.cli.app import main

__all__ = ["main"]
