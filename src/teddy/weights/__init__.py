"""Sparse weights: the l0 projection, an optimizer that ends each step with it, and masks.

A weight budget divides the sparsity among matrices.
"""

from teddy.settings import WeightBudget
from teddy.weights.budget import excluded_parameters
from teddy.weights.l0 import FixedMask, L0Projection, count_nonzero, largest_entries, project_l0_
from teddy.weights.optimizer import L0Projected
from teddy.weights.units import Part, UnitProjection, Units

__all__ = [
    "FixedMask",
    "L0Projected",
    "L0Projection",
    "Part",
    "UnitProjection",
    "Units",
    "WeightBudget",
    "count_nonzero",
    "excluded_parameters",
    "largest_entries",
    "project_l0_",
]
