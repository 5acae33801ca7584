"""Values that tuning tries go before settings and the method's own options."""

from __future__ import annotations

import pytest

import teddy
import teddy.methods.problem as problem_module
from teddy.methods import SparsityLevel
from teddy.settings import Settings
from teddy.sweep.tune import TuningSpec, tune
from teddy.training import train

pytest.importorskip("optuna")

BASE = {"epochs": 3, "hidden_channels": 8, "split": "30/30/40"}


def test_a_tried_value_overrides_settings_and_options(graph, tmp_path, monkeypatch):
    seen = []

    def watched(model, data, config, **named):
        if named["weight_sparsity"] > 0:
            seen.append(config)
        return train(model, data, config, **named)

    monkeypatch.setattr(problem_module, "train", watched)
    settings = Settings.from_dict({**BASE, "distill": 3.0, "lr": 0.02})
    for spec in ("teddy", "teddy:distill=4"):
        search = TuningSpec(graph, "gcn", spec, SparsityLevel(0.4, 0.3), (0,), ("distill", "lr"))
        tuning = tune(search, tmp_path / spec, 3, settings)
        found = [{name: getattr(config, name) for name in search.names} for config in seen[-3:]]
        assert [trial.settings for trial in tuning.trials] == found
        assert found[0] == {"distill": 4.0 if "=" in spec else 3.0, "lr": 0.02}
        assert len({tuple(values.values()) for values in found}) == 3


def test_distill_nodes_change_the_tuned_settings(graph, tmp_path):
    """Held against tickets that are found without tuning."""
    settings = Settings.from_dict({**BASE, "epochs": 30})
    data = teddy.load_dataset(graph, split=BASE["split"])
    wanted = {"model": "gcn", "graph_sparsity": 0.4, "weight_sparsity": 0.3, "epochs": 30}
    for nodes in ("all", "training"):
        search = TuningSpec(
            graph, "gcn", f"teddy:distill_nodes={nodes}", SparsityLevel(0.4, 0.3), (0,)
        )
        tuning = tune(search, tmp_path / nodes, 2, settings)
        for trial in tuning.trials:
            ticket = teddy.find_ticket(
                data, **wanted, **trial.settings, distill_nodes=nodes, hidden_channels=8
            )
            assert trial.val == ticket.info.ticket.val
