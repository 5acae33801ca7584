r"""Energy of the normalised graph Laplacian, and its change by the removal of an edge (Section 4).

A node :math:`i` without neighbours has a zero row in the Laplacian (Chung 1997, ``networkx``,
``scipy.sparse.csgraph``), so its eigenvalue is 0 and it counts :math:`|0 - 1| = 1`.
``torch_geometric.utils.get_laplacian`` puts 1 on its diagonal, and it counts 0; the energy is then
the nuclear norm :math:`\|\bm S\|_*` of :math:`\bm S = \bm D^{-1/2} \bm A \bm D^{-1/2}`, known as
Randić energy. The two differ by the number of isolated nodes, which the removal of an edge to a
node of degree 1 raises. ``isolated_energy`` selects one of the definitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from teddy.errors import InputError
from teddy.graph.canonical import check_edge_index
from teddy.graph.edges import Edges
from teddy_paper.laplacian_spectrum import ComponentSpectrum, TwinClasses

_CHUNK = 512


@dataclass(frozen=True)
class EnergyChanges:
    r"""Changes of the energy by the removal of single edges.

    Attributes:
        pairs: int64 ``[2, M]``, the edges, the lower node first.
        edge_degree: float64 ``[M]``, the mean degree of the two ends.
        isolated_ends: int64 ``[M]``, number of nodes (0, 1 or 2) that the removal isolates.
        delta: float64 ``[M]``, :math:`\Delta_{ij} = E(\mathcal G_{-ij}) - E(\mathcal G)`.
        error: Maximum error of a ``delta``.
    """

    pairs: Tensor
    edge_degree: Tensor
    isolated_ends: Tensor
    delta: Tensor
    error: float


def laplacian_energy(
    edge_index: Tensor, num_nodes: int | None = None, *, isolated_energy: Literal[0, 1] = 1
) -> float:
    r"""Energy of the normalised Laplacian, over the simple undirected graph.

    .. math::
        E(\mathcal G) = \sum_{n=1}^{N} |\lambda_n - 1|, \qquad
        \bm L = \bm I - \bm D^{-1/2} \bm A \bm D^{-1/2} .

    Args:
        edge_index: int64 ``[2, E]``; directions, duplicates and self-loops are ignored.
        num_nodes: Number of nodes; by default as many as ``edge_index`` names.
        isolated_energy: Energy of an isolated node: 1 if its eigenvalue is 0, 0 if it is 1.

    Example:
        >>> path = torch.tensor([[0, 1], [1, 2]])  # eigenvalues 0, 1, 2, and 0 of the lone node
        >>> round(laplacian_energy(path, num_nodes=4), 12)
        3.0
    """
    _check_isolated_energy(isolated_energy)
    graph, _ = Edges.from_columns(edge_index, num_nodes)
    classes = TwinClasses.from_edges(graph)
    classes.check_memory(matrices=1)
    isolated = int((graph.degree == 0).sum())
    return float(isolated * isolated_energy + sum(part.energy() for part in classes.components()))


def energy_changes(
    edge_index: Tensor,
    num_nodes: int | None = None,
    edges: Tensor | None = None,
    *,
    isolated_energy: Literal[0, 1] = 1,
    progress: Callable[[int, int], None] | None = None,
) -> EnergyChanges:
    r"""Change of the energy for the removal of each single edge, without a spectrum per edge.

    With :math:`\varphi(z) = \det(z\bm D - \bm A) / \det \bm D`, Coulson's integral (1940) gives

    .. math::
        \Delta_{ij} = \frac{2}{\pi} \int_0^\infty F(t)\, dt, \qquad
        F(t) = \log \left| \frac{\varphi_{-ij}(\mathrm i t)}{\varphi(\mathrm i t)} \right| .

    The removal changes :math:`z\bm D - \bm A` in four entries, so that

    .. math::
        \frac{\varphi_{-ij}(z)}{\varphi(z)} = \frac{d_i}{d_i - 1} \frac{d_j}{d_j - 1}
        \det \left( \bm I + \begin{bmatrix} -z & 1 \\ 1 & -z \end{bmatrix}
        \begin{bmatrix} G_{ii} & G_{ij} \\ G_{ji} & G_{jj} \end{bmatrix} \right) , \qquad
        \bm G = (z\bm D - \bm A)^{-1} .

    A node of degree 1 keeps its 1 in :math:`\bm D`: its factor and its :math:`-z` are dropped. One
    eigendecomposition gives all entries of :math:`\bm G` for all :math:`z`. It takes most of the
    time: seconds for Cora and CiteSeer, a quarter of an hour and 4 GiB for PubMed on a busy core.
    Beside other jobs, ``OMP_NUM_THREADS=1`` is faster than LAPACK on all cores.

    The integral is a trapezoidal sum in :math:`\log t` over 134 nodes. For :math:`|x| < 1` the
    matrices :math:`\bm A - x\bm D` before and after differ by one positive and one negative
    direction, so no more than one eigenvalue crosses :math:`x`. Hence
    :math:`|F(t)| \le \log(1 + t^{-2})`, which bounds the nodes left out;
    :math:`|\Delta_{ij}| \le 2` (``isolated_energy=0``); and
    in the strip :math:`|\mathrm{Im} \log t| \le a < \pi/2` the integral of the integrand's modulus
    is at most :math:`2 K(\sin a)`, :math:`K` the complete elliptic integral, so that a step
    :math:`h` errs by at most :math:`(8/\pi) K(\sin a) / (e^{2\pi a/h} - 1)`.
    An eigendecomposition exact for :math:`\bm S + \bm E` adds :math:`3\|\bm E\|_*` at most. With an
    estimate for rounding, ``error`` is the sum of these.

    Args:
        edge_index: int64 ``[2, E]``; directions, duplicates and self-loops are ignored.
        num_nodes: Number of nodes; by default as many as ``edge_index`` names.
        edges: int64 ``[2, K]``, the edges to remove one at a time; by default all.
        isolated_energy: Energy of an isolated node: 1 if its eigenvalue is 0, 0 if it is 1.
        progress: Called with the numbers of finished edges and of all edges.

    Raises:
        InputError: If ``edges`` holds a pair that is no edge, or memory would not suffice: three
            float64 matrices over the distinct neighbourhoods of the largest component.

    Example:
        >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])  # energy 3; without its middle 4, an end 3
        >>> changes = energy_changes(path)
        >>> [round(delta, 9) + 0 for delta in changes.delta.tolist()]
        [0.0, 1.0, 0.0]
        >>> [round(delta, 9) for delta in energy_changes(path, isolated_energy=0).delta.tolist()]
        [-1.0, 1.0, -1.0]
    """
    _check_isolated_energy(isolated_energy)
    graph, _ = Edges.from_columns(edge_index, num_nodes)
    pairs = graph.pairs if edges is None else _edges_of(graph, edges)
    classes = TwinClasses.from_edges(graph)
    classes.check_memory(matrices=3)
    # Edges of twins to one neighbour change the energy equally.
    ends = np.sort(classes.of_node[pairs.cpu().numpy()], axis=0)
    distinct, twin_of, count = np.unique(ends, axis=1, return_inverse=True, return_counts=True)
    delta, error, done = np.empty(distinct.shape[1]), 0.0, 0
    for part in classes.components():
        first, last = np.searchsorted(distinct[0], [part.first, part.first + part.degree.size])
        if first == last:
            continue
        spectrum = ComponentSpectrum.from_component(part)
        error = max(error, spectrum.error)
        for start in range(first, last, _CHUNK):
            chunk = slice(start, min(start + _CHUNK, last))
            delta[chunk] = spectrum.energy_changes(distinct[:, chunk] - part.first)
            done += int(count[chunk].sum())
            if progress is not None:
                progress(done, pairs.size(1))
    degree = graph.degree[pairs]
    isolated_ends = (degree == 1).sum(dim=0)
    change = torch.from_numpy(delta[twin_of.ravel()]).to(pairs.device)
    return EnergyChanges(
        pairs=pairs,
        edge_degree=degree.double().mean(dim=0),
        isolated_ends=isolated_ends,
        delta=change + isolated_energy * isolated_ends,
        error=error,
    )


def _check_isolated_energy(value: int) -> None:
    if value not in (0, 1):
        raise InputError(f"isolated_energy is {value!r}, expected 0 or 1")


def _edges_of(graph: Edges, edges: Tensor) -> Tensor:
    edges, n = check_edge_index(edges, graph.num_nodes)
    edges = edges.sort(dim=0).values
    known = torch.isin(edges[0] * n + edges[1], graph.pairs[0] * n + graph.pairs[1])
    if not known.all():
        i, j = edges[:, ~known][:, 0].tolist()
        raise InputError(f"edges holds ({i}, {j}), expected edges of the graph")
    return edges
