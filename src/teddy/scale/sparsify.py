"""From an edge table to the edges that matter."""

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
    """What was done.

    Attributes:
        seed: Seed of the random score; None for other scores.
        reason: Why this engine.
        rows: Rows of the table, and of what is left.
        edges: Edges of the simple graph, and what is left.
        loops: Rows that are self-loops; all of them stay.
        degrees: Of the simple graph, before.
        components: Connected components of what is left; None where they weren't counted.
        threshold: The last edge that went; None where none did.
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
    r"""Write the rows of an edge table whose edges stay (Algorithm 1, *Searching Subgraph*).

    Exactly :math:`\lceil p_g M \rceil` of the :math:`M` edges of the simple graph go, the same from
    every engine. A row stays or goes with its edge: duplicates and both directions share one fate,
    self-loops stay; other columns are carried along.

    Args:
        table: Parquet, CSV or TSV: a file, a folder or a glob. It must not change during the run.
        out: ``*.parquet`` or ``*.csv`` for one file, any other name for a folder of files.
        sparsity: Share :math:`p_g` of edges to remove, in [0, 1].
        score: ``teddy``, ``degree-high``, ``degree-low``, ``two-hop`` or ``resistance``, which
            remove the same edges as :func:`teddy.prune_edges` does by the method of that name; or
            ``random``, which orders edges by the md5 of the seed and their two ids. That is
            another draw than the ``random`` of :func:`teddy.prune_edges`, whose generator needs
            all edges in one sequence.
        seed: Seed of ``random``; other scores draw nothing.
        engine: ``memory``, ``stream``, ``duckdb``, ``spark``, or ``auto`` by size and memory.
        directed: Whether an edge and its reverse are two edges. A node's degree is then the number
            of edges that it is in, either way.
        source: The column of one end's ids; by default ``source`` or a usual name.
        target: The column of the other's.
        ids: ``integer``, ``text`` or ``auto``.
        memory: Bytes that it may take; by default what is free.
        overwrite: Whether ``out`` may be replaced; a folder only if an earlier run has written all
            that is in it.
        spark_master: Where Spark runs; by default here.
        progress: Called with what is being done, how much is done, and all of it.

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
        ENGINES[engine]  # an unknown name is an error before anything is read
    room = memory if memory is not None else int(0.9 * free_memory())
    edges: EdgeTable
    output: Any
    with ExitStack() as stack:
        if "://" in table or "://" in out:
            edges, output = _elsewhere(stack, table, out, engine, source, target, ids, room,
                                       spark_master, overwrite)  # fmt: skip
            name, why = "spark", "the table is where Spark reads"
        else:
            as_text = output_format(out) != "parquet"
            edges = EdgeTable.open(table, source, target, ids, as_text=as_text)
            stack.enter_context(edges.inputs.guarded())
            name, why = choose_engine(edges, room) if engine == "auto" else (engine, "asked for")
            output = Output(out, edges, overwrite)
        stack.enter_context(output)
        report = progress or (lambda what, done, total: None)
        prefix = chosen_score.digest_prefix(seed)
        job = EngineJob(
            edges, output.work, directed, chosen_score, prefix, room, report, spark_master
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


def _elsewhere(
    stack: ExitStack, table: str, out: str, engine: str, source: str | None, target: str | None,
    ids: str, room: int, master: str | None, overwrite: bool,
) -> tuple[EdgeTable, Any]:  # fmt: skip
    """A table and an output where Spark resolves their names."""
    _check_installed("spark", ("ibis", "pyspark"), "spark")
    from teddy.scale.remote import RemoteOutput, RemoteTable
    from teddy.scale.spark import FAILURES, start_session

    if engine not in ("auto", "spark"):
        raise InputError(f"engine is {engine}, expected spark for '{table}' and '{out}'")
    if not ("://" in table and "://" in out):
        raise InputError(f"'{table}' and '{out}': expected both with a scheme, such as file://")
    session, new = start_session(room, master)
    if new:
        stack.callback(session.stop)
    try:
        output = RemoteOutput(session, table, out, overwrite)
        edges = RemoteTable.from_session(session, table, source, target, ids)
        stack.enter_context(edges.inputs.guarded())
        return edges, output
    except FAILURES as error:
        raise InputError(f"spark: {reason(error)}") from error


def choose_engine(table: EdgeTable, room: int) -> tuple[str, str]:
    """The engine for a table and so many bytes, and why.

    What fits twice is done in memory; else what needs node arrays only is streamed; else duckdb
    spills.
    """
    needed = memory_engine.bytes_needed(table)
    rows, free = f"{table.num_rows:,} rows", f"{room / 1e9:.1f} GB"
    if 2 * needed <= room:
        return "memory", f"{rows} take about {needed / 1e9:.1f} GB of {free}"
    if jit.numba is not None:
        nodes, why, node = stream.most_nodes(table)
        total = stream.FIXED + nodes * node
        if total <= room:
            return "stream", (
                f"{rows} don't fit into {free}, {nodes:,} nodes {why} take {total / 1e9:.1f} GB"
            )
    if find_spec("ibis") is not None and find_spec("duckdb") is not None:
        return "duckdb", f"neither {rows} nor their nodes may fit into {free}; it spills to disk"
    if jit.numba is None:
        raise InputError(
            f"{rows} don't fit into {free}, expected more memory or another engine: "
            "pip install 'teddy-glt[scale]'"
        )
    return "stream", f"{rows} don't fit into {free}, and duckdb isn't installed"
