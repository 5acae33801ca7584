"""What graph transformers compute before they train, on the real ogbn-arxiv graph.

The graph is real, its 128 features are drawn: surrogates. The graph's file is found by TEDDY_DATA.
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
    """The structure of ogbn-arxiv, where it is."""
    path = Path(os.environ.get("TEDDY_DATA", "")) / "ogbn-arxiv" / "arxiv-structure.npz"
    return path if path.is_file() else None


def precompute(model: str) -> dict[str, Any]:
    """Seconds and memory of a model's preparation, in a process of its own; or its refusal."""
    command = [sys.executable, "-m", "benchmarks.precompute", model, str(torch.get_num_threads())]
    nothing_kept = {**os.environ, "TEDDY_CACHE_GIB": "0"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=nothing_kept)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _main(word: str, threads: str) -> None:
    torch.set_num_threads(int(threads))
    path = graph_file()
    assert path is not None, "TEDDY_DATA has no ogbn-arxiv/arxiv-structure.npz"
    with np.load(path) as file:
        edges = torch.from_numpy(file["edge_index"].astype(np.int64))
        num_nodes = int(file["num_nodes"])
    edge_index = torch.cat([edges, edges.flip(0)], dim=1)
    x = torch.randn(num_nodes, FEATURES, generator=torch.Generator().manual_seed(0))
    model = build_model(word, FEATURES, CLASSES)
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    result: dict[str, Any] = {"work": f"{word}, ogbn-arxiv, surrogate features"}
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
