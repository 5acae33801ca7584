"""The scores in plain Python, from the equations, with ids as they are.

``Fraction`` is exact, and ``float`` rounds it correctly: each rounding of doubles is written out.
"""

import hashlib
import math
from collections import defaultdict
from fractions import Fraction

SCORES = ["teddy", "degree-high", "degree-low", "two-hop", "resistance", "random"]


def kept_rows(
    rows: list[tuple], sparsity: float, directed: bool = False, score: str = "teddy", seed: int = 0
) -> list[bool]:
    """Mask of kept rows; a row is (source, target)."""
    order = removal_order(rows, directed, score, seed)
    gone = set(order[: budget(sparsity, len(order))])
    return [row[0] == row[1] or edge_of(row, directed) not in gone for row in rows]


def removal_order(rows: list[tuple], directed: bool, score: str, seed: int) -> list[tuple]:
    """All edges, those that go first at the front."""
    edges = {edge_of(row, directed) for row in rows if row[0] != row[1]}
    neighbours = defaultdict(list)
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    degree = {node: len(others) for node, others in neighbours.items()}
    score_of = _score(score, neighbours, degree)
    salt = f"{seed}:" if score == "random" else ""
    return sorted(edges, key=lambda edge: (score_of(*edge), digest(edge, salt)))


def _score(name: str, neighbours: dict, degree: dict):
    def total_of(value):
        return {node: sum(map(value.get, others)) for node, others in neighbours.items()}

    def rounded(numerator, denominator=1):
        return Fraction(float(Fraction(numerator) / denominator))

    if name == "random":
        return lambda i, j: 0
    if name.startswith("degree"):  # (deg(i) + deg(j)) / 2
        sign = -1 if name == "degree-high" else 1
        return lambda i, j: Fraction(sign * (degree[i] + degree[j]), 2)
    if name == "resistance":  # 1 / deg(i) + 1 / deg(j)
        return lambda i, j: rounded(rounded(1, degree[i]) + rounded(1, degree[j]))
    if name == "two-hop":  # mean degree of neighbours, of both ends
        mean = {node: rounded(total, degree[node]) for node, total in total_of(degree).items()}
        return lambda i, j: -rounded((mean[i] + mean[j]) / 2)
    unit = 2 ** (62 - max(degree.values(), default=0).bit_length())
    g = {node: math.floor(1.0 / math.sqrt(d) * unit) for node, d in degree.items()}
    value = {
        node: rounded(rounded(rounded(total) / unit, degree[node]), degree[node])
        for node, total in total_of(g).items()
    }
    return lambda i, j: rounded(value[i] * value[j])


def edge_of(row: tuple, directed: bool) -> tuple:
    return tuple(row) if directed else tuple(sorted(row))


def digest(edge: tuple, salt: str = "") -> str:
    low, high = edge
    text = f"{low}-{high}" if isinstance(low, int) else f"{len(low)}:{low}-{high}"
    return hashlib.md5(f"{salt}{text}".encode()).hexdigest()


def budget(sparsity: float, edges: int) -> int:
    return math.ceil(sparsity * edges - 1e-9)


def components(rows: list[tuple], stays: list[bool]) -> int:
    """Connected components of what stays, over nodes that had an edge."""
    root = {node: node for row in rows if row[0] != row[1] for node in row}

    def find(node):
        while root[node] != node:
            node = root[node]
        return node

    for (a, b), stay in zip(rows, stays, strict=True):
        if stay and a != b:
            root[find(a)] = find(b)
    return sum(find(node) == node for node in root)
