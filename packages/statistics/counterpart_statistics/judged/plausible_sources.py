"""Plausible matches as sources to compare with verified pairs (Chun et al. 2021; ECCV Caption, table 2). Pure."""

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from counterpart_metrics import Plausible
from counterpart_statistics.judged import PAIR


def plausible_sources(
    shown: Mapping[int, Collection[int]],
    owners: Mapping[int, int],
    queries: Mapping[str, Collection[int]],
    zetas: Sequence[int],
) -> dict[str, pd.DataFrame]:
    """Return the plausible matches of the queries as ``image`` and ``caption``, a source ``PM ζ=…`` for each zeta.

    A pair is in twice if both its image and its caption are queries.

    Args:
        shown: image → its categories of objects, of the whole gallery.
        owners: caption → its image, whose categories it has.
        queries: those of ``i2t`` (images) and ``t2i`` (captions).
        zetas: in how many categories a pair may differ.

    >>> plausible_sources({1: [3], 2: [3, 5]}, {10: 1}, {"i2t": [1, 2]}, [0])["PM ζ=0"].values.tolist()
    [[1, 10]]
    """
    captions = {caption: shown[image] for caption, image in owners.items()}
    found: dict[str, list[pd.DataFrame]] = {f"PM ζ={zeta}": [] for zeta in zetas}
    for direction, asked in queries.items():
        i2t = direction == "i2t"
        known, items, columns = (shown, captions, PAIR) if i2t else (captions, shown, PAIR[::-1])
        plausible = Plausible({query: known[query] for query in asked}, items)
        for parts, zeta in zip(found.values(), zetas, strict=True):
            matches = plausible.matches(zeta)
            pairs = {columns[0]: matches.queries[matches.rows], columns[1]: matches.items}
            parts.append(pd.DataFrame(pairs)[PAIR])
    return {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}
