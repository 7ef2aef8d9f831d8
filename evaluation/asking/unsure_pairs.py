"""Pairs of a greedy round of which votes and probability leave unsure whether they match, and further votes on them."""

import numpy as np
from django.db.models import Count, Q

from annotation.work.control_records import UNRETIRED
from annotation.work.disputes import Pair, add_votes, pairs_with_room
from annotation.work.judgments import BY_LEVEL, answers_in, votes_in
from counterpart_statistics.pair_codes import pairs_of
from counterpart_statistics.vote_gains import match_posterior
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Control, Round
from hits.question import RIGHT_LEVELS

UNSURE = (0.1, 0.9)
"""The probabilities of a match, after the votes, between which a pair gets a further vote."""
MATCH = Q(level__in=RIGHT_LEVELS[Control.Polarity.POSITIVE])


def ask_about_unsure(round: Round, *, actor: str) -> int:
    """Add HITs with a further vote on each unsure pair, as far as the round's top-up and ceiling allow; return them.

    The rule is the same for pairs of audited queries and for likely matches, so that the labels of both are of one
    kind: what the audit says of the one holds of the other.
    """
    unsure = unsure_pairs(round)
    return add_votes(round, lambda current: pairs_with_room(current, unsure), actor=actor) if unsure else 0


def unsure_pairs(round: Round) -> set[Pair]:
    """Return the judged pairs (ids of image and caption) whose votes leave unsure whether they match, by what either
    of a pair's queries says of it. The probabilities before the votes are learned from labels of other images alone."""
    by_pair = votes_in(round).values_list("image", "caption").annotate(**BY_LEVEL)
    votes = {(image, caption): (one + two, three + four) for image, caption, one, two, three, four in by_pair}
    found, refused = accuracy_of(round)
    unsure = set()
    for whole in whole_queries(round):
        asked = whole.queries.asked
        pairs = pairs_of(whole.queries.codes[asked])
        yes, no = np.array([votes.get(pair, (0, 0)) for pair in pairs]).T
        after = match_posterior(whole.probability[asked], yes, no, found, refused)
        is_unsure = (yes + no > 0) & (after > UNSURE[0]) & (after < UNSURE[1])
        unsure |= {pairs[place] for place in np.flatnonzero(is_unsure).tolist()}
    return unsure


def accuracy_of(round: Round) -> tuple[float, float]:
    """Return the shares of right answers on the round's positive and on its negative controls, one right and one wrong
    answer more in each, so that few answers claim no certainty."""
    answers = answers_in(round).counted().filter(UNRETIRED)
    by_polarity = answers.values_list("item__control__polarity").annotate(
        n=Count("pk"), matches=Count("pk", filter=MATCH)
    )
    counts = {polarity: (n, matches) for polarity, n, matches in by_polarity}
    n_positive, found = counts.get(Control.Polarity.POSITIVE, (0, 0))
    n_negative, taken = counts.get(Control.Polarity.NEGATIVE, (0, 0))
    return (found + 1) / (n_positive + 2), (n_negative - taken + 1) / (n_negative + 2)
