"""A finished round of all pairs, whose votes may be drawn and counted again in another way."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import pandas as pd

from core.errors import CounterpartError
from core.progress import Progress, silent
from dataset.aggregation import Method, conclude
from dataset.contents import proposals_of
from dataset.review_rows import Reviewed, review_rows
from dataset.verdicts import votes_of
from evaluation.asking.selection_replay import Ids
from evaluation.auditing.asked_pairs import asked_pairs, waiting_hits
from evaluation.auditing.estimation_inputs import pair_codes
from evaluation.auditing.whole_queries import WholeQueries, whole_queries
from hits.models import Round
from hits.top_ups import design_of

Wholes = Sequence[WholeQueries]


@dataclass(frozen=True)
class FinishedRound:
    """A finished round of all pairs.

    Attributes:
        votes: as of ``votes_of``, with the code of each pair.
        wholes: each direction with the verdicts of all votes.
        asked: codes of the pairs that it asked; some are matches that were known beforehand.
        reviewed: codes of the pairs whose level a reviewer gave, whatever the votes say.
    """

    round: Round
    votes: pd.DataFrame
    wholes: tuple[WholeQueries, ...]
    asked: Ids
    reviewed: Ids

    @classmethod
    def of(cls, round: Round, *, progress: Progress = silent) -> "FinishedRound":
        """Read a round. Raises CounterpartError for a round that asks a part of its pool, or is not finished."""
        design = design_of(round)
        if design.judge != "all":
            raise CounterpartError(
                f"Round {round} asks {design.judge} pairs: nobody knows what the others are. what_if replays a "
                "finished round of all pairs."
            )
        wholes = tuple(whole_queries(round, progress=progress))
        waiting = waiting_hits(round)
        votes = votes_of(round)
        votes = votes[~votes["hit"].isin(waiting)]
        votes = votes.sort_values(["image", "caption", "control", "worker"], ignore_index=True)
        collection = round.pool.collection
        images, captions = (dict(side.values_list("key", "pk")) for side in (collection.images, collection.captions))
        votes["code"] = pair_codes(votes["image"].map(images), votes["caption"].map(captions))
        reviewed = Reviewed.of(review_rows(collection)).levels
        keyed = [(images[image], captions[caption]) for image, caption in reviewed]
        return cls(round, votes, wholes, codes_of(asked_pairs(round, waiting)), codes_of(keyed))

    @property
    def hits(self) -> int:
        return self.round.hits.count()

    @property
    def cost(self) -> Decimal:
        """US dollars of all its answer sets, with fees."""
        return self.round.seat_cost * self.round.seats.count()

    @property
    def judgments(self) -> int:
        """Votes on pairs that it asked, without controls."""
        return int((self.votes["control"] == "").sum())

    @property
    def matches(self) -> Ids:
        return matches_in(self.wholes)

    def voted(self, replication: int, seed: int) -> pd.DataFrame:
        """Return so many votes of each pair, or all that there are, drawn at random; all votes on controls."""
        shuffled = self.votes.iloc[np.random.default_rng(seed).permutation(len(self.votes))]
        number = shuffled.groupby(["code", "control"]).cumcount()
        return shuffled[(number < replication) | (shuffled["control"] != "")].sort_index()

    def deciding(self, wholes: Wholes, votes: pd.DataFrame, method: Method, seed: int) -> tuple[WholeQueries, ...]:
        """Return ``wholes`` with the verdicts that a method finds in the votes, but for those of reviewers."""
        proposals = proposals_of([self.round]) if method == "consensus" else None
        try:
            verdicts = conclude(votes, method=method, proposals=proposals, seed=seed)
        except ValueError as error:
            raise CounterpartError(f"Round {self.round}: {error}") from error
        keys = votes.drop_duplicates("code").set_index(["image", "caption"])["code"]
        codes = keys.loc[pd.MultiIndex.from_frame(verdicts[["image", "caption"]])].to_numpy()
        order = np.argsort(codes)
        codes, levels = codes[order], verdicts["level"].to_numpy(float)[order]
        found = []
        for one in wholes:
            queries = one.queries
            place = np.minimum(np.searchsorted(codes, queries.codes), len(codes) - 1)
            decided = queries.asked & (codes[place] == queries.codes) & ~np.isin(queries.codes, self.reviewed)
            found.append(
                replace(one, queries=replace(queries, levels=np.where(decided, levels[place], queries.levels)))
            )
        return tuple(found)


def matches_in(wholes: Wholes) -> Ids:
    """Return the codes of the pairs that verdicts say are matches, without those known beforehand."""
    found = [one.queries.codes[one.queries.asked & (np.nan_to_num(one.queries.gains) > 0)] for one in wholes]
    return np.unique(np.concatenate(found))


def codes_of(pairs: Iterable[tuple[int, int]]) -> Ids:
    """Return the distinct codes of pairs of ids of image and caption."""
    table = np.array(list(pairs), np.int64).reshape(-1, 2)
    return np.unique(pair_codes(table[:, 0], table[:, 1]))
