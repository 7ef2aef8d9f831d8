"""Votes of a finished round drawn and counted again: which of them count, and what queries then say."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from counterpart_statistics.judged import PAIR
from counterpart_statistics.pair_codes import Ids
from counterpart_statistics.selection.pooled_queries import WholeQueries

Wholes = Sequence[WholeQueries]


def draw_votes(votes: pd.DataFrame, replication: int, seed: int) -> pd.DataFrame:
    """Return ``replication`` votes of each pair, by its ``code``, or all if there are fewer, drawn at random; and all
    votes on controls."""
    shuffled = votes.iloc[np.random.default_rng(seed).permutation(len(votes))]
    number = shuffled.groupby(["code", "control"]).cumcount()
    return shuffled[(number < replication) | (shuffled["control"] != "")].sort_index()


def deciding(wholes: Wholes, votes: pd.DataFrame, verdicts: pd.DataFrame, kept: Ids) -> tuple[WholeQueries, ...]:
    """Return ``wholes`` with the verdicts on the pairs of ``votes``, which have their codes, but for the pairs of the
    codes that are ``kept``."""
    keys = votes.drop_duplicates("code").set_index(PAIR)["code"]
    codes = keys.loc[pd.MultiIndex.from_frame(verdicts[PAIR])].to_numpy()
    order = np.argsort(codes)
    codes = codes[order]
    levels = verdicts["level"].to_numpy(float)[order]
    found = []
    for one in wholes:
        queries = one.queries
        place = np.minimum(np.searchsorted(codes, queries.codes), len(codes) - 1)
        decided = queries.asked & (codes[place] == queries.codes) & ~np.isin(queries.codes, kept)
        found.append(replace(one, queries=replace(queries, levels=np.where(decided, levels[place], queries.levels))))
    return tuple(found)


def matches_in(wholes: Wholes) -> Ids:
    """Return the codes of the pairs that verdicts say are matches, without those known beforehand."""
    return np.unique(np.concatenate([whole.queries.codes[whole.matches] for whole in wholes]))
