"""Write a synthetic edge table of any size, with a power law of degrees.

    python -m benchmarks.make_edges edges.parquet --edges 1000000000 --nodes 100000000

An end of an edge is the node of rank N u^2 with u uniform. The expected degree then falls with the
square root of the rank: an exponent of 3, as in preferential attachment. A fixed permutation
spreads ranks over ids. Edges are independent, some occur twice, and memory use is constant.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

_CHUNK = 1 << 22


def make_edges(out: Path, edges: int, nodes: int, seed: int = 0) -> None:
    """Write a table with the int64 columns ``source`` and ``target``."""
    schema = pa.schema([("source", pa.int64()), ("target", pa.int64())])
    factor = _coprime(nodes)
    with parquet.ParquetWriter(out, schema, use_dictionary=False) as writer:
        for start in range(0, edges, _CHUNK):
            random = np.random.default_rng((seed, start))
            ranks = (nodes * random.random((2, min(_CHUNK, edges - start))) ** 2).astype(np.int64)
            ends = (ranks * factor + nodes // 3) % nodes
            writer.write_table(pa.table(list(ends), schema=schema))


def _coprime(nodes: int) -> int:
    """Return a factor that maps ranks to distinct ids, neighbouring ranks far apart."""
    factor = int(nodes * 0.6180339887) | 1
    while math.gcd(factor, nodes) > 1:
        factor += 2
    return factor


def main() -> None:
    """Write the table that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--edges", type=int, default=10**7)
    parser.add_argument("--nodes", type=int, default=10**6)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    make_edges(arguments.out, arguments.edges, arguments.nodes, arguments.seed)


if __name__ == "__main__":
    main()
