"""``teddy sparsify``: edge pruning of tables of any size."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument

from teddy import names
from teddy.cli.completion import complete
from teddy.cli.options import Json, option
from teddy.errors import InputError
from teddy.registry import unknown_name
from teddy.sparsity import check_sparsity

if TYPE_CHECKING:
    from teddy.scale.sparsify import Sparsified

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip


def sparsify(
    table: Annotated[
        str, Argument(metavar="IN", help="Edge table: a Parquet, CSV or TSV file, folder or glob.")
    ],
    out: Annotated[
        str,
        Argument(metavar="OUT", help="Output: a .parquet or .csv file, or a folder of files."),
    ],
    sparsity: Annotated[float, option("Pruning", "Share of the edges to remove, from 0 to 1.")],
    source: Annotated[
        str | None, option("Data", "Column of the source node; default: source, src, ...")
    ] = None,
    target: Annotated[
        str | None, option("Data", "Column of the target node; default: target, dst, ...")
    ] = None,
    ids: Annotated[
        str,
        option(
            "Data",
            "Type of the node ids: integer, text, or auto.",
            autocompletion=complete(["auto", "integer", "text"]),
        ),
    ] = "auto",
    directed: Annotated[
        bool, option("Data", "Directed edges: an edge and its reverse are two edges.", "--directed")
    ] = False,
    score: Annotated[
        str,
        option(
            "Pruning",
            "Edge score: teddy, degree-high, degree-low, two-hop, resistance or random.",
            autocompletion=complete(names.TABLE_SCORES),
        ),
    ] = "teddy",
    seed: Annotated[int, option("Pruning", "Seed of the random score.")] = 0,
    overwrite: Annotated[
        bool,
        option(
            "Output",
            "Replacement of an existing output; in a folder, of earlier output only.",
            "--overwrite",
        ),
    ] = False,
    json_: Json = False,
    engine: Annotated[
        str,
        option(
            "Advanced",
            "Engine: auto, memory, stream, duckdb or spark; all keep the same edges.",
            autocompletion=complete(["auto", "memory", "stream", "duckdb", "spark"]),
        ),
    ] = "auto",
    memory: Annotated[
        str | None, option("Advanced", "Memory limit, such as 4GB; default: the free memory.")
    ] = None,
    spark_master: Annotated[
        str | None, option("Advanced", "URL of the Spark master; default: local, on all cores.")
    ] = None,
) -> None:
    """Prune the edges of a table of any size.

    Removes the edges with the lowest scores. Tables may be larger than memory.

    Examples:
        teddy sparsify edges.parquet pruned.parquet --sparsity 0.64
        teddy sparsify edges.csv pruned.csv --sparsity 0.5 --score random --seed 1
        teddy sparsify "parts/*.parquet" pruned/ --sparsity 0.9 --memory 4GB
    """
    if score not in names.SCORES:
        raise unknown_name("score", score, names.TABLE_SCORES)
    check_sparsity(sparsity)
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
    """Bytes of a size with its unit.

    Example:
        >>> read_bytes("4GB"), read_bytes("1.5 GiB")
        (4000000000, 1610612736)
        >>> read_bytes("much")
        Traceback (most recent call last):
        ...
        teddy.errors.InputError: memory is 'much', expected a size such as 4GB or 500MB
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if match is None or match[2].upper() not in _UNITS:
        raise InputError(f"memory is '{text}', expected a size such as 4GB or 500MB")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def _print(done: Sparsified, out: str) -> None:
    from teddy.cli.printing import print_table, print_text

    def share(counts: dict[str, int]) -> str:
        return f"{100 * counts['kept'] / counts['total']:.1f}%" if counts["total"] else ""

    degrees = done.degrees
    print_table(
        f"{out}: {done.score}, by {done.engine} ({done.reason}) in {done.seconds['total']:.1f} s",
        ("", "before", "after", "kept"),
        [
            ("edges", f"{done.edges['total']:,}", f"{done.edges['kept']:,}", share(done.edges)),
            ("rows", f"{done.rows['total']:,}", f"{done.rows['kept']:,}", share(done.rows)),
            ("self-loops, all kept", f"{done.loops:,}", f"{done.loops:,}", ""),
            ("nodes with an edge", f"{degrees.nodes:,}", "", ""),
            ("degree: mean, median, max",
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
