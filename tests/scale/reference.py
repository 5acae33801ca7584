"""The method in plain Python, from the equations, with ids as they are."""

import hashlib
import math
from collections import defaultdict


def kept_rows(rows: list[tuple], sparsity: float, directed: bool = False) -> list[bool]:
    """Which rows stay; a row is (source, target)."""
    edges = {edge_of(row, directed) for row in rows if row[0] != row[1]}
    neighbours = defaultdict(list)
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    degree = {node: len(others) for node, others in neighbours.items()}
    scale = 2 ** (62 - max(degree.values(), default=0).bit_length())
    g = {node: math.floor(1.0 / math.sqrt(d) * scale) for node, d in degree.items()}
    value = {
        node: float(sum(g[other] for other in others)) / scale / degree[node] / degree[node]
        for node, others in neighbours.items()
    }
    order = sorted(edges, key=lambda edge: (value[edge[0]] * value[edge[1]], digest(edge)))
    gone = set(order[: budget(sparsity, len(edges))])
    return [row[0] == row[1] or edge_of(row, directed) not in gone for row in rows]


def edge_of(row: tuple, directed: bool) -> tuple:
    return tuple(row) if directed else tuple(sorted(row))


def digest(edge: tuple) -> str:
    low, high = edge
    text = f"{low}-{high}" if isinstance(low, int) else f"{len(low)}:{low}-{high}"
    return hashlib.md5(text.encode()).hexdigest()


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
