"""Types of the dictionaries in a ticket's header, :class:`~teddy.ticket.info.TicketInfo`."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

# "class" is a keyword, so that it has no place in the body of a class.
_ClassInfo = TypedDict("_ClassInfo", {"class": str}, total=False)


class ModelInfo(_ClassInfo, total=False):
    """Architecture of a ticket's network: a built-in model's ``name``, or another ``class``.

    Attributes:
        name: Registered name of a built-in model.
        in_channels: Number of input features of a built-in model.
        out_channels: Number of outputs of a built-in model.
        options: Options of a built-in model.
        class: Path of the class of your own module.
        structure: Digest of your own module's settings.
        varying: Settings that the digest leaves out, since forward changes them.
        frozen: Number of parameters that do not require a gradient.
        unused: Number of parameters that never reach the output.
    """

    name: str
    in_channels: int
    out_channels: int
    options: dict[str, Any]
    structure: str
    varying: list[str]
    frozen: int
    unused: int


class GraphInfo(TypedDict):
    """Sizes and fingerprints of a graph, and the inputs that the network takes from it.

    Attributes:
        nodes: Number of nodes.
        edges: Number of edges.
        features: Number of features of a node.
        classes: Number of classes, where classes are predicted.
        outputs: Number of outputs, where anything else is predicted.
        fingerprint: Digest of the edges.
        kept_fingerprint: Digest of the kept edges.
        directed: Whether messages run in the listed direction only.
        self_loops: Whether the network receives the listed self-loops.
        edge_inputs: Names of the edge values that the network takes.
        node_inputs: Names of the node values that your own module takes beside features.
        graph_inputs: Names of the values of the whole graph that your own module takes.
        integer_x: Number of dimensions of ``x``, where it holds integers to look up.
    """

    nodes: int
    edges: int
    features: int
    fingerprint: str
    classes: NotRequired[int]
    outputs: NotRequired[int]
    kept_fingerprint: NotRequired[str]
    directed: NotRequired[bool]
    self_loops: NotRequired[bool]
    edge_inputs: NotRequired[list[str]]
    node_inputs: NotRequired[list[str]]
    graph_inputs: NotRequired[list[str]]
    integer_x: NotRequired[int]


class EdgeCounts(TypedDict):
    """Number of edges before (``total``) and after pruning (``kept``)."""

    total: int
    kept: int


class InductiveInfo(TypedDict):
    """Pruning rule of an inductive ticket, and the whole graph that it was tested on.

    Attributes:
        inference: Rule by which a grown graph is pruned.
        score: Edge score of that rule.
        weighted: Whether its degrees are weighted.
        nodes: Number of nodes of the test graph.
        edges: Number of edges of the test graph.
        fingerprint: Digest of the edges of the test graph.
        kept_fingerprint: Digest of the kept ones.
    """

    inference: str
    score: str | None
    weighted: NotRequired[bool]
    nodes: NotRequired[int]
    edges: NotRequired[EdgeCounts]
    fingerprint: NotRequired[str]
    kept_fingerprint: NotRequired[str]


class TransferInfo(TypedDict):
    """Origin of a ticket that was transferred to a changed graph.

    Attributes:
        dataset: Data set that the ticket was found on. Split, accuracies and MACs refer to it.
        graph: Its graph.
        inference: Rule by which the changed graph was pruned.
        recognised: Number of its ``nodes`` and ``edges`` that the original graph has, too.
    """

    dataset: str
    graph: GraphInfo
    inference: str
    recognised: NotRequired[dict[str, int]]


class RelationInfo(EdgeCounts):
    """Edge counts of a relation; a relation and its reverse are one, with two ``edge_types``."""

    edge_types: list[list[str]]


class HeteroInfo(TypedDict):
    """Types and relations of a ``HeteroData``.

    Attributes:
        target: Predicted node type.
        scope: Edge budget: ``each`` relation by itself, or ``all`` together.
        nodes: Number of nodes of each type.
        features: Number of features of each type but the target's.
        relations: Edge counts of each relation.
        directed: Whether relations get no reverse.
    """

    target: str
    scope: str
    nodes: dict[str, int]
    features: dict[str, int]
    relations: list[RelationInfo]
    directed: NotRequired[bool]


class GraphPart(EdgeCounts):
    """Number of graphs in a part of the split, with their edge counts."""

    graphs: int


class GraphSetInfo(TypedDict):
    """Set of graphs of a graph-classification ticket.

    Attributes:
        count: Number of graphs.
        borders: Digest of the graphs' sizes.
        budget: Edge budget: ``each`` graph by itself, or ``all`` together.
        readout: Readout of node outputs; None: the module's own.
        parts: ``train``, ``val`` and ``test`` graphs.
        inference: Rule by which other graphs are pruned; by default ``scored``.
    """

    count: int
    borders: str
    budget: str
    readout: str | None
    parts: dict[str, GraphPart]
    inference: NotRequired[str]


class LinkInfo(TypedDict):
    """Decoder and second metric of a link-prediction ticket.

    Attributes:
        decoder: Function of two nodes' outputs that gives the logit of a link.
        hits_at: Rank k of hits@k.
        hits: hits@k in percent, of ``dense`` and ``ticket``, on ``val`` and ``test`` links.
    """

    decoder: str
    hits_at: int
    hits: dict[str, dict[str, float]]


class TaskInfo(TypedDict):
    """Task of a ticket, with all that predictions need.

    Attributes:
        name: Registered name.
        metric: Name of the metric.
        options: Options that differ from the defaults.
        mean: Mean of each target of a regression.
        scale: Standard deviation of each target of a regression.
        flat: Whether targets of a regression have one dimension.
    """

    name: str
    metric: NotRequired[str]
    options: NotRequired[dict[str, Any]]
    mean: NotRequired[list[float]]
    scale: NotRequired[list[float]]
    flat: NotRequired[bool]
