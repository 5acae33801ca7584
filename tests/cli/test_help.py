"""Help, and defaults that ``teddy list`` names, against the models that are trained."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import pytest
import typer
from tools.check_docs.programs import parse_typer

import teddy
from cli.command import run_here
from conftest import small_graph
from teddy.cli.app import app
from teddy.methods import METHODS
from teddy.models import MODELS
from teddy.settings import ENTRIES, MODEL_ENTRIES, PANELS
from teddy.tasks import TASKS

GROUP = typer.main.get_command(app)
COMMANDS = list(GROUP.commands)
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


def sections(text):
    """Sections of a help text by title."""
    return dict(part.split(":\n", 1) for part in text.split("\n\n") if ":\n" in part)


@pytest.mark.parametrize("command", SEARCHES)
def test_help_lists_every_setting_in_its_panel(command, tmp_path):
    found = sections(run_here(command, "--help", cwd=tmp_path).stdout)
    assert [name for name in found if name in PANELS] == list(PANELS)
    for name, entry in {**ENTRIES, **MODEL_ENTRIES}.items():
        assert f"--{name.replace('_', '-')}" in found[entry.panel]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_panel(command, tmp_path):
    found = sections(run_here(command, "--help", cwd=tmp_path).stdout)
    panels = [name for name in found if name in (*PANELS, "Options")]
    assert panels == [name for name in (*PANELS, "Options") if name in panels]
    assert found["Options"].split() == ["-h,", "--help", "Show", "this", "message", "and", "exit."]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_three_examples_that_parse(command, tmp_path):
    examples = GROUP.commands[command].examples
    assert len(examples) == 3
    assert run_here(command, "--help", cwd=tmp_path).stdout.endswith(
        "Examples:\n" + "".join(f"  {line}\n" for line in examples)
    )
    for line in examples:
        program, name, *words = shlex.split(line.partition(" | ")[0])
        assert (program, name) == ("teddy", command)
        parse_typer(app, [name, *words])


def test_summaries_are_whole_sentences(tmp_path):
    text = run_here("--help", cwd=tmp_path).stdout
    assert "..." not in text.partition("\n")[2]
    words = " ".join(sections(text)["Commands"].split())
    for name, command in GROUP.commands.items():
        assert f"{name} {' '.join(command.help.split(chr(10) * 2)[0].split())}" in words
    for line in GROUP.examples:
        parse_typer(app, shlex.split(line)[1:])


@pytest.mark.parametrize(("columns", "widest"), [(60, 60), (100, 100), (300, 112)])
def test_help_is_as_wide_as_the_terminal(columns, widest, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run_here("find", "--help", cwd=tmp_path).stdout.partition("Examples:")[0].splitlines()
    assert widest - 12 < max(map(len, lines)) <= widest


TORCH_FREE = """
import sys
from teddy.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    code = end.code
assert "torch" not in sys.modules
sys.exit(code)
"""


def without_torch(*arguments, **environment):
    """A command in a new process, which must not import torch."""
    return subprocess.run(
        [sys.executable, "-c", TORCH_FREE, *arguments], capture_output=True, text=True,
        env={**os.environ, **environment}, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("find citeser", "unknown data set 'citeser'"),
        ("find --model gnc", "did you mean 'gcn'?"),
        ("find --method tedy:distill=0", "did you mean 'teddy'?"),
        ("find --task regresion", "did you mean 'regression'?"),
        ("find --graph-sparsity 64", "[0, 1], got 64 (did you mean 0.64?)."),
        ("find --epochs 0", "epochs"),
        ("find --weight-schedule cubik", "did you mean 'cubic'?"),
        ("find --hidden 8", "unknown option '--hidden', see teddy find --help (did you mean '--h"),
        ("fnid", "unknown command 'fnid', expected one of: find,"),
        ("sweep cora citeser", "did you mean 'citeseer'?"),
        ("sweep --methods teddy,usg", "did you mean 'ugs'?"),
        ("search --model gim", "did you mean 'gin'?"),
        ("tune --method radom", "did you mean 'random'?"),
        ("bench --models gcn,gta", "did you mean 'gat'?"),
        ("bench citeser", "did you mean 'citeseer'?"),
        ("inspect a.ticket citeser", "did you mean 'citeseer'?"),
        ("export a.ticket a.onnx citeser", "did you mean 'citeseer'?"),
        ("predict a.ticket citeser", "did you mean 'citeseer'?"),
        ("sparsify a.csv b.csv --sparsity 0.5 --score tedy", "did you mean 'teddy'?"),
        ("list model", "did you mean 'models'?"),
    ],
)
def test_a_wrong_name_is_found_without_torch(line, message):
    done = without_torch(*line.split())
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("line", ["--help", "--version", "find --help", "reproduce --help"])
def test_help_does_not_import_torch(line):
    assert without_torch(*line.split()).returncode == 0


@pytest.mark.parametrize(
    ("line", "completions"),
    [
        ("teddy f", ["find"]),
        ("teddy find cit", ["citeseer"]),
        ("teddy find cora --model g", ["gcn", "gat", "gin"]),
        ("teddy find --method wd", ["wd-glt"]),
        ("teddy find --task reg", ["regression"]),
        ("teddy find --weight-schedule c", ["constant", "cubic"]),
        ("teddy find --graph", ["--graph-sparsity"]),
        ("teddy sweep citeseer pub", ["pubmed"]),
        ("teddy sweep --methods teddy,ra", ["teddy,random"]),
        ("teddy sparsify a b --score res", ["resistance"]),
        ("teddy inspect a.ticket pub", ["pubmed"]),
        ("teddy list me", ["methods"]),
    ],
)
def test_the_shell_completes_names_without_torch(line, completions):
    done = without_torch(
        _TEDDY_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(line.split()) - 1)
    )
    assert done.stdout.split() == completions, done.stderr


def test_the_shell_gets_a_script():
    done = without_torch(_TEDDY_COMPLETE="source_bash")
    assert "complete -o default -F _teddy_completion teddy" in done.stdout
