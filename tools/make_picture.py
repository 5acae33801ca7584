"""Draw docs/images/ticket.svg: a part of CiteSeer dense, pruned by TEDDY, and pruned at random.

    python tools/make_picture.py

The accuracies come from docs/results/paper (`teddy reproduce extreme attribution`). The picture has
its own background, light or dark as the reader's system is.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import networkx as nx

import teddy
from teddy.graph import Edges
from teddy.sparsity import schedule_sparsity
from teddy.store.atomic import write_atomically

DOCS = Path(__file__).parents[1] / "docs"
OUT = DOCS / "images" / "ticket.svg"
RESULTS = DOCS / "results" / "paper"
LEVEL = 20
SPARSITY = schedule_sparsity(LEVEL)
#: Side of a panel, and the height of the text above and below it.
SIDE, ABOVE, BELOW = 250, 44, 108
STYLE = """
svg { color-scheme: light dark; font: 22px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
.card { fill: #ffffff; stroke: #d0d7de } text { fill: #1f2328; text-anchor: middle }
.name { font-weight: 600; font-size: 25px } .accuracy { font-weight: 600; font-size: 30px }
.small { fill: #59636e }
.edge { stroke: #0969da; stroke-width: 2.6 } .gone { stroke: #d8dee4; stroke-width: 1.2 }
.node { fill: #424a53 }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; stroke: #3d444d } text { fill: #f0f6fc } .small { fill: #9198a1 }
  .edge { stroke: #4493f8 } .gone { stroke: #353c47 } .node { fill: #b7bdc8 }
}"""


def main() -> None:
    data = teddy.load_dataset("citeseer")
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    pairs = [tuple(pair) for pair in graph.pairs.t().tolist()]
    kept = {
        name: {pair for pair, keep in zip(pairs, choose(graph, name).tolist(), strict=True) if keep}
        for name in ("teddy", "random")
    }
    near = typical_neighbourhood(nx.Graph(pairs), kept["teddy"])
    place = nx.rescale_layout_dict(nx.kamada_kawai_layout(near))
    around = {tuple(sorted(edge)) for edge in near.edges}
    scores = accuracies()
    panels = [panel(0, "dense", around, around, place, [f"{scores['dense']:.1f}%"])]
    for number, (score, name) in enumerate((("teddy", "TEDDY"), ("random", "random edges")), 1):
        texts = [f"{scores[score]:.1f}%", f"{scores[f'{score} without']:.1f}% undistilled"]
        panels.append(panel(number, name, around & kept[score], around, place, texts))
    width, height = 3 * SIDE, ABOVE + SIDE + BELOW
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">',
        f"<style>{STYLE}</style>",
        f'<rect class="card" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="12"/>',
        *panels,
        "</svg>",
    ]
    write_atomically(OUT, "\n".join([*svg, ""]).encode())


def choose(graph: Edges, score: str) -> Any:
    return teddy.prune.choose_edges(graph, SPARSITY, score)


def accuracies() -> dict[str, float]:
    """Return test accuracies of GIN on CiteSeer: dense, and of tickets by their edges.

    Those ``without`` are of tickets that are trained without distillation.
    """
    found = {}
    for row in rows("extreme/extreme.csv", "0", str(LEVEL)):
        found[row["method"]] = float(row["ours"])
    for row in rows("attribution/attribution.csv", str(LEVEL)):
        if (row["distillation"], row["weights"]) == ("none", "projected"):
            found[f"{row['edges']} without"] = float(row["ticket"])
    return found


def rows(table: str, *levels: str) -> list[dict[str, str]]:
    with (RESULTS / table).open() as file:
        return [
            row
            for row in csv.DictReader(file)
            if (row["dataset"], row["model"]) == ("citeseer", "gin") and row["simulation"] in levels
        ]


def typical_neighbourhood(whole: nx.Graph, kept: set[Any]) -> nx.Graph:
    """Return the part of 60 to 90 edges that loses about as large a share as the whole graph."""
    around = (nx.ego_graph(whole, node, radius=3) for node in sorted(whole))
    parts = [part for part in around if 60 <= part.number_of_edges() <= 90]

    def distance(part: nx.Graph) -> float:
        stay = sum(tuple(sorted(edge)) in kept for edge in part.edges)
        return abs(stay / int(part.number_of_edges()) - (1 - SPARSITY))

    return min(parts, key=distance)


def panel(
    number: int, name: str, kept: set[Any], edges: set[Any], place: Any, accuracy: list[str]
) -> str:
    """Return one panel: name, kept and removed edges, nodes, and the accuracies below."""
    margin = 16
    half = SIDE / 2 - margin

    def at(node: int) -> tuple[float, float]:
        x, y = place[node]
        return number * SIDE + SIDE / 2 + half * x, ABOVE + SIDE / 2 + half * y

    lines = [text(number, 34, "name", name)]
    for line, group in (("gone", edges - kept), ("edge", kept)):
        for edge in sorted(group):
            (a, b), (c, d) = map(at, edge)
            lines.append(f'<path class="{line}" d="M{a:.1f} {b:.1f}L{c:.1f} {d:.1f}"/>')
    for node in place:
        x, y = at(node)
        lines.append(f'<circle class="node" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>')
    below = ABOVE + SIDE
    lines.append(text(number, below + 22, "small", f"{len(kept)} of {len(edges)} edges"))
    lines += [
        text(number, below + 60 + 30 * i, kind, line)
        for i, (kind, line) in enumerate(zip(("accuracy", "small"), accuracy, strict=False))
    ]
    return "\n".join(lines)


def text(number: int, y: float, kind: str, content: str) -> str:
    return f'<text class="{kind}" x="{number * SIDE + SIDE // 2}" y="{y}">{content}</text>'


if __name__ == "__main__":
    main()
