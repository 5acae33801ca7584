"""Which weights stay: the projection onto the l0 ball and an optimizer that ends a step with it.

May import: data, edges.
"""

from teddy.weights.l0 import L0Projection, count_nonzero, project_l0_
from teddy.weights.optimizer import L0Projected

__all__ = ["L0Projected", "L0Projection", "count_nonzero", "project_l0_"]
