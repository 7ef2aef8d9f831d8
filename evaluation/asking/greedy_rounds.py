"""Rounds of --judge audit+greedy: batches of likely matches follow the audit by themselves, until enough are found, and
further votes on pairs whose votes and probability leave unsure whether they match.

A batch comes once every seat is filled, as the probabilities and the guard count only batches that are judged. So no
open HIT is planned again, and no work that a worker has begun is lost: at most ten HITs wait, and they are the
likeliest pairs by all that was known when the last seat before them was filled.
"""

import logging
from typing import Any

import numpy as np

from annotation.work.disputes import Pair, add_votes, pairs_with_room
from annotation.work.judgments import BY_LEVEL, votes_in
from core.errors import CounterpartError
from core.events import record
from core.text import counted
from counterpart_statistics.aggregation.crowds import ControlAnswers, counted_rates
from counterpart_statistics.pair_codes import pairs_of
from counterpart_statistics.vote_gains import match_posterior
from dataset.judged.answer_tables import control_answers
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import AskLikely, LikelyBatch
from evaluation.auditing.whole_queries import whole_queries
from hits.judge_designs import JudgeDesign
from hits.models import Round, Seat
from hits.rounds.top_ups import design_of

logger = logging.getLogger(__name__)

UNSURE = (0.1, 0.9)
"""The probabilities of a match, after the votes, between which a pair gets a further vote."""
BATCH = 10
"""HITs of a batch."""
STOPPED = "stopped"
"""The key in a round's summary: why it asks no further batch, and the number of its top-ups and its ceiling then."""


def ask_likely_matches(round: Round, *, actor: str) -> int:
    """Add the next batch to an open round of audit+greedy in which every seat is filled; return its HITs. Further votes
    on unsure pairs come before it, where the round has them.

    The round stops once the audit says that enough is found, once every pair is judged, and where its ceiling does not
    leave the cost of a batch: the event says why. It goes on once a person raises the ceiling or adds a batch.
    """
    design = design_of(round)
    if round.state != "open" or not design.greedy or why_stopped(round):
        return 0
    if Seat.objects.filter(round=round, state__in=Seat.UNFILLED).exists():
        return 0
    asked = round.top_ups.count()
    if round.top_up and (added := ask_about_unsure(round, actor=actor)):
        return added
    try:
        planned = AskLikely(likely=BATCH).plan(round)
        if reason := _enough(planned, design):
            raise CounterpartError(reason)
        add_planned(planned, actor=actor)
    except CounterpartError as error:
        if round.top_ups.count() == asked:  # else another process was faster
            _stop(round, str(error), actor)
        return 0
    return planned.plan.n_hits


def _enough(planned: LikelyBatch, design: JudgeDesign) -> str:
    """Return why the batch need not be asked; empty where it must."""
    if design.stop_width and planned.width <= design.stop_width:
        return f"No interval of mAP@R is wider than {planned.width:.3f}. {planned.likely.said}"
    return planned.likely.enough


def why_stopped(round: Round) -> str:
    """Return why the round asks no further batches; empty while it does."""
    stopped = round.summary.get(STOPPED)
    if not stopped or _state(round) != {name: stopped[name] for name in ("top_ups", "ceiling")}:
        return ""
    return str(stopped["reason"])


def _stop(round: Round, reason: str, actor: str) -> None:
    with round.held_for_summary() as held:
        held.summary[STOPPED] = _state(held) | {"reason": reason}
        record("stopped asking", held, actor=actor, reason=reason)


def _state(round: Round) -> dict[str, Any]:
    return {"top_ups": round.top_ups.count(), "ceiling": str(round.ceiling)}


def ask_in_open_rounds() -> str:
    """Add the next batch to every open round that wants one. A round that fails is logged."""
    added = 0
    for round in Round.objects.filter(summary__judge__greedy=True, published_at__isnull=False, closed_at=None):
        try:
            added += ask_likely_matches(round, actor="reconciler")
        except Exception:
            logger.exception("round %s could not ask its next likely matches", round)
    return f"{counted(added, 'HIT')} added."


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
    known = control_answers(round)
    found, refused = counted_rates(ControlAnswers.of(known, known[known["counted"]])[0])
    unsure = set()
    for whole in whole_queries(round):
        asked = whole.queries.asked
        pairs = pairs_of(whole.queries.codes[asked])
        yes, no = np.array([votes.get(pair, (0, 0)) for pair in pairs]).T
        after = match_posterior(whole.probability[asked], yes, no, found, refused)
        is_unsure = (yes + no > 0) & (after > UNSURE[0]) & (after < UNSURE[1])
        unsure |= {pairs[place] for place in np.flatnonzero(is_unsure).tolist()}
    return unsure
