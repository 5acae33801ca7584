"""``teddy serve``: answer requests over HTTP."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from teddy.cli.options import DataDir, Load, Nodes, OwnModule, check_names, load_files, option
from teddy.cli.ticket_data import (
    TicketDataset,
    TicketFile,
    TicketSplit,
    TicketSplitSeed,
    load_graph,
    load_ticket,
)
from teddy.errors import InputError
from teddy.sparsity import check_count


def serve(
    ticket: TicketFile,
    dataset: TicketDataset = None,
    split: TicketSplit = None,
    split_seed: TicketSplitSeed = None,
    nodes: Nodes = None,
    data_dir: DataDir = None,
    module: OwnModule = None,
    host: Annotated[str, option("Output", "Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, option("Output", "Port to listen on; 0: any free port.")] = 8000,
    workers: Annotated[
        int, option("Output", "Number of processes, which share the memory of the graph.")
    ] = 1,
    max_nodes: Annotated[int, option("Advanced", "Most nodes of a request.")] = 10_000,
    max_megabytes: Annotated[int, option("Advanced", "Largest body of a request.")] = 16,
    load: Load = None,
) -> None:
    """Answer predictions for single nodes over HTTP (extra serve).

    POST /predict and /predict/new; /health, /ready and /metrics; /docs describes all of it.

    Examples:
        teddy serve my.ticket
        teddy serve my.ticket my-graph/ --host 0.0.0.0 --port 8080 --workers 4
        teddy serve my.ticket --max-nodes 100000 --max-megabytes 64
    """
    for name, value in {"workers": workers, "max_nodes": max_nodes}.items():
        check_count(value, name)
    check_count(max_megabytes, "max_megabytes")
    if not 0 <= port < 1 << 16:
        raise InputError(f"port must be in 0 to 65535, got {port}")
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "prometheus_client")):
        raise InputError("serving needs FastAPI and uvicorn: pip install 'teddy-glt[serve]'")
    check_names([dataset] if dataset is not None else [])
    load_files(load)
    from teddy.data.features import node_ids
    from teddy.serving.workers import listen, run
    from teddy.ticket.file import read_ticket

    info = read_ticket(ticket).info
    data = load_graph(ticket, info, dataset, split, split_seed, nodes, data_dir)
    loaded = load_ticket(ticket, module, lambda: data)
    server = loaded.server(data)
    server.logits([0] if server.num_nodes else [])  # compiles what has to be
    listener = listen(host, port)
    address, number, *_ = listener.getsockname()
    shown = f"[{address}]" if ":" in address else address

    def make_app() -> object:
        from teddy.serving.schema import Described, Limits
        from teddy.serving.service import create_app

        metadata = {
            "ticket": Path(ticket).name, "dataset": info.dataset, "method": info.method,
            "task": info.task["name"], "edges": info.edges.kept, "features": info.graph["features"],
        }  # fmt: skip
        ids = None if data.get("node_ids") is None else [str(node) for node in node_ids(data)]
        described = Described(metadata, info.classes, ids)
        return create_app(server, described, Limits(max_nodes, max_megabytes << 20))

    print(f"teddy: serving {ticket} on http://{shown}:{number}", file=sys.stderr, flush=True)
    run(make_app, listener, workers)
