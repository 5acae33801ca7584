"""``teddy tune``: find lambda, and more if asked, by validation accuracy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from teddy.cli.options import (
    DataDir,
    Dataset,
    Device,
    Epochs,
    Hidden,
    Json,
    Layers,
    Load,
    Split,
    SplitSeed,
)
from teddy.errors import InputError


def tune(
    dataset: Dataset = "citeseer",
    model: Annotated[str, typer.Option(help="As of `teddy find`.")] = "gin",
    method: Annotated[str, typer.Option(help="With options, as of `teddy sweep`.")] = "teddy",
    search: Annotated[
        str, typer.Option(help="Of distill, lr, weight_decay; separated by commas.")
    ] = "distill",
    simulation: Annotated[int, typer.Option(help="Level of the paper to tune at.")] = 20,
    trials: Annotated[int, typer.Option(help="Settings to try, those of before among them.")] = 20,
    seeds: Annotated[int, typer.Option(help="Seeds that judge a setting: 0, 1, ...")] = 3,
    jobs: Annotated[int, typer.Option(help="Processes: seeds side by side.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder; the same again goes on. Default: one under runs/ for each search.",
            show_default=False,
        ),
    ] = None,
    json_: Json = False,
    epochs: Epochs = 200,
    split: Split = None,
    split_seed: SplitSeed = 0,
    data_dir: DataDir = None,
    hidden: Hidden = None,
    layers: Layers = None,
    load: Load = None,
    device: Device = "cpu",
    threads: Annotated[int, typer.Option(help="Of the CPU, for each process.")] = 1,
) -> None:
    """Tune lambda by validation accuracy; the same command again goes on."""
    from teddy.cli.progress import cell_progress
    from teddy.cli.tables import print_table
    from teddy.methods import Level
    from teddy.methods.plugin import load_file
    from teddy.sweep.grid import Settings, file_name
    from teddy.sweep.tune import Search
    from teddy.sweep.tune import tune as run_tune
    from teddy.training import TrainConfig

    if seeds < 1:
        raise InputError(f"seeds is {seeds}, expected a whole number from 1")
    for path in load or []:
        load_file(path)
    names = tuple(word.strip() for word in search.split(",") if word.strip())
    what = Search(dataset, model, method, Level.simulation(simulation), tuple(range(seeds)), names)
    options_of_model = {"hidden": hidden, "layers": layers}
    settings = Settings(
        TrainConfig(epochs),
        model_options={n: value for n, value in options_of_model.items() if value is not None},
        split=split,
        split_seed=split_seed,
        data_dir=None if data_dir is None else str(data_dir),
        device=device,
        threads=threads,
    )
    which = f"{method} {names} {simulation} {seeds} {settings.to_dict()}"
    folder = out or Path("runs") / f"tune-{file_name(dataset, model, digest_only=which)}"
    try:
        with cell_progress(trials, "trials") as progress:
            tuning = run_tune(what, folder, trials, settings, jobs, progress, load or ())
    except KeyboardInterrupt:
        print(f"teddy: interrupted; the same command goes on in {folder}", file=sys.stderr)
        sys.exit(130)
    best = tuning.best
    if json_:
        result = {
            "dataset": dataset, "model": model, "method": method, "simulation": simulation,
            "seeds": list(range(seeds)), "best": best.settings, "val": best.val,
            "trials": [{**trial.settings, "val": trial.val} for trial in tuning.trials],
            "folder": str(folder),
        }  # fmt: skip
        typer.echo(json.dumps(result))
        return
    print_table(
        f"{dataset}, {model}, {method}: mean validation accuracy %, {seeds} seed"
        f"{'s' * (seeds > 1)}, best first",
        (*names, "val"),
        [
            (*(f"{trial.settings[name]:.4g}" for name in names), f"{trial.val:.2f}")
            for trial in sorted(tuning.trials, key=lambda trial: -trial.val)[:10]
        ],
    )
    options = " ".join(f"--{n.replace('_', '-')} {v:.4g}" for n, v in best.settings.items())
    typer.echo(f"{len(tuning.trials)} trials in {folder}; the best: {options}")
