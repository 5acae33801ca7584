"""Sweeps over methods, sparsity levels and seeds, with statistics, tuning and search.

A sweep is a folder with one file for each result, so it is crash-safe and resumes.
"""

from teddy.settings import Settings
from teddy.sweep.cheapest import ServedTicket, ServingSearch, search_serving
from teddy.sweep.grid import Grid
from teddy.sweep.level_search import LevelPair
from teddy.sweep.results_table import read_table
from teddy.sweep.run import Outcome, run_sweep
from teddy.sweep.search import search_sparsest
from teddy.sweep.seeds import Study, find_over_seeds
from teddy.sweep.sequential import Decision, SequentialTest
from teddy.sweep.sparsest import SearchResult, SparsestPair, TriedPair
from teddy.sweep.statistics import Difference, paired_difference
from teddy.sweep.summary import Summary, best_methods, sparsest_winning, summarize

__all__ = [
    "Decision",
    "Difference",
    "Grid",
    "LevelPair",
    "Outcome",
    "SearchResult",
    "SequentialTest",
    "ServedTicket",
    "ServingSearch",
    "Settings",
    "SparsestPair",
    "Study",
    "Summary",
    "TriedPair",
    "best_methods",
    "find_over_seeds",
    "paired_difference",
    "read_table",
    "run_sweep",
    "search_serving",
    "search_sparsest",
    "sparsest_winning",
    "summarize",
]
