"""Find the same tickets with two checkouts, and compare their files byte for byte.

    python tools/same_tickets.py OLD NEW

OLD and NEW are folders of this repository, such as git worktrees. Small graphs, a few epochs, one
thread, with the compiled kernels and without; every combination of task, method and model, and
settings with separate code paths. Messages of unsupported combinations are compared, too, and the
``--json`` output of every command, without times and paths. Exit code 1 if anything differs: a
mistake, or a defect that was fixed on purpose.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

METHODS = ("teddy", "random", "gain", "ugs", "auto")
MODELS = ("gcn", "gin", "own")
TASKS = ("classification", "multilabel", "regression", "link-prediction", "graph-classification")

#: Settings of further cases, on node classification.
SETTINGS: dict[str, dict[str, Any]] = {
    "inductive": {"inductive": True},
    "inductive-training": {"inductive": True, "inference": "training"},
    "directed": {"directed": True},
    "weighted": {"weighted": True},
    "partitions": {"loader": "partitions:parts=3:batch=2"},
    "neurons": {"structure": "neurons"},
    "masks": {"weights": "masks"},
    "patience": {"patience": 1, "evaluate_every": 2},
    "distill-training": {"distill_nodes": "training", "temperature": 2.0},
    "class-weight": {"class_weight": "balanced"},
}

# Keys of JSON with times, sizes and paths.
_NOT_COMPARED = re.compile(
    "seconds|memory|time|speed|ms$|path|folder|file|out$|version|report|reason"
)


def main() -> None:
    """Compare two checkouts, or write the results of this one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?")
    arguments = parser.parse_args()
    if arguments.new is None:
        write_results(arguments.old)
        return
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / name for name in ("old", "new")]
        for checkout, place in zip((arguments.old, arguments.new), places, strict=True):
            for kernels in ("on", "off"):
                run(checkout.resolve(), place / kernels, kernels)
        differences = compare(*places)
    print("\n".join(differences) or "the same")
    sys.exit(1 if differences else 0)


def run(checkout: Path, out: Path, kernels: str) -> None:
    """Write the results of a checkout, in a separate process."""
    out.mkdir(parents=True)
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout / "src"),
        "OMP_NUM_THREADS": "1",
        "TEDDY_KERNELS": kernels,
    }
    command = [sys.executable, str(Path(__file__).resolve()), str(out)]
    subprocess.run(command, env=environment, cwd=out, check=True)


def write_results(out: Path) -> None:
    """Write a ticket, or the error message, for each case; and the JSON of commands."""
    import torch

    import teddy

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for name, data, settings in cases():
        try:
            teddy.find_ticket(data, **settings).save(out / f"{name}.ticket")
        except teddy.InputError as error:
            (out / f"{name}.txt").write_text(f"{error}\n")
    if os.environ.get("TEDDY_KERNELS") != "off":
        write_json(out)


def cases() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Name, data and settings of each search."""
    tiny = {"graph_sparsity": 0.2, "weight_sparsity": 0.2, "epochs": 3}
    for task, method, model in product(TASKS, METHODS, MODELS):
        settings = {**tiny, "task": task, "method": method, **_model(model, task)}
        yield f"{task}-{method}-{model}", _data(task), settings
    for name, more in SETTINGS.items():
        for model in ("gcn", "gat", "own"):
            data = _data("classification")
            if name == "weighted":
                data.edge_weight = 1.0 + (data.edge_index.sum(dim=0) % 5)
            yield f"{name}-{model}", data, {**tiny, **more, **_model(model, "classification")}
    for model in ("sage", "unimp", "nagphormer", "specformer"):
        yield model, _data("classification"), {**tiny, "model": model, "hidden_channels": 8}
    for method in METHODS:
        yield f"hetero-{method}", *_hetero(tiny, method)


def _model(name: str, task: str) -> dict[str, Any]:
    if name != "own":
        return {"model": name, "hidden_channels": 8}
    import torch
    from torch_geometric.nn import GraphConv

    class Own(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            outputs = {"regression": 1, "link-prediction": 8, "graph-classification": 2}
            self.first, self.last = GraphConv(12, 8), GraphConv(8, outputs.get(task, 3))

        def forward(self, x: Any, edge_index: Any, edge_weight: Any = None) -> Any:
            return self.last(self.first(x, edge_index, edge_weight).relu(), edge_index, edge_weight)

    torch.manual_seed(0)
    return {"model": Own()}


def _data(task: str) -> Any:
    """Random graph, or graphs, with informative features."""
    import torch
    from torch_geometric.data import Data

    def graph(seed: int, nodes: int) -> Data:
        generator = torch.Generator().manual_seed(seed)
        x = torch.rand(nodes, 12, generator=generator)
        edges = torch.randint(nodes, (2, 3 * nodes), generator=generator)
        y = torch.arange(nodes) % 3
        x[torch.arange(nodes), y] += 1.0
        return Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], dim=1), y=y)

    if task == "graph-classification":
        graphs = [graph(seed, 6 + seed % 5) for seed in range(30)]
        for number, member in enumerate(graphs):
            member.y = torch.tensor([number % 2])
        return graphs
    data = graph(0, 40)
    part = torch.arange(40) % 4
    data.train_mask, data.val_mask, data.test_mask = part < 2, part == 2, part == 3
    if task == "multilabel":
        data.y = (data.x[:, :3] > 0.7).long()
    if task == "regression":
        data.y = data.x[:, 0] * 3
    if task == "link-prediction":
        del data.y, data.train_mask, data.val_mask, data.test_mask
    return data


def _hetero(tiny: dict[str, Any], method: str) -> tuple[Any, dict[str, Any]]:
    import torch
    import torch_geometric.transforms as T
    from torch_geometric.data import HeteroData
    from torch_geometric.nn import HeteroConv, SAGEConv

    generator = torch.Generator().manual_seed(0)
    data = HeteroData()
    part = torch.arange(30) % 3
    data["paper"].x = torch.rand(30, 6, generator=generator)
    data["paper"].y = torch.arange(30) % 2
    data["author"].x = torch.rand(15, 4, generator=generator)
    for number, mask in enumerate(("train_mask", "val_mask", "test_mask")):
        data["paper"][mask] = part == number
    ends = (
        torch.randint(15, (80,), generator=generator),
        torch.randint(30, (80,), generator=generator),
    )
    data["author", "writes", "paper"].edge_index = torch.stack(ends)
    data = T.ToUndirected()(data)

    class Own(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = HeteroConv({
                ("author", "writes", "paper"): SAGEConv((4, 6), 2),
                ("paper", "rev_writes", "author"): SAGEConv((6, 4), 2),
            })  # fmt: skip

        def forward(self, x_dict: Any, edge_index_dict: Any) -> Any:
            return self.conv(x_dict, edge_index_dict)["paper"]

    torch.manual_seed(0)
    return data, {**tiny, "model": Own(), "target": "paper", "method": method}


def write_json(out: Path) -> None:
    """Write the ``--json`` output of commands on a small graph."""
    import numpy as np

    data = _data("classification")
    masks = {f"{p}_mask": data[f"{p}_mask"].numpy() for p in ("train", "val", "test")}
    np.savez(out / "graph.npz", x=data.x.numpy(), edge_index=data.edge_index.numpy(),
             y=data.y.numpy(), **masks)  # fmt: skip
    rows = "\n".join(f"{a},{b}" for a, b in data.edge_index.t().tolist())
    (out / "edges.csv").write_text(f"source,target\n{rows}\n")
    small = "--hidden-channels 8 --epochs 3"
    commands = {
        "find": f"find graph.npz --model gcn {small} --seeds 3 --out a.ticket",
        "inspect": "inspect a.ticket --graph graph.npz",
        "predict": "predict a.ticket graph.npz",
        "sweep": f"sweep graph.npz --models gcn --methods teddy,random --levels 0,5 --seeds 3 "
        f"{small} --out sweep",
        "search": f"search graph.npz --model gcn {small} --seeds 3 --out search",
        "tune": f"tune graph.npz --model gcn {small} --trials 2 --seeds 1 --out tune",
        "sparsify": "sparsify edges.csv few.csv --sparsity 0.5",
        "datasets": "datasets",
    }
    for name, line in commands.items():
        command = [sys.executable, "-m", "teddy", *line.split(), "--json"]
        done = subprocess.run(command, cwd=out, capture_output=True, text=True, check=False)
        text = done.stdout or done.stderr
        try:
            text = json.dumps(_compared(json.loads(text)), indent=1, sort_keys=True)
        except ValueError:
            text = f"exit {done.returncode}: {text.strip()}"
        (out / f"{name}.json").write_text(f"{text}\n")


def _compared(value: Any) -> Any:
    """Remove values that may differ between runs."""
    if isinstance(value, dict):
        return {k: _compared(v) for k, v in value.items() if not _NOT_COMPARED.search(k)}
    return [_compared(item) for item in value] if isinstance(value, list) else value


def compare(old: Path, new: Path) -> list[str]:
    """Lines for the results that differ.

    Example:
        >>> import tempfile
        >>> old, new = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
        >>> _ = (old / "a.txt").write_text("1"), (new / "a.txt").write_text("2")
        >>> compare(old, new)
        ['a.txt: 1 -> 2']
    """
    names = {
        str(path.relative_to(place))
        for place in (old, new)
        for kind in ("*.ticket", "*.txt", "*.json")
        for path in place.rglob(kind)
        if path.parent.name in ("on", "off", place.name)
    }
    lines = []
    for name in sorted(names):
        exists = [(place / name).exists() for place in (old, new)]
        if not all(exists):
            lines.append(f"{name}: only in {'OLD' if exists[0] else 'NEW'}")
        elif (old / name).read_bytes() != (new / name).read_bytes():
            how = _ticket_difference if name.endswith(".ticket") else _text_difference
            lines.append(f"{name}: {how(old / name, new / name)}")
    return lines


def _text_difference(old: Path, new: Path) -> str:
    before, now = old.read_text().splitlines(), new.read_text().splitlines()
    first = next(
        ((a.strip(), b.strip()) for a, b in zip(before, now, strict=False) if a != b),
        (f"{len(before)} lines", f"{len(now)} lines"),
    )
    return " -> ".join(first)


def _ticket_difference(old: Path, new: Path) -> str:
    """Describe whether tensors differ, and the keys of the header that do."""
    from safetensors import safe_open

    tensors, headers = [], []
    for path in (old, new):
        with safe_open(str(path), framework="np") as file:
            tensors.append({key: file.get_tensor(key).tobytes() for key in file.keys()})  # noqa: SIM118
            headers.append(_flat(json.loads(file.metadata()["teddy"])))
    keys = {key for header in headers for key in header} - {"sha256"}
    differ = sorted(key for key in keys if headers[0].get(key) != headers[1].get(key))
    weights = "tensors are the same" if tensors[0] == tensors[1] else "TENSORS DIFFER"
    return f"{weights}; header: {', '.join(differ) or 'the same'}"


def _flat(plain: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in plain.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


if __name__ == "__main__":
    main()
