"""What ``teddy inspect`` says, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from teddy.cli.find_tables import describe_split, edge_rows, health_rows, second_metric_rows
from teddy.cli.printing import print_table, print_text

#: Neighbours that are named in a line.
_NAMED = 20


def inspect_tables(name: str, info: Any, facts: dict[str, Any]) -> None:
    """Print a ticket's metadata, and the facts that ``--json`` has beside them."""
    from teddy.tasks import kind_from, task_from

    model = info.model.get("name") or info.model["class"]
    epoch = info.dense.best_epoch  # a teacher that was given has none
    print_table(
        f"{name}: {info.method} on {info.dataset} "
        f"({describe_split(info.split, info.inductive)}), {model}, seed {info.seed}",
        ("", "dense", "ticket"),
        [
            *(row for row, _ in edge_rows(facts["edges"], info.inductive)),
            ("weights", f"{info.weights.total:,}", f"{info.weights.kept:,}"),
            (f"test {info.task['metric']} %", f"{info.dense.test:.2f}", f"{info.ticket.test:.2f}"),
            ("  best epoch", "-" if epoch is None else epoch, info.ticket.best_epoch),
            ("  at the last epoch", f"{info.dense.last_test:.2f}", f"{info.ticket.last_test:.2f}"),
            *second_metric_rows([info]),
        ],
    )
    if info.transferred:
        was, before = info.transferred, info.transferred["graph"]
        print_text(
            f"Transferred ({was['inference']}) from {was['dataset']} with {before['nodes']:,} "
            f"nodes and {before['edges']:,} edges, which {info.task['metric']} is of.\n"
        )
    title, counts = kind_from(task_from(info.task), info).counts()
    if counts:
        _counts(title, counts)
    _counts("Layers", facts["layers"])
    if facts["parameters"].keys() != facts["layers"].keys():
        _counts("Parameters", facts["parameters"])
    if "left" in facts:
        _left(facts["left"])
    if "neighbourhood" in facts:
        _neighbours(facts["neighbourhood"]["nodes"][0], facts["neighbours"])
    graph = {k: v[:16] if k.endswith("fingerprint") else v for k, v in info.graph.items()}
    print_table("Graph", ("", ""), graph.items())
    asked = {"graph_sparsity": info.graph_sparsity, "weight_sparsity": info.weight_sparsity}
    settings = {**info.config, **info.model.get("options", {}), **asked}
    print_table("Settings", ("", ""), sorted(settings.items()))
    print_table("Versions", ("", ""), sorted(info.versions.items()))


def _counts(title: str, counts: Mapping[str, Mapping[str, int]]) -> None:
    print_table(
        title,
        ("", "entries", "left", "share"),
        [
            (name, f"{n['total']:,}", f"{n['kept']:,}", f"{n['kept'] / max(n['total'], 1):.1%}")
            for name, n in counts.items()
        ],
    )


def _left(left: dict[str, Any]) -> None:
    print_table(
        "What is left of the graph",
        ("", "before", "after"),
        health_rows(left["before"], left["after"]),
    )
    print_table(
        "Nodes that lost most edges",
        ("node", "edges before", "after", "lost"),
        [
            (n["node"], f"{n['before']:,}", f"{n['after']:,}", f"{n['before'] - n['after']:,}")
            for n in left["hubs"]
        ],
    )
    count = left["num_stranded"]
    line = f"{count:,} node{'s' * (count != 1)} lost all edges"
    if left["stranded"]:
        some = [f"{n['node']} ({n['before']:,})" for n in left["stranded"]]
        line += f"; those that had most: {', '.join(some)}"
    print_text(line + ".\n")


def _neighbours(node: Any, of_node: dict[str, list[Any]]) -> None:
    before, after = sum(map(len, of_node.values())), len(of_node["kept"])
    print_text(f"Node {node}: {before:,} edges before, {after:,} after.")
    for word, others in of_node.items():
        names = [str(name) for name in others]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        print_text(f"  {word}: {', '.join(names[:_NAMED]) or 'none'}{more}")
    print_text("")
