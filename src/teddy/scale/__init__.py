"""Edge tables larger than memory: the same edges from every engine.

``sparsify.py`` is the way through; one file an engine; ``threshold.py`` finds the cut that all but
the memory engine share. May import: data, edges.
"""

from teddy.scale.sparsify import ENGINES, sparsify_table

__all__ = ["ENGINES", "sparsify_table"]
