"""Tune lambda for the paper's data sets and models; write src/teddy/methods/tuned.json.

    python tools/make_tuned.py [--only citeseer-gin,...] [--trials 12] [--data-dir DIR]

Other entries of the file are kept; a search that was stopped resumes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from teddy.methods import SparsityLevel
from teddy.settings import Settings
from teddy.store.atomic import write_atomically
from teddy.sweep.tune import TuningSpec, tune

OUT = Path(__file__).parents[1] / "src" / "teddy" / "methods" / "tuned.json"
PAIRS = [f"{d}-{m}" for d in ("citeseer", "cora", "pubmed") for m in ("gcn", "gin", "gat")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PAIRS))
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--data-dir")
    arguments = parser.parse_args()
    for pair in arguments.only.split(","):
        dataset, model = pair.split("-")
        search = TuningSpec(
            dataset,
            model,
            level=SparsityLevel.from_schedule(20),
            seeds=tuple(range(arguments.seeds)),
        )
        folder = arguments.runs / f"tune-{pair}"
        settings = Settings.from_dict({"data_dir": arguments.data_dir})
        tuning = tune(search, folder, arguments.trials, settings, arguments.jobs)
        entry = {
            "settings": {
                name: float(f"{value:.3g}") for name, value in tuning.best.settings.items()
            },
            "val": round(tuning.best.val, 3),
            "default_val": round(tuning.trials[0].val, 3),
            "trials": [[round(t.settings["distill"], 4), round(t.val, 3)] for t in tuning.trials],
            "command": f"teddy tune {dataset} --model {model} --trials {arguments.trials} "
            f"--seeds {arguments.seeds}",
        }
        known = json.loads(OUT.read_text())
        known["tuned"][f"{dataset} {model}"] = entry
        known["tuned"] = dict(sorted(known["tuned"].items()))
        lines = json.dumps(known, indent=1)
        write_atomically(OUT, (lines + "\n").encode())
        print(pair, entry["settings"], entry["val"], "default", entry["default_val"], flush=True)


if __name__ == "__main__":
    main()
