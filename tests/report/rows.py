"""Rows of a sweep made by hand, for the tests."""

from __future__ import annotations

from teddy.sparsity import schedule_sparsity

EVIL = "</script><script>window.evil=1</script><img src=x onerror='window.evil=2'>&amp;"

METADATA = {
    "settings": {
        "epochs": 200,
        "lr": 0.01,
        "model_options": {"hidden_channels": 16},
        "patience": None,
    },
    "data": {"citeseer": "ab" * 32},
    "methods": {"citeseer gcn teddy": {"distill": 10.0, "file": None}},
}


def row(method="teddy", simulation=5, seed=0, *, gain=0.0, dense=70.0, **changes):
    """One cell: ``gain`` points above the dense model of its seed."""
    share = schedule_sparsity(simulation)
    plain = {
        "dataset": "citeseer", "model": "gcn", "method": method, "simulation": simulation,
        "seed": seed, "split": "public", "test_rows": 1000, "graph_sparsity": share,
        "weight_sparsity": share,
        "distill": 10.0, "test": dense + gain, "val": 71.0, "best_epoch": 20,
        "last_test": dense + gain - 1, "dense_test": dense, "dense_val": 70.5,
        "dense_best_epoch": 30, "dense_last_test": dense - 0.5, "edges_total": 1000,
        "edges_kept": round(1000 * (1 - share)), "weights_total": 2000,
        "weights_kept": round(2000 * (1 - share)), "macs_dense": 1200, "macs_ticket": 400,
        "seconds_dense": 2.0, "seconds_search": 5.0, "seconds_round": 1.0, "seconds_sparse": 3.0,
        "seconds_predict_dense": 0.03, "seconds_predict_ticket": 0.02, "pruned_degree": 30.0,
        "components": 10, "largest_component": 900, "isolated": 4, "homophily": 0.7,
        "versions": "teddy 0.1.0, torch 2.13.0, python 3.11.2",
    }  # fmt: skip
    if simulation == 0:
        plain |= {"pruned_degree": None, "seconds_round": 0.0, "seconds_sparse": 0.0}
    return plain | changes


def links(**changes):
    """A cell of link prediction."""
    own = {"task": "link-prediction", "metric": "AUC", "resolution": 100 / 500**2, "hits_at": 20,
           "hits": 41.5, "dense_hits": 40.25, "homophily": None}  # fmt: skip
    return row(**{**own, **changes})


def sweep():
    """Two models, three methods, three levels, three seeds: teddy wins, random loses."""
    gains = {"teddy": 1.0, "random": -2.0, "teddy:distill=0": 0.0}
    return [
        row(
            method, simulation, seed, model=model, dense=dense + seed,
            # Around the gain by -0.1, 0, 0.1; without distillation by -2, 0, 2: undecided.
            gain=0.0 if simulation == 0 else gain + (seed - 1) * (0.1 if gain else 2.0),
        )
        for model, dense in (("gcn", 70.0), ("gin", 60.0))
        for method, gain in gains.items()
        for simulation in (0, 5, 10)
        for seed in range(3)
    ]  # fmt: skip
