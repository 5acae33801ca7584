"""``teddy datasets``: list what there is."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer

from teddy.cli.options import Json


def datasets(json_: Json = False) -> None:
    """List the data sets known by name."""
    from teddy.cli.printing import print_table
    from teddy.data import list_datasets

    known = list_datasets()
    if json_:
        typer.echo(json.dumps({"datasets": [asdict(entry) for entry in known]}))
        return

    print_table(
        "Data sets; a file or folder of your own works too (docs/data.md)",
        ("name", "graphs", "nodes", "edges", "features", "classes", "where"),
        [
            (e.name, f"{e.graphs:,}", f"{e.nodes:,}", f"{e.edges:,}", f"{e.features:,}",
             f"{e.classes:,}", "bundled" if e.bundled else "download or --data-dir")
            for e in known
        ],
    )  # fmt: skip
