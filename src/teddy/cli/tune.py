"""``teddy tune``: find lambda, and more if asked, by the validation metric."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from teddy.cli.options import Dataset, Json, Load, ModelName, load_files, words
from teddy.cli.settings_options import takes_settings
from teddy.settings import ENTRIES, Settings
from teddy.sparsity import check_count

#: Settings that can be searched.
_SEARCHED = ", ".join(name for name, entry in ENTRIES.items() if entry.tune)


@takes_settings
def tune(
    settings: dict[str, Any],
    dataset: Dataset = "citeseer",
    model: ModelName = "gin",
    method: Annotated[str, Option(help="With options, as of `teddy sweep`.")] = "teddy",
    search: Annotated[
        str, Option(help=f"Settings to search, of {_SEARCHED}; separated by commas.")
    ] = "distill",
    level: Annotated[int, Option(help="Level of the paper to tune at.")] = 20,
    trials: Annotated[int, Option(help="Settings to try, those of before among them.")] = 20,
    seeds: Annotated[int, Option(help="Seeds that judge a setting: 0, 1, ...")] = 3,
    jobs: Annotated[int, Option(help="Processes: seeds side by side.")] = 1,
    out: Annotated[
        Path | None,
        Option(help="Folder; the same again goes on. Default: one under runs/ for each search."),
    ] = None,
    json_: Json = False,
    load: Load = None,
) -> None:
    """Tune lambda by the task's validation metric; the same command again goes on."""
    from teddy.cli.printing import print_table
    from teddy.cli.progress import cell_progress, resumable
    from teddy.methods import SparsityLevel
    from teddy.sweep.grid import file_name
    from teddy.sweep.metric import Metric
    from teddy.sweep.tune import TuningSpec
    from teddy.sweep.tune import tune as run_tune

    check_count(seeds, "seeds")
    load_files(load)
    names = tuple(words(search))
    what = TuningSpec(
        dataset, model, method, SparsityLevel.from_schedule(level), tuple(range(seeds)), names
    )
    asked = Settings.from_dict(settings)
    which = f"{method} {names} {level} {seeds} {asked.to_dict()}"
    folder = out or Path("runs") / f"tune-{file_name(dataset, model, digest_only=which)}"
    with resumable(folder), cell_progress(trials, "trials") as progress:
        tuning = run_tune(what, folder, trials, asked, jobs, progress, load or ())
    best, metric = tuning.best, Metric.from_task(asked.task.task)
    if json_:
        result = {
            "dataset": dataset, "model": model, "method": method, "simulation": level,
            "task": metric.task, "metric": metric.name,
            "seeds": list(range(seeds)), "best": best.settings, "val": best.val,
            "trials": [{**trial.settings, "val": trial.val} for trial in tuning.trials],
            "folder": str(folder),
        }  # fmt: skip
        typer.echo(json.dumps(result))
        return
    print_table(
        f"{dataset}, {model}, {method}: mean validation {metric.name} %, {seeds} seed"
        f"{'s' * (seeds > 1)}, best first",
        (*names, "val"),
        [
            (*(f"{trial.settings[name]:.4g}" for name in names), f"{trial.val:.2f}")
            for trial in sorted(tuning.trials, key=lambda trial: -trial.val)[:10]
        ],
    )
    options = " ".join(f"--{n.replace('_', '-')} {v:.4g}" for n, v in best.settings.items())
    typer.echo(f"{len(tuning.trials)} trials in {folder}; the best: {options}")
