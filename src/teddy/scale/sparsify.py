"""``sparsify_table``: prune an edge table with any engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from teddy.data.reading import reason
from teddy.errors import InputError
from teddy.kernels import jit
from teddy.machine import free_memory
from teddy.registry import Registry
from teddy.scale import memory as memory_engine
from teddy.scale import stream
from teddy.scale.engine import Degrees, Engine, EngineJob, Progress
from teddy.scale.files import output_format
from teddy.scale.memory import MemoryEngine
from teddy.scale.output import Output
from teddy.scale.row_writer import FULL, disk_full
from teddy.scale.scores import table_score
from teddy.scale.stream import StreamEngine
from teddy.scale.table import EdgeTable
from teddy.scale.threshold import Threshold
from teddy.sparsity import check_seed, check_sparsity, num_pruned_edges


def _duckdb(job: EngineJob) -> Engine:
    _check_installed("duckdb", ("ibis", "duckdb"), "scale")
    from teddy.scale.duckdb import DuckDBEngine

    return DuckDBEngine(job)


def _spark(job: EngineJob) -> Engine:
    _check_installed("spark", ("ibis", "pyspark"), "spark")
    from teddy.scale.spark import SparkEngine

    return SparkEngine(job)


def _check_installed(engine: str, modules: tuple[str, ...], extra: str) -> None:
    if any(find_spec(module) is None for module in modules):
        raise InputError(
            f"the {engine} engine needs {' and '.join(modules)}: pip install 'teddy-glt[{extra}]'"
        )


ENGINES: Registry[Callable[[EngineJob], Engine]] = Registry("engine")
ENGINES.register("memory")(MemoryEngine)
ENGINES.register("stream")(StreamEngine)
ENGINES.register("duckdb")(_duckdb)
ENGINES.register("spark")(_spark)


@dataclass(frozen=True)
class Sparsified:
    """Result of :func:`sparsify_table`.

    Attributes:
        score: The edge score.
        seed: Seed of the random score; None for other scores.
        engine: The engine.
        reason: Reason for this engine.
        rows: Rows of the table, ``total`` and ``kept``.
        edges: Edges of the simple graph, ``total`` and ``kept``.
        loops: Rows that are self-loops, which are all kept.
        degrees: Degrees of the simple graph before pruning.
        components: Connected components of the kept edges; None if they were not counted.
        threshold: The last removed edge; None if none was.
        seconds: Time of each step.
    """

    score: str
    seed: int | None
    engine: str
    reason: str
    rows: dict[str, int]
    edges: dict[str, int]
    loops: int
    degrees: Degrees
    components: int | None
    threshold: Threshold | None
    seconds: dict[str, float]


def sparsify_table(
    table: str,
    out: str,
    sparsity: float,
    *,
    score: str = "teddy",
    seed: int = 0,
    engine: str = "auto",
    directed: bool = False,
    source: str | None = None,
    target: str | None = None,
    ids: str = "auto",
    memory: int | None = None,
    overwrite: bool = False,
    spark_master: str | None = None,
    progress: Progress | None = None,
) -> Sparsified:
    r"""Prune an edge table on disk (*Searching Subgraph* of Algorithm 1).

    Every engine removes the same :math:`\lceil p_g M \rceil` of the :math:`M` edges of the simple
    graph, those that come first in the order of

    .. math::
        (\mathrm{score}(i, j), \; \mathrm{md5}(i, j)) .

    Duplicate rows and both directions of an edge are kept or removed together. Self-loops and all
    other columns are kept.

    Args:
        table: Parquet, CSV or TSV: a file, a folder or a glob. It must not change during the run.
        out: ``*.parquet`` or ``*.csv`` for one file, any other name for a folder of files.
        sparsity: Share :math:`p_g` of edges to remove, in [0, 1].
        score: ``teddy``, ``degree-high``, ``degree-low``, ``two-hop`` or ``resistance``, which
            remove the same edges as :func:`teddy.prune_edges`; or ``random``, which orders edges by
            the md5 of the seed and the two ids, so it differs from ``prune_edges(score="random")``.
        seed: Seed of ``random``; other scores do not use it.
        engine: ``memory``, ``stream``, ``duckdb``, ``spark``, or ``auto`` by size and memory.
        directed: Whether an edge and its reverse are distinct edges. The degree of a node then
            counts edges of both directions.
        source: Column of one node's ids; by default ``source`` or a usual name.
        target: Column of the other node's ids.
        ids: ``integer``, ``text`` or ``auto``.
        memory: Bytes that it may use; by default the free memory.
        overwrite: Whether to replace ``out``; a folder only if an earlier run has written all of
            its files.
        spark_master: URL of Spark's master; by default Spark runs locally.
        progress: Called with the name of the work, the finished amount and the total.

    Example:
        >>> import tempfile, pathlib
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> rows = ["source,target,since", "0,1,x", "1,2,y", "2,0,z", "2,3,u"]
        >>> _ = (folder / "edges.csv").write_text("\n".join(rows))
        >>> done = sparsify_table(str(folder / "edges.csv"), str(folder / "few.csv"), 0.5)
        >>> print((folder / "few.csv").read_text(), end="")
        source,target,since
        0,1,x
        2,3,u
        >>> done.engine, done.edges
        ('memory', {'total': 4, 'kept': 2})
    """
    check_sparsity(sparsity)
    chosen_score, seed = table_score(score), check_seed(seed)
    if engine != "auto":
        ENGINES[engine]  # raises on an unknown name
    available = memory if memory is not None else int(0.9 * free_memory())
    edges: EdgeTable
    output: Any
    with ExitStack() as stack:
        if "://" in table or "://" in out:
            edges, output = _remote(stack, table, out, engine, source, target, ids, available,
                                    spark_master, overwrite)  # fmt: skip
            name, why = "spark", "the table is remote"
        else:
            as_text = output_format(out) != "parquet"
            edges = EdgeTable.open(table, source, target, ids, as_text=as_text)
            stack.enter_context(edges.inputs.guarded())
            name, why = engine, "requested"
            if engine == "auto":
                name, why = choose_engine(edges, available)
            output = Output(out, edges, overwrite)
        stack.enter_context(output)
        report = progress or (lambda what, done, total: None)
        prefix = chosen_score.digest_prefix(seed)
        job = EngineJob(
            edges, output.work, directed, chosen_score, prefix, available, report, spark_master
        )
        worker = ENGINES[name](job)
        stack.callback(worker.close)
        try:
            started = time.perf_counter()
            worker.score()
            scored = time.perf_counter()
            num_pruned = num_pruned_edges(sparsity, worker.num_edges)
            threshold = worker.choose(num_pruned)
            chosen = time.perf_counter()
            kept = worker.write(output)
            written = time.perf_counter()
        except worker.failures as error:
            if FULL in str(error):
                raise disk_full(output.work, FULL) from error
            raise InputError(f"{name}: {reason(error)}") from error
    return Sparsified(
        score=score,
        seed=seed if chosen_score.seeded else None,
        engine=name,
        reason=why,
        rows={"total": edges.num_rows, "kept": kept},
        edges={"total": worker.num_edges, "kept": worker.num_edges - num_pruned},
        loops=worker.num_loops,
        degrees=worker.degrees,
        components=worker.components,
        threshold=threshold if num_pruned else None,
        seconds={
            "score": scored - started,
            "choose": chosen - scored,
            "write": written - chosen,
            "total": written - started,
        },
    )


def _remote(
    stack: ExitStack, table: str, out: str, engine: str, source: str | None, target: str | None,
    ids: str, memory: int, master: str | None, overwrite: bool,
) -> tuple[EdgeTable, Any]:  # fmt: skip
    """Open a remote table and output."""
    _check_installed("spark", ("ibis", "pyspark"), "spark")
    from teddy.scale.remote import RemoteOutput, RemoteTable
    from teddy.scale.spark import FAILURES, start_session

    if engine not in ("auto", "spark"):
        raise InputError(f"engine is {engine}, expected spark for '{table}' and '{out}'")
    if not ("://" in table and "://" in out):
        raise InputError(f"got '{table}' and '{out}', expected both with a scheme, such as file://")
    session, new = start_session(memory, master)
    if new:
        stack.callback(session.stop)
    try:
        output = RemoteOutput(session, table, out, overwrite)
        edges = RemoteTable.from_session(session, table, source, target, ids)
        stack.enter_context(edges.inputs.guarded())
        return edges, output
    except FAILURES as error:
        raise InputError(f"spark: {reason(error)}") from error


def choose_engine(table: EdgeTable, memory: int) -> tuple[str, str]:
    """Choose the engine for a table and a number of bytes; return it and the reason.

    A table that fits twice uses ``memory``; one whose node arrays fit uses ``stream``; others use
    ``duckdb``, which spills to disk.
    """
    needed = memory_engine.bytes_needed(table)
    rows, free = f"{table.num_rows:,} rows", f"{memory / 1e9:.1f} GB"
    if 2 * needed <= memory:
        return "memory", f"{rows} take about {needed / 1e9:.1f} GB of {free}"
    if jit.numba is not None:
        nodes, why, node = stream.most_nodes(table)
        total = stream.FIXED + nodes * node
        if total <= memory:
            return "stream", (
                f"{rows} do not fit into {free}, {nodes:,} nodes {why} take {total / 1e9:.1f} GB"
            )
    if find_spec("ibis") is not None and find_spec("duckdb") is not None:
        return "duckdb", f"neither {rows} nor their nodes may fit into {free}; it spills to disk"
    if jit.numba is None:
        raise InputError(
            f"{rows} do not fit into {free}, expected more memory or another engine: "
            "pip install 'teddy-glt[scale]'"
        )
    return "stream", f"{rows} do not fit into {free}, and duckdb is not installed"
