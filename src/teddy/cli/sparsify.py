"""``teddy sparsify``: the edges of a table that matter."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from teddy.cli.options import Json
from teddy.errors import InputError

if TYPE_CHECKING:
    from teddy.scale.sparsify import Sparsified

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip


def sparsify(
    table: Annotated[
        str, Argument(metavar="IN", help="Parquet, CSV or TSV: a file, a folder or a glob.")
    ],
    out: Annotated[
        str, Argument(metavar="OUT", help="A .parquet or .csv file, or a folder of files.")
    ],
    sparsity: Annotated[float, Option(help="Share of edges to remove, 0 to 1.")],
    score: Annotated[
        str,
        Option(help="teddy, degree-high, degree-low, two-hop, resistance or random."),
    ] = "teddy",
    seed: Annotated[int, Option(help="Seed of the random score.")] = 0,
    engine: Annotated[
        str, Option(help="auto, memory, stream, duckdb or spark; all give the same edges.")
    ] = "auto",
    directed: Annotated[
        bool, Option("--directed", help="An edge and its reverse are two.")
    ] = False,
    source: Annotated[
        str | None, Option(help="Column of one end; default: source, src, ...")
    ] = None,
    target: Annotated[
        str | None, Option(help="Column of the other; default: target, dst, ...")
    ] = None,
    ids: Annotated[str, Option(help="integer, text, or auto: as they look.")] = "auto",
    memory: Annotated[
        str | None, Option(help="What it may take, as 4GB; default: what is free.")
    ] = None,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Replace OUT; of folders, those of earlier runs.")
    ] = False,
    spark_master: Annotated[
        str | None, Option(help="Where Spark runs; default: local, on all cores.")
    ] = None,
    json_: Json = False,
) -> None:
    """Write the edges of a table that matter, from any size of table."""
    from teddy.cli.progress import work_progress
    from teddy.scale import sparsify_table

    with work_progress() as progress:
        done = sparsify_table(
            table,
            out,
            sparsity,
            score=score,
            seed=seed,
            engine=engine,
            directed=directed,
            source=source,
            target=target,
            ids=ids,
            memory=None if memory is None else read_bytes(memory),
            overwrite=overwrite,
            spark_master=spark_master,
            progress=progress,
        )
    if json_:
        typer.echo(json.dumps({"table": table, "out": out, "sparsity": sparsity, **asdict(done)}))
    else:
        _print(done, out)


def read_bytes(text: str) -> int:
    """A size with its unit.

    Example:
        >>> read_bytes("4GB"), read_bytes("1.5 GiB")
        (4000000000, 1610612736)
        >>> read_bytes("much")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: memory is 'much', expected a size such as 4GB or 500MB
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if found is None or found[2].upper() not in _UNITS:
        raise InputError(f"memory is '{text}', expected a size such as 4GB or 500MB")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def _print(done: Sparsified, out: str) -> None:
    from teddy.cli.printing import print_table, print_text

    def share(counts: dict[str, int]) -> str:
        return f"{100 * counts['kept'] / counts['total']:.1f}%" if counts["total"] else ""

    degrees = done.degrees
    print_table(
        f"{out}: {done.score}, by {done.engine} ({done.reason}) in {done.seconds['total']:.1f} s",
        ("", "before", "after", "left"),
        [
            ("edges", f"{done.edges['total']:,}", f"{done.edges['kept']:,}", share(done.edges)),
            ("rows", f"{done.rows['total']:,}", f"{done.rows['kept']:,}", share(done.rows)),
            ("self-loops, which stay", f"{done.loops:,}", f"{done.loops:,}", ""),
            ("nodes with an edge", f"{degrees.nodes:,}", "", ""),
            ("degree: mean, median, most",
             f"{degrees.mean:.1f}, {degrees.median:,}, {degrees.max:,}", "", ""),
            ("components",
             "", "not counted" if done.components is None else f"{done.components:,}", "")
        ],
    )  # fmt: skip
    if done.threshold is not None:
        seed = "" if done.seed is None else f", seed {done.seed}"
        print_text(
            f"The last removed edge has the {done.score} score {done.threshold.score:.6g}{seed}."
        )
