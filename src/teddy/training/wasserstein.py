from __future__ import annotations

import numpy as np

from teddy import jit
from teddy.training.sinkhorn_kernels import LANES, Cloud, gradients, sinkhorn


@jit.compiled
def ordered(points):
    """Order points by halving them across their widest side until they fit a block."""
    order = np.arange(len(points))
    waiting = [(0, len(points))]
    while len(waiting) > 0:
        first, last = waiting.pop()
        if last - first <= LANES:
            continue
        own = order[first:last].copy()
        side, widest = 0, -1.0
        for k in range(points.shape[1]):
            column = points[own, k]
            width = column.max() - column.min()
            if width > widest:
                side, widest = k, width
        order[first:last] = own[np.argsort(points[own, side])]
        blocks = (last - first + LANES - 1) // LANES
        middle = first + (blocks + 1) // 2 * LANES
        waiting.append((first, middle))
        waiting.append((middle, last))
    return order

def columns(rows):
    filled = np.pad(rows, ((0, -len(rows) % LANES), (0, 0)), mode="edge")
    return filled.reshape(-1, LANES, rows.shape[1]).transpose(0, 2, 1).reshape(-1, LANES).copy()

def cloud(rows):
    c = columns(rows)
    s = c.astype(np.float32)
    blocks = s.reshape(-1, rows.shape[1], LANES)
    return Cloud(rows, rows.astype(np.float32), c, s, columns(blocks.min(axis=2)), columns(blocks.max(axis=2)))

def transport(x, y, epsilon, iterations, stop, cut, backward):
    X,Y=cloud(x),cloud(y)
    f,g=potentials(iterations+1,X),potentials(iterations+1,Y)
    last,means=sinkhorn(X,Y,f,g,epsilon,stop,cut)
    value=means.mean()
    if not backward: return value,None,None
    xr,xc,yr,yc=gradients(X,Y,f,g,epsilon,cut,last,means)
    return value,as_rows(xr,xc),as_rows(yr,yc)

def as_rows(r,c):
    d=r.shape[1]
    return r+c.reshape(-1,d,LANES).transpose(0,2,1).reshape(-1,d)[:len(r)]

def potentials(rounds, c):
    p=np.zeros((rounds,len(c.columns)//c.rows.shape[1],LANES))
    p[:,-1,(len(c.rows)-1)%LANES+1:]=-np.inf
    return p
