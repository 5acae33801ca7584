"""Methods that find tickets, a file each: TEDDY, UGS, WD-GLT, every edge score, and auto.

Each takes a :class:`Problem` and sparsity levels, and yields a ticket for each level.
"""

from teddy.methods import auto, scores, teddy, ugs, wd_glt
from teddy.methods.find import find_ticket
from teddy.methods.make_problem import make_problem
from teddy.methods.method import METHODS, Method, method
from teddy.methods.problem import Problem
from teddy.methods.sparsity_level import SparsityLevel

__all__ = [
    "METHODS",
    "Method",
    "Problem",
    "SparsityLevel",
    "auto",
    "find_ticket",
    "make_problem",
    "method",
    "scores",
    "teddy",
    "ugs",
    "wd_glt",
]
