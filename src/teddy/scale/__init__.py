"""Edge tables larger than memory: the same edges from every engine.

``sparsify.py`` is the way through; ``scores.py`` declares the scores; one file an engine;
``threshold.py`` finds the cut for all but the memory engine.
"""

from teddy.scale.scores import TABLE_SCORES
from teddy.scale.sparsify import ENGINES, sparsify_table

__all__ = ["ENGINES", "TABLE_SCORES", "sparsify_table"]
