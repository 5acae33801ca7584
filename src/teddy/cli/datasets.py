"""``teddy datasets``: the data sets known by name."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from teddy.cli.options import Json


def datasets(json_: Json = False) -> None:
    """List the data sets known by name, with their sizes.

    Examples:
        teddy datasets
        teddy datasets --json
        teddy datasets --json | python -m json.tool
    """
    from teddy.cli.printing import print_table
    from teddy.data import list_datasets

    entries = list_datasets()
    if json_:
        typer.echo(json.dumps({"datasets": [asdict(entry) for entry in entries]}))
        return

    print_table(
        "Data sets; your own file or folder works too (docs/data.md)",
        ("name", "graphs", "nodes", "edges", "features", "classes", "source"),
        [
            (e.name, f"{e.graphs:,}", f"{e.nodes:,}", f"{e.edges:,}", f"{e.features:,}",
             f"{e.classes:,}", "bundled" if e.bundled else "download")
            for e in entries
        ],
    )  # fmt: skip
