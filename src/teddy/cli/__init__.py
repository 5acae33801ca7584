"""The command line ``teddy``, with one file for each command.

A command imports torch and the other heavy packages when it runs, so that ``--help`` is quick.
"""

from teddy.cli.app import main

__all__ = ["main"]
