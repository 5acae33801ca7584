"""Draw docs/images/ticket.png: a neighbourhood of CiteSeer before and after, and the accuracies.

    python tools/make_picture.py

The accuracies come from docs/results/paper/extreme (`teddy reproduce extreme`).
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import matplotlib as mpl
import networkx as nx

import teddy
from teddy.graph import Edges
from teddy.sparsity import schedule_sparsity

mpl.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1] / "docs"
KEPT, GONE, NODE = "#1b5e8c", "#d9d9d9", "#333333"
SPARSITY = 0.6415


def main() -> None:
    data = teddy.load_dataset("citeseer")
    graph, _ = Edges.from_columns(data.edge_index, data.num_nodes)
    keep = teddy.prune.choose_edges(graph, SPARSITY)
    pairs = graph.pairs.t().tolist()
    kept = {tuple(pair) for pair, stays in zip(pairs, keep.tolist(), strict=True) if stays}
    near = typical_neighbourhood(nx.Graph(pairs), kept)
    place = nx.kamada_kawai_layout(near)
    edges = [tuple(sorted(edge)) for edge in near.edges]

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), width_ratios=[1, 1, 0.9])
    stay = [edge for edge in edges if edge in kept]
    draw(axes[0], near, place, edges, [])
    draw(axes[1], near, place, stay, [edge for edge in edges if edge not in kept])
    axes[0].set_title(f"part of CiteSeer: {len(edges)} edges", fontsize=11)
    axes[1].set_title(f"what a ticket keeps of it: {len(stay)}", fontsize=11)
    accuracies(axes[2])
    figure.tight_layout()
    figure.savefig(DOCS / "images" / "ticket.png", dpi=130)


def typical_neighbourhood(whole: nx.Graph, kept: set[Any]) -> nx.Graph:
    """The part of 60 to 90 edges that loses about as large a share as the whole graph."""
    around = (nx.ego_graph(whole, node, radius=3) for node in sorted(whole))
    parts = [part for part in around if 60 <= part.number_of_edges() <= 90]

    def distance(part: nx.Graph) -> float:
        stay = sum(tuple(sorted(edge)) in kept for edge in part.edges)
        return abs(stay / int(part.number_of_edges()) - (1 - SPARSITY))

    return min(parts, key=distance)


def draw(axis: Any, near: nx.Graph, place: Any, stay: list[Any], gone: list[Any]) -> None:
    degree = dict(near.degree)
    sizes = [14 + 5 * degree[node] for node in near]
    nx.draw_networkx_edges(near, place, gone, ax=axis, edge_color=GONE, width=1.0)
    nx.draw_networkx_edges(near, place, stay, ax=axis, edge_color=KEPT, width=1.6)
    nx.draw_networkx_nodes(near, place, ax=axis, node_size=sizes, node_color=NODE, linewidths=0)
    axis.axis("off")


def accuracies(axis: Any) -> None:
    with (DOCS / "results" / "paper" / "extreme" / "extreme.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["dataset"] == "citeseer"]
    bars = []
    for r in rows:
        level = int(r["simulation"])
        name = f"{schedule_sparsity(level):.0%} removed" if level else "dense"
        if level in (0, 20, 40):
            bars.append((name, float(r["ours"]), float(r["deviation"])))
    names, means, spreads = zip(*bars, strict=True)
    for i, (mean, deviation) in enumerate(zip(means, spreads, strict=True)):
        axis.errorbar(i, mean, deviation, fmt="o", color=KEPT if i else NODE, capsize=5, ms=8)
        axis.text(i + 0.12, mean + 0.2, f"{mean:.1f}", va="center", fontsize=11)
    axis.axhline(means[0], color=GONE, zorder=0)
    axis.set_xticks(range(len(names)), names)
    axis.set_xlim(-0.5, len(names) - 0.3)
    axis.set_ylabel("test accuracy, %")
    axis.set_title(f"GIN on CiteSeer, edges and weights, {rows[0]['seeds']} seeds", fontsize=11)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
