"""Many runs: one search over several seeds, and what the seeds together say.

May import: data, edges, weights, models, training, ticket, methods.
"""

from teddy.sweep.seeds import Study, find_over_seeds
from teddy.sweep.statistics import Difference, paired_difference

__all__ = ["Difference", "Study", "find_over_seeds", "paired_difference"]
