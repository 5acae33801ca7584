"""The weight budget in searches: own modules keep their layers, and every setting arrives."""

from __future__ import annotations

import json
import warnings

import pytest
import torch
from torch import nn
from torch_geometric.loader import RandomNodeLoader
from torch_geometric.nn import GCNConv, SAGEConv

import teddy
from conftest import small_graph
from teddy.cli.app import main
from teddy.errors import TeddyWarning
from teddy.methods.resume import SearchFolder
from teddy.methods.spec import MethodSpec
from teddy.sparsity import num_kept_weights
from teddy.sweep import Grid, Settings, run_sweep
from teddy.training import TrainConfig
from teddy.weights import WeightBudget, count_nonzero

NODES = 40


class Embedded(nn.Module):
    """An embedding drawn from N(0, 1) beside convolutions of a far smaller scale."""

    def __init__(self, width=64):
        super().__init__()
        self.embedding = nn.Embedding(NODES, width)
        self.first, self.last = GCNConv(width, width), GCNConv(width, 3)

    def forward(self, x, edge_index):
        return self.last(self.first(self.embedding.weight, edge_index).relu(), edge_index)


class Normalised(nn.Module):
    """Three SAGE layers with batch normalisation."""

    def __init__(self, width=8):
        super().__init__()
        self.convs = nn.ModuleList(
            [SAGEConv(12, width), SAGEConv(width, width), SAGEConv(width, 3)]
        )
        self.norms = nn.ModuleList([nn.BatchNorm1d(width), nn.BatchNorm1d(width)])

    def forward(self, x, edge_index):
        for conv, norm in zip(self.convs, self.norms, strict=False):
            x = norm(conv(x, edge_index)).relu()
        return self.convs[-1](x, edge_index)


def find(model, weight_sparsity=0.5, epochs=10, **settings):
    torch.manual_seed(0)
    made = model() if isinstance(model, type) else model
    return teddy.find_ticket(small_graph(), made, 0.4, weight_sparsity, epochs=epochs, **settings)


def test_an_embedding_does_not_take_the_weights_of_the_convolutions():
    ticket = find(Embedded, 0.8, epochs=40)
    assert ticket.info.config["weight_scope"] == "balanced"
    assert all(p.count_nonzero() > 0 for p in ticket.model.parameters() if p.dim() >= 2)
    matrices = [p for p in ticket.model.parameters() if p.dim() >= 2]
    total = sum(p.numel() for p in matrices)
    assert count_nonzero(matrices) == num_kept_weights(0.8, total)
    with pytest.warns(TeddyWarning, match=r"no weight left in first.lin.weight.*; try "):
        dead = find(Embedded, 0.8, weight_scope="global")
    assert dead.model.first.lin.weight.count_nonzero() == 0


def test_predictions_that_are_all_the_same_are_warned_of():
    with pytest.warns(TeddyWarning, match="predicts one value for all rows, the dense model does"):
        ticket = find(Embedded, 0.8, epochs=40, weight_scope="global")
    assert ticket.predict(small_graph()).unique().numel() == 1


def test_built_in_models_keep_the_papers_budget():
    ticket = find("gcn", hidden_channels=8)
    assert not [name for name in ticket.info.config if name.startswith("weight_s")]
    weights = list(ticket.model.parameters())
    total = sum(p.numel() for p in weights)
    assert ticket.info.weights.kept == num_kept_weights(0.5, total)
    same = find("gcn", hidden_channels=8, weight_scope="global")
    for ours, theirs in zip(weights, same.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    each = find("gcn", hidden_channels=8, weight_scope="matrix")
    for weight in each.model.parameters():
        assert weight.count_nonzero() == num_kept_weights(0.5, weight.numel())
    assert each.info.config["weight_scope"] == "matrix"


@pytest.mark.parametrize("weights", ["projection", "masks"])
def test_excluded_parameters_stay_dense(weights):
    settings = {"weight_exclude": [nn.BatchNorm1d, "convs.0"], "weight_scope": "global"}
    ticket = teddy.find_ticket(
        small_graph(), Normalised, 0.1, 0.1, epochs=3, weights=weights, **settings
    )
    named = dict(ticket.model.named_parameters())
    pruned = {n: p for n, p in named.items() if n.startswith(("convs.1", "convs.2"))}
    total = sum(p.numel() for p in pruned.values())
    assert count_nonzero(pruned.values()) == num_kept_weights(0.1, total)
    for name, parameter in ticket.model.named_parameters():
        if name not in pruned and not name.endswith("bias"):
            assert parameter.count_nonzero() == parameter.numel(), name
    assert ticket.info.config["weight_exclude"] == ["BatchNorm1d", "convs.0"]


def test_masks_are_chosen_of_each_matrix():
    ticket = teddy.find_ticket(
        small_graph(), Normalised, 0.1, 0.1, epochs=3, weights="masks", weight_scope="matrix"
    )
    for name, weight in ticket.model.named_parameters():
        kept = num_kept_weights(0.1, weight.numel()) if weight.dim() >= 2 else weight.numel()
        assert weight.count_nonzero() == kept or name.endswith("bias"), name


@pytest.mark.parametrize("model", ["gcn", Normalised])
@pytest.mark.parametrize("schedule", ["linear", "cubic"])
def test_the_best_epoch_of_a_rising_sparsity_has_the_full_sparsity(model, schedule):
    options = {"hidden_channels": 8} if model == "gcn" else {}
    ticket = find(
        model, 0.8, epochs=20, weight_schedule=schedule, weight_ramp=0.6, patience=3, **options
    )
    assert ticket.info.ticket.best_epoch >= 12
    matrices = [p for p in ticket.model.parameters() if p.dim() >= 2]
    assert count_nonzero(matrices) == num_kept_weights(0.8, sum(p.numel() for p in matrices))
    assert ticket.info.config["weight_schedule"] == schedule


def test_a_rising_sparsity_resumes(tmp_path):
    settings = {"epochs": 12, "weight_schedule": "cubic", "hidden_channels": 8}
    whole = find("gcn", **settings)

    class StopError(Exception):
        pass

    def stop(phase, epoch, share):
        if phase == "sparse" and epoch.index == 4:
            raise StopError

    resumed = {**settings, "checkpoint": SearchFolder(tmp_path / "search", 0)}
    with pytest.raises(StopError):
        find("gcn", **resumed, progress=stop)
    again = find("gcn", **resumed)
    assert again.info == whole.info
    assert torch.equal(again.logits(small_graph()), whole.logits(small_graph()))
    with pytest.raises(teddy.InputError, match="holds a search with weight_schedule cubic"):
        find("gcn", **{**resumed, "weight_schedule": "linear"})


def test_units_rise_to_their_sparsity_too():
    ticket = find("gcn", 0.7, hidden_channels=8, structure="neurons", weight_schedule="linear")
    same = find("gcn", 0.7, hidden_channels=8, structure="neurons")
    units = [(t.model.units()[0].squares() > 0).sum() for t in (ticket, same)]
    assert units[0] == units[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight_scope": "layer"}, "weight_scope is 'layer'"),
        ({"weight_schedule": "step"}, "weight_schedule is 'step'"),
        ({"weight_ramp": 0}, "weight_ramp is 0"),
        ({"weight_exclude": "bn"}, "weight_exclude 'bn' matches no parameter of the GCN"),
        ({"structure": "neurons", "weight_scope": "matrix"}, "expected no weight_scope"),
        ({"method": "ugs", "weight_schedule": "cubic"}, "expected weight_schedule=constant"),
    ],
)
def test_bad_settings_raise_a_clear_message(settings, message):
    with pytest.raises(teddy.InputError, match=message):
        find("gcn", hidden_channels=8, **settings)


SPEC = "teddy:weight_exclude=weights.0:weight_ramp=0.3:weight_schedule=cubic:weight_scope=matrix"


def test_a_method_spec_has_the_weight_budget():
    spec = MethodSpec.parse(SPEC)
    assert str(spec) == SPEC
    assert spec.applied(Settings()).weights == WeightBudget("matrix", ["weights.0"], "cubic", 0.3)
    assert MethodSpec.parse("teddy").applied(Settings()).weights == WeightBudget()
    with pytest.raises(teddy.InputError, match="weight_scope is 'all'"):
        MethodSpec.parse("teddy:weight_scope=all")


def test_sweeps_have_the_weight_budget(tmp_path):
    grid = Grid(["citeseer"], ["gcn"], ["teddy", SPEC], [20], [0])
    settings = Settings(TrainConfig(epochs=4), model_options={"hidden_channels": 8})
    run_sweep(grid, tmp_path / "sweep", settings, keep_tickets=True)
    found = {}
    for path in (tmp_path / "sweep").rglob("*.ticket"):
        ticket = teddy.Ticket.load(path)
        found["matrix" in str(ticket.info.config)] = ticket
    first, last = found[True].model.parameters()
    assert first.count_nonzero() == first.numel()
    sparsity = found[True].info.weight_sparsity
    assert last.count_nonzero() == num_kept_weights(sparsity, last.numel())
    assert found[True].info.config["weight_ramp"] == 0.3
    assert sum(w.count_nonzero() for w in found[False].model.parameters()) == num_kept_weights(
        found[False].info.weight_sparsity, found[False].info.weights.total
    )


def test_the_command_line_has_the_weight_budget(tmp_path, capsys):
    out = tmp_path / "a.ticket"
    arguments = [
        "find",
        "citeseer",
        "--model",
        "gcn",
        "--hidden-channels",
        "8",
        "--epochs",
        "4",
        "--json",
    ]
    budget = ["--weight-scope", "matrix", "--weight-exclude", "weights.0", "--weight-schedule",
              "cubic", "--weight-ramp", "0.3"]  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        main([*arguments, *budget, "--out", str(out)])
    assert ended.value.code == 0
    json.loads(capsys.readouterr().out)
    config = teddy.Ticket.load(out).info.config
    assert {name: config[name] for name in config if name.startswith("weight_")} == {
        "weight_decay": 5e-4, "weight_scope": "matrix", "weight_exclude": ["weights.0"],
        "weight_schedule": "cubic", "weight_ramp": 0.3,
    }  # fmt: skip
    with pytest.raises(SystemExit):
        main([*arguments, "--method", SPEC, "--weight-scope", "global"])
    assert "weight_scope is global, but matrix in teddy:" in capsys.readouterr().err


def test_the_command_line_prints_a_warning_in_one_line(capsys):
    arguments = ["find", "citeseer", "--model", "specformer", "--hidden-channels", "8",
                 "--epochs", "1",
                 "--weight-sparsity", "0.999"]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with pytest.raises(SystemExit):
            main(arguments)
    lines = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert lines
    assert all(line.startswith("teddy: warning: the ticket") for line in lines)


class Spare(Normalised):
    """Has a layer that forward never uses, and one that is frozen."""

    def __init__(self):
        super().__init__()
        self.spare = nn.Linear(100, 100)
        self.convs[0].lin_l.weight.requires_grad_(False)


@pytest.mark.parametrize("loader", [None, lambda graph: RandomNodeLoader(graph, 2)])
def test_parameters_that_are_never_used_or_frozen_do_not_count(loader, tmp_path):
    with pytest.warns(TeddyWarning, match="parameters of spare never reach the output"):
        ticket = find(Spare, 0.5, weight_scope="global", loader=loader)
    plain = sum(p.numel() for p in Normalised().parameters())
    assert ticket.info.weights.total == plain - 12 * 8
    assert ticket.info.weights.kept == num_kept_weights(0.5, plain - 12 * 8)
    assert ticket.model.spare.weight.count_nonzero() == 10000
    assert ticket.model.convs[0].lin_l.weight.count_nonzero() == 12 * 8
    assert "not counted: 96 frozen, 10,100 unused" in str(ticket)
    ticket.save(tmp_path / "a.ticket")
    again = teddy.Ticket.load(tmp_path / "a.ticket", Spare)
    assert again.info.model["unused"] == 10100
