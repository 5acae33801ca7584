"""``teddy tune``: lambda and other settings, tuned on the validation set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from teddy.cli.completion import complete_list
from teddy.cli.options import (
    Dataset,
    Jobs,
    Json,
    Load,
    MethodName,
    ModelName,
    check_names,
    load_files,
    option,
    split_list,
)
from teddy.cli.settings_options import takes_settings
from teddy.settings import ENTRIES, Settings
from teddy.sparsity import check_count

#: Settings that can be tuned.
_SEARCHED = ", ".join(name for name, entry in ENTRIES.items() if entry.tune)


@takes_settings
def tune(
    settings: dict[str, Any],
    dataset: Dataset = "citeseer",
    model: ModelName = "gin",
    method: MethodName = "teddy",
    level: Annotated[int, option("Pruning", "Level of the paper's schedule.")] = 20,
    search: Annotated[
        str,
        option(
            "Training",
            f"Settings to tune, separated by commas: {_SEARCHED}.",
            autocompletion=complete_list(_SEARCHED.split(", ")),
        ),
    ] = "distill",
    trials: Annotated[
        int, option("Training", "Number of trials, those of earlier runs included.")
    ] = 20,
    seeds: Annotated[int, option("Training", "Number of seeds of a trial: 0, 1, ...")] = 3,
    out: Annotated[
        Path | None,
        option(
            "Output",
            "Folder of the trials, from which the same command resumes; default: one under runs/.",
        ),
    ] = None,
    json_: Json = False,
    jobs: Jobs = 1,
    load: Load = None,
) -> None:
    """Tune lambda and other settings on the validation set.

    The same command resumes an interrupted tuning.

    Examples:
        teddy tune citeseer --model gcn
        teddy tune citeseer --search distill,lr,weight_decay --trials 40 --jobs 2
        teddy tune pubmed --method random --level 10 --out runs/tune-pubmed
    """
    check_names([dataset], [model], [method], settings.get("task"), load)
    from teddy.cli.printing import print_table
    from teddy.cli.progress import cell_progress, resumable
    from teddy.methods import SparsityLevel
    from teddy.sweep.grid import file_name
    from teddy.sweep.metric import Metric
    from teddy.sweep.tune import TuningSpec
    from teddy.sweep.tune import tune as run_tune

    check_count(seeds, "seeds")
    load_files(load)
    names = tuple(split_list(search))
    tuned = TuningSpec(
        dataset, model, method, SparsityLevel.from_schedule(level), tuple(range(seeds)), names
    )
    config = Settings.from_dict(settings)
    key = f"{method} {names} {level} {seeds} {config.to_dict()}"
    folder = out or Path("runs") / f"tune-{file_name(dataset, model, digest_only=key)}"
    with resumable(folder), cell_progress(trials, "trials") as progress:
        tuning = run_tune(tuned, folder, trials, config, jobs, progress, load or ())
    best, metric = tuning.best, Metric.from_task(config.task.task)
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
    typer.echo(f"{len(tuning.trials)} trials in {folder}; best: {options}")
