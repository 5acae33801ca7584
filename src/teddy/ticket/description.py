"""A ticket in a few lines of text, as ``print(ticket)`` shows it."""

from __future__ import annotations

from teddy.ticket.info import Count, TicketInfo


def describe(info: TicketInfo) -> str:
    """Return the accuracy beside that of the dense model, and the edges, weights and MACs kept.

    Args:
        info: Metadata of the ticket.

    Example:
        >>> import teddy
        >>> data = teddy.load_dataset("citeseer")
        >>> print(teddy.find_ticket(data, "gcn", epochs=2, hidden=8))
        Ticket for citeseer: gcn, method teddy, seed 0
          test accuracy  ..., dense ... (...)
          edges          1,638 of 4,552 kept (64.0% removed)
          weights        10,682 of 29,672 kept (64.0% zero)
          MACs           ... of ... (...% saved)
    """
    model, difference = info.model, info.ticket.test - info.dense.test
    name = model.get("name") or str(model.get("class")).rpartition(".")[2]
    rows = {
        f"test {info.task['metric']}": f"{info.ticket.test:.2f}, dense {info.dense.test:.2f} "
        f"({difference:+.2f})",
        "edges": f"{_of(info.edges)} removed)",
        "weights": f"{_of(info.weights)} zero){_not_counted(model)}",
    }
    macs = info.macs
    if macs.dense is not None and macs.ticket is not None and any(macs.dense):
        dense, ticket = sum(macs.dense), sum(macs.ticket)
        rows["MACs"] = f"{ticket:,} of {dense:,} ({100 * (1 - ticket / dense):.1f}% saved)"
    width = max(map(len, rows))
    lines = [f"  {label:<{width}}  {text}" for label, text in rows.items()]
    first = f"Ticket for {info.dataset}: {name}, method {info.method}, seed {info.seed}"
    return "\n".join([first, *lines])


def _of(count: Count) -> str:
    share = 100 * (1 - count.kept / count.total) if count.total else 0.0
    return f"{count.kept:,} of {count.total:,} kept ({share:.1f}%"


def _not_counted(model: dict[str, object]) -> str:
    """Parameters that the count leaves out: frozen ones, and those that forward never uses."""
    left_out = [f"{model[kind]:,} {kind}" for kind in ("frozen", "unused") if model.get(kind)]
    return f"; not counted: {', '.join(left_out)}" if left_out else ""
