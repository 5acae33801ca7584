"""Defaults in help texts, against the models that are trained."""

from __future__ import annotations

import re

import pytest
import typer

import teddy
from cli.command import run_here
from conftest import small_graph
from teddy.cli.app import app
from teddy.methods import METHODS
from teddy.models import MODELS

COMMANDS = list(typer.main.get_command(app).commands)
# Options of commands by what tickets say of them.
OPTIONS = ("hidden", "layers", "heads", "dropout")
TRAINING = ("lr", "weight_decay")


def help_of(command, tmp_path):
    """The help of each option, on one line."""
    done = run_here(command, "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = " ".join(done.stdout.split("Options:")[-1].split())
    return {
        name.replace("-", "_"): text
        for name, text in re.findall(r"--([a-z-]+) (.*?)(?= --[a-z-]+ |$)", lines)
    }


def defaults_in(text):
    """The default of each model that a help text names."""
    found = re.findall(r"([\d.]+) \(([a-z, -]+)\)", text)
    return {name: float(value) for value, names in found for name in names.split(", ")}


@pytest.fixture(scope="module", params=list(MODELS))
def ticket(request):
    """A ticket that was found without any option."""
    return teddy.find_ticket(small_graph(), request.param, epochs=1)


@pytest.mark.parametrize("command", ["find", "sweep", "search", "tune"])
def test_help_names_the_defaults_of_every_model(ticket, command, tmp_path):
    texts, info = help_of(command, tmp_path), ticket.info
    own = {**info.model["options"], **{name: info.config[name] for name in TRAINING}}
    checked = [name for name in (*OPTIONS, *TRAINING) if name in texts]
    assert {"hidden", "layers"} <= set(checked)
    if command in ("find", "sweep"):
        assert checked == [*OPTIONS, *TRAINING]
    for name in checked:
        text = texts[name].partition("; for link prediction")[0]
        assert defaults_in(text).get(info.model["name"]) == own.get(name)


def test_heads_of_unimp_are_two(tmp_path):
    assert defaults_in(help_of("find", tmp_path)["heads"])["unimp"] == 2


def test_help_names_what_links_are_trained_with(tmp_path):
    texts, graph = help_of("find", tmp_path), small_graph()
    for model in ("gcn", "gin"):
        info = teddy.find_ticket(graph, model, epochs=1, task="link-prediction").info
        usual, links = texts["lr"].split("; for link prediction ")
        assert info.config["lr"] == {**defaults_in(usual), **defaults_in(links)}[model]
        assert info.config["weight_decay"] == 0
        assert f"@{info.links['hits_at']}" == f"@{texts['hits_at'].split(': ')[1].rstrip('.')}"
        assert f": {info.model['out_channels']}." in texts["dimensions"]
    assert "for link prediction 0." in texts["weight_decay"]


def test_help_names_the_strength_of_every_method(tmp_path):
    text = help_of("find", tmp_path)["distill"]
    usual = float(re.search(r"distillation: ([\d.]+),", text)[1])
    others = defaults_in(text)
    assert {name: others.get(name, usual) for name in METHODS} == {
        name: METHODS[name].distill for name in METHODS
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_no_help_has_a_default_that_is_not_filled_in(command, tmp_path):
    texts = help_of(command, tmp_path)
    assert texts
    assert not any(re.search("[{}]", text) for text in texts.values())
