"""Figure 4: a graph whose edges tie in one-hop degree but not in two-hop degree."""

from __future__ import annotations

import torch

from teddy.graph import Edges
from teddy.prune import edge_scores
from teddy_paper.reproduction import Finding, Result, ResultTable, Scope, reproduction
from teddy_paper.results import Results


def toy_graph() -> Edges:
    """Triangle v1, v2, v3 of three nodes of degree 4, whose other neighbours differ.

    The paper gives the figure, not the edges; this graph follows its text: v2's other neighbours
    are leaves, v1's have one more neighbour each, v3's have two.

    Example:
        >>> toy_graph().degree[1:4].tolist()
        [4, 4, 4]
    """
    edges = [(1, 2), (1, 3), (2, 3)]
    new = iter(range(4, 100))
    for node, further in ((1, 1), (2, 0), (3, 2)):
        for _ in range(2):
            neighbour = next(new)
            edges.append((node, neighbour))
            edges.extend((neighbour, next(new)) for _ in range(further))
    return Edges.from_columns(torch.tensor(edges).t())[0]


@reproduction("toy-example", ("Figure 4",), "A toy example: one hop ties, two hops don't")
def toy_example(results: Results, scope: Scope) -> Result:
    """Degrees and scores of the triangle's edges, and their order in the text."""
    graph = toy_graph()
    edges = [(1, 2), (2, 3), (1, 3)]
    one, two, teddy = (
        edge_scores(graph.pairs, score, num_nodes=graph.num_nodes)
        for score in ("degree-low", "two-hop", "teddy")
    )
    two = -two  # the score is low where the degree is high
    place = {tuple(pair): i for i, pair in enumerate(graph.pairs.t().tolist())}
    at = [place[edge] for edge in edges]
    rows = [
        [f"e{i}{j}", float(one[k]), float(two[k]), float(teddy[k])]
        for (i, j), k in zip(edges, at, strict=True)
    ]
    table = ResultTable(
        "toy-example", "Edges of the toy graph", ("edge", "1-hop", "2-hop", "TEDDY score"), rows
    )
    d1, d2, score = (values[at] for values in (one, two, teddy))
    ties, rises = bool((d1 == d1[0]).all()), bool(d2[0] < d2[1] < d2[2])
    agrees = bool(score[0] > score[1] > score[2])
    return Result(
        [table],
        findings=[
            Finding("toy-one-hop-ties", ties, f"1-hop {d1.tolist()}"),
            Finding("toy-two-hop-order", rises, f"2-hop of e12, e23, e13: {d2.tolist()}"),
        ],
        notes=[
            "The figure's graph isn't given in the text; ours has the properties that are.",
            f"TEDDY's score keeps e12 before e23 before e13: {agrees}.",
        ],
    )
