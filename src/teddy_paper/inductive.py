"""Figures 15 and 16: inductive training on 20% of the nodes."""

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

#: Methods with and without distillation, which is on the training nodes.
METHODS = ("teddy", "random", UGS, "teddy:distill=0", "random:distill=0")
#: Other rules to prune the grown graph, compared with scoring it.
RULES = ("teddy:inference=training", "teddy:inference=none")
#: Further factors for GCN and GIN: edges by degree, dense weights.
FACTORS = (
    *(
        spec(e, t, "projected")
        for e in ("degree-high", "degree-low")
        for t in ("all nodes", "none")
    ),
    *(spec("teddy", taught, "dense") for taught in ("all nodes", "none")),
)


def settings(scope: Scope) -> Settings:
    """Settings of the other reproductions, inductive and with the paper's split."""
    return scope.settings.updated(**{"split": "20/40/40", "inductive": True, **scope.changes})


def levels(scope: Scope) -> list[int]:
    """Levels 5, 10 and 20 if requested; else the last two requested ones."""
    return [i for i in scope.levels if i in (5, 10, 20)] or list(scope.levels)[-2:]


def grids(scope: Scope) -> list[Grid]:
    """Grids of all methods, rules for the grown graph, and further factors."""
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
    """Accuracy on the whole graph, after training on a fifth of the nodes."""
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
    """Table of TEDDY's tickets on the grown graph, pruned by each rule."""
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
