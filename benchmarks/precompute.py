"""Pre-computation of graph transformers on the ogbn-arxiv graph: seconds and memory.

The graph is real, its 128 features are random surrogates. TEDDY_DATA names the graph's folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.scaling import memory
from teddy.errors import InputError
from teddy.models import build_model

FEATURES, CLASSES = 128, 40
#: Models with their options.
MODELS = (
    "nagphormer:positions=0",
    "nagphormer:positions=3",
    "specformer:eigenvalues=100",
    "specformer",
)


def graph_file() -> Path | None:
    """Path of the structure of ogbn-arxiv, or None."""
    path = Path(os.environ.get("TEDDY_DATA", "")) / "ogbn-arxiv" / "arxiv-structure.npz"
    return path if path.is_file() else None


def precompute(model: str) -> dict[str, Any]:
    """Seconds and memory of a model's preparation in a separate process, or its error."""
    command = [sys.executable, "-m", "benchmarks.precompute", model, str(torch.get_num_threads())]
    no_cache = {**os.environ, "TEDDY_CACHE_GIB": "0"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=no_cache)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _main(spec: str, threads: str) -> None:
    torch.set_num_threads(int(threads))
    path = graph_file()
    assert path is not None, "TEDDY_DATA has no ogbn-arxiv/arxiv-structure.npz"
    with np.load(path) as file:
        edges = torch.from_numpy(file["edge_index"].astype(np.int64))
        num_nodes = int(file["num_nodes"])
    edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    x = torch.randn(num_nodes, FEATURES, generator=torch.Generator().manual_seed(0))
    model = build_model(spec, FEATURES, CLASSES)
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    result: dict[str, Any] = {"work": f"{spec}, ogbn-arxiv, surrogate features"}
    started = time.perf_counter()
    try:
        model.prepare(x, edge_index)
    except InputError as error:
        result["refused"] = str(error)
    result["seconds"] = time.perf_counter() - started
    result["bytes_above"] = memory("VmHWM") - before
    print(json.dumps(result))


if __name__ == "__main__":
    _main(*sys.argv[1:])
