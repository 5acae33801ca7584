"""Which weights stay: the projection onto the l0 ball, an optimizer around it, masks.

May import: data, edges.
"""

from teddy.weights.l0 import L0Projection, count_nonzero, project_l0_
from teddy.weights.masks import FixedMask, largest
from teddy.weights.optimizer import L0Projected

__all__ = [
    "FixedMask",
    "L0Projected",
    "L0Projection",
    "count_nonzero",
    "largest",
    "project_l0_",
]
