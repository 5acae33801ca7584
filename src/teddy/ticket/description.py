"""Summaries of a ticket: ``print(ticket)`` and its model card on the Hub."""

from __future__ import annotations

from typing import Any

from teddy.tasks import kind_from, task_from
from teddy.ticket.header import ModelInfo
from teddy.ticket.info import Count, TicketInfo, second_metric


def describe(info: TicketInfo) -> str:
    """Return a summary in six lines: accuracy against the dense model, what is kept, how to use it.

    Args:
        info: Metadata of the ticket.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> print(teddy.find_ticket(data, "gcn", epochs=2, hidden_channels=8))
        Ticket for citeseer: model gcn, method teddy, seed 0
          test accuracy  ...%, dense model ...% (... points)
          edges kept     1,638 of 4,552 (64.0% removed)
          weights kept   10,682 of 29,672 (64.0% removed)
          MACs           ... of ... (...% saved)
          use it         ticket.predict(data), ticket.save("citeseer-gcn.ticket")
    """
    name, source = model_name(info), info.transferred
    where = f", on {source['dataset']} before the transfer" if source is not None else ""
    measured = [(info.task["metric"], info.dense.test, info.ticket.test)]
    if (second := second_metric([info])) is not None:
        measured.append((second.name, second.dense, second.ticket))
    rows = {
        f"test {metric}": f"{ticket:.2f}%, dense model {dense:.2f}% "
        f"({ticket - dense:+.2f} points){where}"
        for metric, dense, ticket in measured
    }
    rows["edges kept"] = _kept(info.edges)
    rows["weights kept"] = f"{_kept(info.weights)}{_not_counted(info.model)}"
    macs = info.macs
    if macs.dense is not None and macs.ticket is not None and any(macs.dense):
        total, kept = sum(macs.dense), sum(macs.ticket)
        rows["MACs"] = f"{kept:,} of {total:,} ({1 - kept / total:.1%} saved)"
    rows["use it"] = f'ticket.predict(data), ticket.save("{info.dataset}-{name}.ticket")'
    width = max(map(len, rows))
    lines = [f"  {label:<{width}}  {text}" for label, text in rows.items()]
    title = f"Ticket for {info.dataset}: model {name}, method {info.method}, seed {info.seed}"
    return "\n".join([title, *lines])


def one_line(info: TicketInfo) -> str:
    """Return the summary that is a ticket's ``repr``."""
    return (
        f"Ticket({info.dataset}, {model_name(info)}, method={info.method}, seed={info.seed}, "
        f"edges={info.edges.kept}/{info.edges.total}, "
        f"weights={info.weights.kept}/{info.weights.total}, "
        f"test={info.ticket.test:.2f}, dense={info.dense.test:.2f})"
    )


def model_name(info: TicketInfo) -> str:
    """Return the registered name of a ticket's model, or the name of its class."""
    return info.model.get("name") or str(info.model.get("class")).rpartition(".")[2]


def _kept(count: Count) -> str:
    return f"{count.kept:,} of {count.total:,} ({count.sparsity:.1%} removed)"


def _not_counted(model: ModelInfo) -> str:
    """Frozen and unused parameters, which the number of weights leaves out."""
    counts = {"frozen": model.get("frozen", 0), "unused": model.get("unused", 0)}
    left_out = [f"{count:,} {kind}" for kind, count in counts.items() if count]
    return f"; not counted: {', '.join(left_out)}" if left_out else ""


def model_card(info: TicketInfo, repo_id: str) -> str:
    """Return the model card of a ticket: YAML for the Hub's search, then text.

    Args:
        info: Metadata of the ticket.
        repo_id: Repository of the ticket, for the example of its use.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> ticket = teddy.find_ticket(data, "gcn", 0.2, 0.5, epochs=2, hidden_channels=8)
        >>> model_card(ticket.info, "me/citeseer-gcn").splitlines()[:3]
        ['---', 'library_name: teddy-glt', 'pipeline_tag: graph-ml']
    """
    import yaml

    front = yaml.safe_dump(_metadata(info), sort_keys=False, allow_unicode=True)
    return f"---\n{front}---\n{_text(info, repo_id)}"


def _metadata(info: TicketInfo) -> dict[str, Any]:
    """Return the card's YAML fields: library, tags and the test result as *model index*."""
    task, dataset = info.task, info.dataset
    name = f"{dataset}-{_model(info)}-{info.method}"
    card: dict[str, Any] = {
        "library_name": "teddy-glt",
        "pipeline_tag": "graph-ml",
        "tags": ["pytorch-geometric", "graph-lottery-ticket", "pruning", "sparse", info.method],
    }
    if "name" in info.model:
        card["tags"].append(info.model["name"])
    if info.transferred is None:  # else the accuracy is of another graph
        metric = {
            "type": task["metric"],
            "value": round(info.ticket.test, 4),
            "name": f"test {task['metric']} %, seed {info.seed}",
        }
        result = {
            "task": {"type": "graph-ml", "name": _task(info)},
            "dataset": {"name": dataset, "type": dataset, "split": "test"},
            "metrics": [metric],
        }
        card["model-index"] = [{"name": name, "results": [result]}]
    return card


def _text(info: TicketInfo, repo_id: str) -> str:
    metric, macs, second = info.task["metric"], info.macs, second_metric([info])
    kind = kind_from(task_from(info.task), info)
    rows = [
        ("edges", *_counts(info.edges)),
        ("weights", *_counts(info.weights)),
        (f"test {metric} %", f"{info.dense.test:.2f}", f"{info.ticket.test:.2f}"),
        (f"validation {metric} %", f"{info.dense.val:.2f}", f"{info.ticket.val:.2f}"),
        ("test at the last epoch", f"{info.dense.last_test:.2f}", f"{info.ticket.last_test:.2f}"),
    ]
    if second is not None:
        rows.append((f"test {second.name} %", f"{second.dense:.2f}", f"{second.ticket:.2f}"))
    if macs.dense is not None and macs.ticket is not None:
        rows.insert(2, ("multiply-accumulates", f"{sum(macs.dense):,}", f"{sum(macs.ticket):,}"))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    config = ", ".join(f"{name} {value}" for name, value in info.config.items())
    versions = ", ".join(f"{name} {value}" for name, value in info.versions.items())
    own = ", model=..." if "name" not in info.model else ""
    graph = info.graph
    return f"""
# {_model(info)} on {_plain(info.dataset)}, a graph lottery ticket
A sparse subgraph and a sparse GNN that belong together, found by `{_plain(info.method)}`.

| | dense | ticket |
|---|---|---|
{table}

Of one seed ({info.seed}), at the best validation epoch{_provenance(info)}

```python
import teddy                                   # pip install 'teddy-glt[hub]'

ticket = teddy.Ticket.from_hub("{repo_id}"{own})
found = ticket.predict(data)                   # data: a PyG {kind.container}
```
- Graph: {graph["nodes"]:,} nodes, {graph["edges"]:,} {kind.edges_text()}, {graph["features"]:,} \
features; the ticket holds neither it nor its features, and knows it by the fingerprint \
`{graph["fingerprint"][:16]}`.
- Split: {_plain(info.split)}. Removed on request: {info.graph_sparsity:.2%} of the edges, \
{info.weight_sparsity:.2%} of the weights.
- Settings: {_plain(config)}.
- Found with: {_plain(versions)}.
"""


def _task(info: TicketInfo) -> str:
    task = task_from(info.task)
    return task.title


def _provenance(info: TicketInfo) -> str:
    if info.transferred is not None:
        source = _plain(info.transferred["dataset"])
        return f"; transferred from {source}, which these numbers are of."
    if info.inductive is not None:
        return "; training saw the training nodes and the edges between them only."
    return "."


def _model(info: TicketInfo) -> str:
    return _plain(model_name(info))


def _counts(count: Count) -> tuple[str, str]:
    share = count.kept / count.total if count.total else 1.0
    return f"{count.total:,}", f"{count.kept:,} ({share:.0%})"


def _plain(text: str) -> str:
    """Return a text from a file in one line, with Markdown escaped."""
    return "".join(f"\\{c}" if c in "\\|`*_[]<>#" else c for c in " ".join(str(text).split()))
