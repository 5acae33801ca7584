"""Tables of ``teddy find`` and ``teddy inspect``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from teddy.cli.printing import print_table, print_text
from teddy.registry import short_class

if TYPE_CHECKING:
    from teddy.ticket import TicketInfo


def find_tables(study: Any, result: dict[str, Any]) -> None:
    """Print the result of ``teddy find``."""
    metrics, seconds = [result["dense"], result["ticket"]], result["seconds"]
    weights, seeds, inductive = result["weights"], len(result["seeds"]), result["inductive"]
    last = [values["last_test"] for values in metrics]
    print_table(
        f"{result['dataset']} ({describe_split(result['split'], inductive)}), "
        f"{short_class(result['model'])}, {result['spec']}, {seeds} seed{'s' * (seeds > 1)}",
        ("", "dense", "ticket", "kept, change"),
        [
            *((*row, _share(count)) for row, count in edge_rows(result["edges"], inductive)),
            ("weights", f"{weights['total']:,}", f"{weights['kept']:,}", _share(weights)),
            ("multiply-accumulates", *_macs_row(result["macs"])),
            (f"test {result['metric']} %", *map(_mean, metrics),
             f"{result['difference']['mean']:+.2f} points"),
            ("  at the last epoch", *(f"{sum(tests) / len(tests):.2f}" for tests in last), ""),
            *((*row, "") for row in second_metric_rows([t.info for t in study.tickets])),
            ("training seconds, all seeds", f"{seconds['dense']:.1f}",
             f"{seconds['search'] + seconds['sparse']:.1f}", ""),
        ],
    )  # fmt: skip
    before, after = asdict(study.health["before"]), asdict(study.health["after"])
    print_table("Graph health", ("", "before", "after"), health_rows(before, after))
    print_text(_verdict(result))
    if "tried" in study.best.info.config:
        print_text(_chosen(study.tickets))
    if result["ticket_file"] is None:
        print_text("Not saved: --out FILE saves the ticket.")
    else:
        which = f" (seed {study.best.info.seed}, best on validation)" if seeds > 1 else ""
        print_text(f"Ticket{which}: {result['ticket_file']}")


def health_rows(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Rows of a graph's health before and after."""

    def texts(health: dict[str, Any]) -> dict[str, str]:
        degree = health["degree"]
        return {
            "components": f"{health['components']:,}",
            "largest component, nodes": f"{health['largest_component']:,}",
            "nodes without an edge": f"{health['isolated']:,}",
            "degree, mean and highest": f"{degree['mean']:.2f}, {degree['max']:.0f}",
            "degree, quartiles": ", ".join(f"{degree[name]:g}" for name in ("25%", "50%", "75%")),
            "edges within a class": _percent(health["homophily"]),
        }

    left, right = texts(before), texts(after)
    return [(name, left[name], right[name]) for name in left]


def describe_split(split: str, inductive: dict[str, Any] | None) -> str:
    """Text of a split, with a mark if it is inductive.

    Example:
        >>> describe_split("public", None), describe_split("3", None), describe_split("0, 1", None)
        ('public split', 'split 3', 'splits 0, 1')
    """
    numbered = split.replace(", ", "").isdecimal()
    text = f"split{'s' * (',' in split)} {split}" if numbered else f"{split} split"
    return text + (", inductive" if inductive else "")


def edge_rows(
    edges: dict[str, int], inductive: dict[str, Any] | None
) -> list[tuple[tuple[str, str, str], dict[str, int]]]:
    """Rows of edges before and after, with the numbers behind them.

    An inductive ticket has two rows: the training graph, and the graph of the test.
    """
    counts = {"undirected edges": edges}
    if inductive:
        counts = {
            "undirected edges, training": edges,
            f"undirected edges, tested ({inductive['inference']})": inductive["edges"],
        }
    return [((name, f"{n['total']:,}", f"{n['kept']:,}"), n) for name, n in counts.items()]


def second_metric_rows(infos: Sequence[TicketInfo]) -> list[tuple[str, str, str]]:
    """Row of the second metric, the mean of several tickets; empty without a second metric.

    Args:
        infos: Headers of the tickets.
    """
    from teddy.ticket.info import second_metric

    metric = second_metric(infos)
    if metric is None:
        return []
    return [(f"test {metric.name} %", f"{metric.dense:.2f}", f"{metric.ticket:.2f}")]


def _verdict(result: dict[str, Any]) -> str:
    from teddy.sweep.statistics import ENOUGH_SEEDS, TOO_FEW

    difference, verdict = result["difference"], result["verdict"]
    if verdict == TOO_FEW:
        seeds = len(result["seeds"])
        return f"Verdict: {verdict} ({seeds}), expected at least {ENOUGH_SEEDS}; use --seeds 5."
    interval = (
        f"95% interval of the difference [{difference['low']:+.1f}, {difference['high']:+.1f}]"
    )
    meaning = {
        "winning": "not below the dense model",
        "losing": "below the dense model",
        "undecided": "the interval contains zero; more seeds narrow it",
    }
    return f"Verdict: {verdict}, {meaning[verdict]}; {interval}."


def _chosen(tickets: list[Any]) -> str:
    """The chosen scores, and the mean validation metric of each score that was tried."""
    from teddy.sweep.metric import Metric

    examples = Metric(tickets[0].info.task["name"]).examples
    kept = Counter(ticket.info.score for ticket in tickets)
    scores = (f"{score} ({n} seed{'s' * (n > 1)})" for score, n in kept.items())
    tried = [ticket.info.config["tried"] for ticket in tickets]
    means = (f"{score} {sum(t[score] for t in tried) / len(tried):.2f}" for score in tried[0])
    return f"Chosen on validation {examples}: {', '.join(scores)}; tried {', '.join(means)}."


def _share(count: dict[str, int]) -> str:
    return _percent(count["kept"] / count["total"] if count["total"] else None)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _macs_row(macs: dict[str, Any]) -> tuple[str, str, str]:
    dense, ticket = macs["dense"], macs["ticket"]
    if not dense or not ticket:
        return "-", "-", "-"
    return f"{dense / 1e6:,.1f}M", f"{ticket / 1e6:,.1f}M", f"{100 * ticket / dense:.1f}%"


def _mean(values: dict[str, Any]) -> str:
    mean = f"{values['test_mean']:.2f}"
    return mean if len(values["test"]) == 1 else f"{mean} ± {values['test_std']:.2f}"


#: Number of neighbours in a line.
_NAMED = 20


def inspect_tables(name: str, info: Any, metadata: dict[str, Any]) -> None:
    """Print a ticket's metadata, and the counts that ``--json`` adds to it."""
    from teddy.tasks import kind_from, task_from

    model = info.model.get("name") or short_class(info.model["class"])
    epoch = info.dense.best_epoch  # None: the teacher was not trained here
    print_table(
        f"{name}: {info.method} on {info.dataset} "
        f"({describe_split(info.split, info.inductive)}), {model}, seed {info.seed}",
        ("", "dense", "ticket"),
        [
            *(row for row, _ in edge_rows(metadata["edges"], info.inductive)),
            ("weights", f"{info.weights.total:,}", f"{info.weights.kept:,}"),
            (f"test {info.task['metric']} %", f"{info.dense.test:.2f}", f"{info.ticket.test:.2f}"),
            ("  best epoch", "-" if epoch is None else epoch, info.ticket.best_epoch),
            ("  at the last epoch", f"{info.dense.last_test:.2f}", f"{info.ticket.last_test:.2f}"),
            *second_metric_rows([info]),
        ],
    )
    if info.transferred:
        source, before = info.transferred, info.transferred["graph"]
        print_text(
            f"Transferred ({source['inference']}) from {source['dataset']} with "
            f"{before['nodes']:,} nodes and {before['edges']:,} edges, where "
            f"{info.task['metric']} was measured.\n"
        )
    if "neighbourhood" in metadata:
        _neighbours(metadata["neighbourhood"]["nodes"][0], metadata["neighbours"])
    title, counts = kind_from(task_from(info.task), info).counts()
    if counts:
        _counts(title, counts)
    _counts("Layers", metadata["layers"])
    if "left" in metadata:
        _left(metadata["left"])
    if metadata["parameters"].keys() != metadata["layers"].keys():
        _counts("Parameters", metadata["parameters"])
    graph = {k: v[:16] if k.endswith("fingerprint") else v for k, v in info.graph.items()}
    print_table("Graph", ("", ""), graph.items())
    requested = {"graph_sparsity": info.graph_sparsity, "weight_sparsity": info.weight_sparsity}
    settings = {**info.config, **info.model.get("options", {}), **requested}
    print_table("Settings", ("", ""), sorted(settings.items()))
    print_table("Versions", ("", ""), sorted(info.versions.items()))


def _counts(title: str, counts: Mapping[str, Mapping[str, int]]) -> None:
    print_table(
        title,
        ("", "entries", "kept", "share"),
        [
            (name, f"{n['total']:,}", f"{n['kept']:,}", f"{n['kept'] / max(n['total'], 1):.1%}")
            for name, n in counts.items()
        ],
    )


def _left(left: dict[str, Any]) -> None:
    print_table(
        "Graph before and after pruning",
        ("", "before", "after"),
        health_rows(left["before"], left["after"]),
    )
    print_table(
        "Nodes with the most removed edges",
        ("node", "edges before", "after", "removed"),
        [
            (n["node"], f"{n['before']:,}", f"{n['after']:,}", f"{n['before'] - n['after']:,}")
            for n in left["hubs"]
        ],
    )
    count = left["num_stranded"]
    line = f"{count:,} node{'s' * (count != 1)} lost all edges"
    if left["stranded"]:
        some = [f"{n['node']} ({n['before']:,})" for n in left["stranded"]]
        line += f"; those with the most edges before: {', '.join(some)}"
    print_text(line + ".\n")


def _neighbours(node: Any, neighbours: dict[str, list[Any]]) -> None:
    before, after = sum(map(len, neighbours.values())), len(neighbours["kept"])
    print_text(f"Node {node}: {before:,} edges before, {after:,} after.")
    for status, others in neighbours.items():
        names = [str(name) for name in others]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        print_text(f"  {status}: {', '.join(names[:_NAMED]) or 'none'}{more}")
    print_text("")
