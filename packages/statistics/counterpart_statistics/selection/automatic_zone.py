"""The automatic zone of a round: unlikely pairs, which it rejects once people have judged a random sample of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterpart_statistics.selection.likely_matches import LikelyMatches

MOST = 0.02
"""The greatest probability of a match up to which a pair may be rejected."""
SAMPLE = 160
"""Pairs of a zone that people are asked about, filled up to whole HITs: without a match they prove at most 1.9%."""
CAP = 0.5
"""The greatest share of a round's pairs that may be rejected: of more, the least likely ones."""


@dataclass(frozen=True)
class Zone:
    """The pairs of a zone, as codes of ``pair_codes``, and the random sample of them that people are asked about."""

    below: float
    pairs: NDArray[np.int64]
    asked: NDArray[np.int64]


def zone_of(likely: LikelyMatches, *, below: float, sample: int, seed: int) -> Zone:
    """Return the zone of the pairs without a verdict whose probability of a match is at most ``below``, with a simple
    random ``sample`` of them, drawn after the zone was fixed: so its share of matches bounds that of the zone.

    Raises ValueError for fewer pairs than the sample.
    """
    unlikely = np.flatnonzero(np.isnan(likely.gains) & (likely.probability <= below))
    order = unlikely[np.lexsort((likely.codes[unlikely], likely.probability[unlikely]))]
    pairs = np.sort(likely.codes[order[: int(CAP * len(likely.codes))]])
    if len(pairs) <= sample:
        raise ValueError(
            f"{len(pairs):,} pairs without a verdict have a probability of a match of at most {below}, and a sample of "
            f"{sample:,} would be asked: judge them all, or reject none."
        )
    return Zone(below, pairs, np.random.default_rng(seed).choice(pairs, sample, replace=False))
