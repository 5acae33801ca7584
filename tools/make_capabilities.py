"""Write docs/capabilities.md, the matrix of what works with what, from the declarations.

python tools/make_capabilities.py
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from teddy.capabilities import FEATURES, Capabilities, reason_against
from teddy.methods import METHODS
from teddy.methods.combination import model_part, score_part
from teddy.models import MODELS
from teddy.prune import SCORES
from teddy.store.atomic import write_atomically
from teddy.tasks import TASKS
from teddy.ticket.operations import OPERATIONS

#: A sentence of :func:`~teddy.capabilities.reason_against`.
REASON = re.compile("(.+?) does not support (.+?): (.+)")
OUT = Path(__file__).parents[1] / "docs" / "capabilities.md"
HEAD = """# What works with what
Look up whether a task, a model, a method and a feature work together. `yes`: works. `-`: refused before the training starts, for the reason in the table below. A test tries every cell on a tiny graph; `python tools/make_capabilities.py` makes this page from the declarations in the code.

```python
>>> import teddy
>>> data = teddy.load_dataset("citeseer")
>>> teddy.find_ticket(data, "nagphormer", directed=True)
Traceback (most recent call last):
...
teddy.errors.InputError: model nagphormer does not support directed messages ...

```
A HeteroData has its own row, for classification, multilabel and regression of one node type. Your own module works with every task. It supports edge weights and learned edge masks if its forward names `edge_weight`, and whole units if it declares [`units()`](own.md#whole-hidden-units).
"""  # noqa: E501


def tasks() -> list[Capabilities]:
    """Rows of tasks, and one of a heterogeneous graph."""
    return [*(TASKS[name].part() for name in TASKS), FEATURES["heterogeneous"]]


def features() -> list[Capabilities]:
    """Features, without the one that is a row of tasks."""
    return [part for part in FEATURES.values() if part.name != "heterogeneous"]


def choosers() -> list[Capabilities]:
    """Methods: edge scores, then methods that learn masks or compare scores."""
    scores = [score_part(name) for name in SCORES]
    return [*scores, *(METHODS[name].part() for name in METHODS if name not in SCORES)]


def models() -> list[Capabilities]:
    """Built-in models."""
    return [model_part(name) for name in MODELS]


def tables() -> dict[str, tuple[list[Capabilities], list[Capabilities]]]:
    """Rows and columns of each table, by its title."""
    return {
        "Tasks and features": (features(), tasks()),
        "Tasks and models": (models(), tasks()),
        "Tasks and methods": (choosers(), tasks()),
        "Tasks and uses of a ticket": (list(OPERATIONS.values()), tasks()),
        "Models and features": (features()[:-1], models()),
    }


def pairs() -> list[tuple[Capabilities, Capabilities]]:
    """Pairs of features that can be combined: methods that learn edge masks have no score."""
    of_scores = {"weighted degrees", "whole units"}
    return [
        pair
        for pair in combinations(features(), 2)
        if not (pair[0].name == "edge masks" and pair[1].name in of_scores)
        and not (pair[1].name == "edge masks" and pair[0].name in of_scores)
    ]


def _table(rows: Sequence[Capabilities], columns: Sequence[Capabilities]) -> list[str]:
    lines = ["| | " + " | ".join(c.name for c in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row in rows:
        cells = ["-" if reason_against([row, column]) else "yes" for column in columns]
        lines.append(f"| {row.name} | " + " | ".join(cells) + " |")
    return lines


def _reasons(both: Sequence[tuple[Capabilities, Capabilities]]) -> list[str]:
    """Rows of a table of reasons; parts with the same reason share a row."""
    refused: dict[tuple[str, str], dict[str, None]] = {}
    for pair in both:
        match = REASON.match(reason_against(pair) or "")
        if match:
            refused.setdefault((match[1], match[3]), {})[match[2]] = None
    rows: dict[tuple[str, str], list[str]] = {}
    for (part, reason), others in refused.items():
        rows.setdefault((", ".join(others), reason), []).append(part)
    lines = [
        f"| {', '.join(parts)} | {others} | {reason} |" for (others, reason), parts in rows.items()
    ]
    return ["| | does not support | because |", "|---|---|---|", *lines] if lines else []


def page() -> str:
    """The page.

    Example:
        >>> "| nagphormer | yes |" in page()
        True
    """
    lines = [HEAD]
    for title, (rows, columns) in tables().items():
        lines += [f"## {title}", *_table(rows, columns), ""]
        lines += [*_reasons([(row, column) for row in rows for column in columns]), ""]
    lines += ["## Features together", "All pairs of features work together, except:", ""]
    lines += [*_reasons(pairs()), ""]
    return "\n".join(lines)


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    write_atomically(OUT, page().encode())


if __name__ == "__main__":
    main()
