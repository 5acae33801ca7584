"""Figures 15 and 16: training on 20% of the nodes, which sees no other."""

from __future__ import annotations

from itertools import product

from teddy.sweep import Grid, Settings
from teddy_paper import attribution
from teddy_paper.accuracy import accuracy_table
from teddy_paper.attribution import spec
from teddy_paper.findings import STABLE, all_above
from teddy_paper.reproduction import MODELS, Finding, Result, ResultTable, Scope, reproduction
from teddy_paper.reproduction import UGS_FEW_ROUNDS as UGS
from teddy_paper.results import Results

#: With the dense model's logits on the training nodes, and without.
METHODS = ("teddy", "random", UGS, "teddy:distill=0", "random:distill=0")
#: Other ways to prune the grown graph, to be held against scoring it.
RULES = ("teddy:inference=training", "teddy:inference=none")
#: What carries the accuracy, beyond METHODS: edges by degree, dense weights; for GCN and GIN.
FACTORS = (
    *(
        spec(e, t, "projected")
        for e in ("degree-high", "degree-low")
        for t in ("all nodes", "none")
    ),
    *(spec("teddy", taught, "dense") for taught in ("all nodes", "none")),
)


def settings(scope: Scope) -> Settings:
    """As of the others, on the paper's split."""
    return scope.settings.updated(**{"split": "20/40/40", "inductive": True, **scope.changes})


def levels(scope: Scope) -> list[int]:
    """Simulations 5, 10 and 20 of those that are asked for, or the last two."""
    return [i for i in scope.levels if i in (5, 10, 20)] or list(scope.levels)[-2:]


def grids(scope: Scope) -> list[Grid]:
    """All methods, the other ways to prune a grown graph, and what carries the accuracy."""
    one_shot = [m for m in METHODS if m != UGS]
    return [
        scope.grid([*one_shot, *RULES], levels=levels(scope), iterative=True),
        scope.grid(FACTORS, attribution.MODELS, levels(scope)[-2:], iterative=True),
        scope.grid([UGS], levels=levels(scope), iterative=True),
    ]


@reproduction(
    "inductive",
    ("Figure 15", "Figure 16"),
    "Unseen nodes: the inductive setting",
    grids,
    settings=settings,
)
def inductive(results: Results, scope: Scope) -> Result:
    """Accuracy on the whole graph, of which training saw a fifth of the nodes."""
    shown, chosen = results.settings(scope.datasets, MODELS), levels(scope)
    tables = [
        accuracy_table(results, "inductive", shown, (*METHODS, *RULES), chosen),
        _rules(results, scope),
        attribution.contrast_table(results, scope, chosen),
    ]
    return Result(
        tables,
        results.sparsity_charts("inductive", "Unseen nodes: accuracy", shown, METHODS, chosen),
        _findings(results, scope),
        [
            "Training sees the training nodes and the edges between them: scores, degrees, masks "
            "and the dense model's logits are of that graph. Validation is on the graph with the "
            "validation nodes, the test on the whole graph; both are pruned by the same score as "
            "sparse as the training graph (`scored`), for UGS of its training edges only. All "
            "nodes that are distilled on are training nodes here. UGS prunes by 23% in each of "
            "four rounds (`ugs:stride=5`), not by 5% in twenty."
        ],
    )


def _rules(results: Results, scope: Scope) -> ResultTable:
    """TEDDY's ticket on the grown graph, pruned in the three ways."""
    rows = []
    for (d, m), i in product(results.settings(scope.datasets, MODELS), levels(scope)):
        scored = results.get(d, m, "teddy", i)
        if scored is None:
            continue
        others = [results.get(d, m, rule, i) for rule in RULES]
        means = [scored.mean, *(s and s.mean for s in others)]
        rows.append([d, m, i, scored.seeds, scored.dense, *means])
    columns = ("dataset", "model", "simulation", "seeds", "dense", "scored", "training", "none")
    return ResultTable("rules", "How the grown graph is pruned: test accuracy (%)", columns, rows)


def _findings(results: Results, scope: Scope) -> list[Finding]:
    return [
        all_above(
            "inductive-gin",
            results.to_dense(["cora", "pubmed"], ["gin"], "teddy", levels(scope)),
            "GIN on Cora and PubMed, TEDDY minus dense",
        ),
        all_above(
            "inductive-pubmed-stable",
            results.to_dense(["pubmed"], MODELS, "teddy", levels(scope)),
            "PubMed, TEDDY minus dense",
            -STABLE,
        ),
    ]
