"""Help, and defaults that ``teddy list`` names, against the models that are trained."""

from __future__ import annotations

import json

import pytest
import typer

import teddy
from cli.command import run_here
from conftest import small_graph
from teddy.cli.app import app
from teddy.cli.printing import PANELS
from teddy.methods import METHODS
from teddy.models import MODELS
from teddy.settings import ENTRIES, MODEL_ENTRIES
from teddy.tasks import TASKS

COMMANDS = list(typer.main.get_command(app).commands)
SEARCHES = ("find", "sweep", "search", "tune", "reproduce")


def listed(tmp_path, *arguments):
    done = run_here("list", *arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", MODELS)
def test_the_list_has_the_defaults_of_every_model(name, tmp_path):
    info = teddy.find_ticket(small_graph(), name, epochs=1).info
    training = {key: info.config[key] for key in ("lr", "weight_decay")}
    assert listed(tmp_path, "models") == {"models": listed(tmp_path)["models"]}
    assert listed(tmp_path)["models"][name] == {**info.model["options"], **training}


def test_the_list_has_every_method_and_task(tmp_path):
    found = listed(tmp_path)
    assert found["methods"].keys() == set(METHODS)
    assert found["methods"]["ugs"]["distill"] == 0.0
    assert found["tasks"].keys() == set(TASKS)
    assert found["tasks"]["link-prediction"] == {"metric": "AUC", "dimensions": 64, "hits_at": 50}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_short_and_whole(command, tmp_path):
    done = run_here(command, "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "{" not in done.stdout.split("\n", 1)[1]
    for line in done.stdout.splitlines():
        assert len(line) <= 80


@pytest.mark.parametrize("command", SEARCHES)
def test_help_lists_every_setting_in_its_panel(command, tmp_path):
    text = run_here(command, "--help", cwd=tmp_path).stdout
    sections = dict(part.split(":\n", 1) for part in text.split("\n\n") if ":\n" in part)
    assert [name for name in sections if name in PANELS] == list(PANELS)
    for name, entry in {**ENTRIES, **MODEL_ENTRIES}.items():
        assert f"--{name.replace('_', '-')}" in sections[entry.panel]
