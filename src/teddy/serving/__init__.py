"""Answers for a few nodes at a time, computed from their neighbourhoods alone.

A :class:`Server` holds a network and a graph that may change, and equals a pass over all of it.
"""

from teddy.serving.server import Server

__all__ = ["Server"]
