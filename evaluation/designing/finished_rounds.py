"""A finished round of all pairs, whose votes may be drawn and counted again in another way."""

from dataclasses import dataclass
from decimal import Decimal

import pandas as pd

from core.errors import CounterpartError
from core.progress import Progress, silent
from counterpart_statistics.aggregation import Method, conclude
from counterpart_statistics.judged import PAIR
from counterpart_statistics.pair_codes import Ids, pair_codes
from counterpart_statistics.selection.drawn_votes import Wholes, deciding, matches_in
from counterpart_statistics.selection.pooled_queries import WholeQueries
from dataset.judged.answer_tables import votes_of, with_ids
from dataset.versions.contents import proposals_of
from dataset.versions.review_rows import Reviewed, review_rows
from evaluation.auditing.asked_pairs import asked_pairs
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Round
from hits.rounds.top_ups import design_of


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
                f"Round {round} asks {design.judge} pairs, and the others are unknown. plan --replay replays a "
                "finished round of all pairs."
            )
        wholes = tuple(whole_queries(round, progress=progress))
        votes = votes_of(round, finished=True)
        votes = votes.sort_values([*PAIR, "control", "worker"], ignore_index=True)
        collection = round.pool.collection
        reviewed = pd.DataFrame(list(Reviewed.of(review_rows(collection)).levels), columns=PAIR)
        of_votes, of_reviews = (pair_codes(*with_ids(one[PAIR], collection).to_numpy().T) for one in (votes, reviewed))
        return cls(round, votes.assign(code=of_votes), wholes, asked_pairs(round, finished=True), of_reviews)

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

    def deciding(self, wholes: Wholes, votes: pd.DataFrame, method: Method, seed: int) -> tuple[WholeQueries, ...]:
        """Return ``wholes`` with the verdicts that a method finds in the votes, but for those of reviewers."""
        proposals = proposals_of([self.round]) if method == "consensus" else None
        try:
            verdicts = conclude(votes, method=method, proposals=proposals, seed=seed)
        except ValueError as error:
            raise CounterpartError(f"Round {self.round}: {error}") from error
        return deciding(wholes, votes, verdicts, self.reviewed)
