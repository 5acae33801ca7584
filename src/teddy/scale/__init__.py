"""Out-of-core pruning of edge tables; every engine keeps the same edges.

``sparsify_table`` is the entry point, and each engine (memory, stream, duckdb, spark) has a file.
"""

from teddy.scale.scores import TABLE_SCORES
from teddy.scale.sparsify import ENGINES, sparsify_table

__all__ = ["ENGINES", "TABLE_SCORES", "sparsify_table"]
