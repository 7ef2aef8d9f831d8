"""How much the machines behind a pool agree: which pairs each proposed, and how many two of them share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mitl.models import Annotator, Pool


@dataclass(frozen=True)
class Overlap:
    """``shared`` (n, n): pairs that the row's and the column's machine both proposed; the diagonal, all of one's.

    ``alone`` (n,): pairs that no other machine of the pool proposed.
    """

    annotators: list[Annotator]
    shared: NDArray[np.int64]
    alone: NDArray[np.int64]


def overlap(pool: Pool) -> Overlap:
    """Count over the distinct pairs of the pool, whichever direction proposed them."""
    proposals = pool.proposals.order_by().values_list("annotator", "image", "caption").distinct()
    rows = np.fromiter(proposals.iterator(chunk_size=20_000), dtype=np.dtype((np.int64, 3)))
    machines, machine_of = np.unique(rows[:, 0], return_inverse=True)
    _, pair_of = np.unique(rows[:, 1:], axis=0, return_inverse=True)
    named = np.zeros((len(machines), pair_of.max(initial=-1) + 1), dtype=np.int64)
    named[machine_of, pair_of] = 1
    known = Annotator.objects.in_bulk(machines.tolist())
    return Overlap(
        annotators=[known[machine] for machine in machines.tolist()],
        shared=named @ named.T,
        alone=(named * (named.sum(axis=0) == 1)).sum(axis=1),
    )
