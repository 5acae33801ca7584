"""Compare edge scores with and without distillation; write docs/results/scores.csv.

    python tools/make_score_results.py [--seeds 3] [--data-dir DIR]

GCN at 64% of edges and weights, on CiteSeer, and on Cora where its raw data are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

import teddy
from teddy.atomic import write_atomically
from teddy.sweep import find_over_seeds

OUT = Path(__file__).parents[1] / "docs" / "results" / "scores.csv"
SCORES = ("teddy", "random", "degree-high", "degree-low")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data-dir")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # the same results on every number of cores
    lines = ["dataset,model,score,distill,seeds,dense_mean,ticket_mean,ticket_std"]
    for name in ("citeseer", "cora"):
        data = teddy.load_dataset(name, data_dir=arguments.data_dir)
        for distill in (0.0, 10.0):
            for score in SCORES:
                study = find_over_seeds(
                    data, seeds=range(arguments.seeds), model="gcn", score=score, distill=distill,
                    graph_sparsity=0.6415, weight_sparsity=0.6415,
                )  # fmt: skip
                result = study.to_dict()
                ticket = result["ticket"]
                lines.append(
                    f"{name},gcn,{score},{distill},{arguments.seeds},"
                    f"{result['dense']['test_mean']:.2f},{ticket['test_mean']:.2f},"
                    f"{ticket['test_std']:.2f}"
                )
                print(lines[-1], flush=True)
    write_atomically(OUT, ("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
