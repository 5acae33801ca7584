"""Many runs: several seeds, a grid that survives a crash, tuning, and what they say together.

May import: data, edges, weights, models, training, ticket, methods.
"""

from teddy.sweep.grid import Grid, Settings
from teddy.sweep.run import Outcome, run_sweep
from teddy.sweep.seeds import Study, find_over_seeds
from teddy.sweep.statistics import Difference, paired_difference
from teddy.sweep.summary import Summary, best_methods, sparsest_winning, summarize
from teddy.sweep.table import read_table

__all__ = [
    "Difference",
    "Grid",
    "Outcome",
    "Settings",
    "Study",
    "Summary",
    "best_methods",
    "find_over_seeds",
    "paired_difference",
    "read_table",
    "run_sweep",
    "sparsest_winning",
    "summarize",
]
