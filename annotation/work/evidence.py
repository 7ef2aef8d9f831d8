"""What the signals find in one answer set, held against its round's norm and its worker's earlier work there."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from django.db.models import Count, QuerySet, Subquery
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from annotation.models import Assignment, Norm
from annotation.work.answers import NO_PICTURE, places_among
from annotation.work.judgments import answers_from, answers_on
from annotation.work.signals import (
    Evidence,
    Pace,
    agrees_by_chance,
    contradicts_itself,
    follows_annotator,
    in_a_pattern,
    one_level,
    too_fast,
    unread,
)
from core.database.fixed_queries import FixedQuery
from counterpart_statistics.following import Expected
from hits.models import Round, Seat
from hits.question import RIGHT_LEVELS
from hits.task_types import task_type_of
from mitl.models import Annotator, Proposal

YES = RIGHT_LEVELS["positive"]
FEWEST_SETS = 10  # filled seats below which a round has no norm; at least TAUGHT
FEWEST_ANSWERS = 100  # and answers, with a tenth of each kind, below which nothing says what to expect
SAMPLE = 100  # latest answer sets that a norm is measured from
STALE = 500  # filled seats after which it is measured again; before, whenever they have doubled
EARLIER = 5  # answer sets of the worker that agreement is pooled over
OTHERS = 2  # votes of others for either side beyond which more of them change nothing
TAUGHT = 8  # answer sets of a norm that are needed for each set whose agreement is compared with it
AT_ONCE = 100  # pairs in one query

MEASURED = ("answer_sets", "pace", "shares", "annotators", "weights")

Pair = tuple[int, int]  # keys of the image and the caption


class Vote(NamedTuple):
    """One answer on a pair."""

    worker: int
    pair: Pair
    level: int


class ItemAnswer(NamedTuple):
    """An assignment's answer to one item (by key): its ``level``, None where it has no judgment; ``seconds``, if known;
    ``reported``: its worker has reported the pair. ``polarity`` is that of a control that judges work, else None."""

    item: int
    polarity: str | None
    level: int | None
    seconds: int | None
    reported: bool


def evidence_of(assignment: Assignment, answers: Sequence[ItemAnswer]) -> list[Evidence]:
    """Return what the signals find in the answers to all items of a submitted assignment; nothing of written ones."""
    round = assignment.hit.round
    task = task_type_of(round)
    levels = {one.item: one.level for one in answers if one.level is not None}
    if task.writes or not levels:
        return []
    norm = norm_of(round)
    earlier = _accepted_sets(assignment.worker_id, round.pk, assignment.pk)
    seconds = [one.seconds for one in answers if one.level is not None]
    again = {item: level for item, _, level in assignment.repeats if level != NO_PICTURE}
    evidence = _of_time(assignment, [*seconds, *(None for _ in again)], norm, earlier)
    if task.group == 1:  # the pairs of one picture are shown together, so their order has a meaning
        all_of_them = levels | again
        shown = places_among(assignment, [*(one.item for one in answers), *again]).values()
        evidence.append(in_a_pattern([all_of_them[item] for item in shown if item in all_of_them]))
    if again:
        evidence.append(_of_repeats([assignment, *earlier]))
    if norm:
        evidence.append(one_level([*levels.values()], norm.shares))
    if norm and norm.weights:
        compared = earlier[: min(norm.answer_sets, SAMPLE) // TAUGHT - 1]
        evidence += _of_agreement(assignment, norm, [assignment.pk, *(one.pk for one in compared)])
    return [one for one in evidence if one]


def norm_of(round: Round) -> Norm | None:
    """Return what is usual in the round, measured again as its accepted work grows; None while it is too little."""
    ((filled, *measured),) = _measured(round.pk)
    norm = Norm(round=round, **dict(zip(MEASURED, measured, strict=True))) if measured[0] else None
    if norm and filled < min(2 * norm.answer_sets, norm.answer_sets + STALE):
        return norm
    return _measure(round, filled) if filled >= FEWEST_SETS else None


@FixedQuery
def _measured(round: int) -> QuerySet[Round, tuple[Any, ...]]:
    """Return the number of filled seats, and the columns MEASURED of the norm."""
    seats = Seat.objects.filter(round=round, state=Seat.State.FILLED).order_by().values("round")
    filled = Coalesce(Subquery(seats.annotate(n=Count("pk")).values("n")), 0)
    return Round.objects.filter(pk=round).values_list(filled, *(f"norm__{name}" for name in MEASURED))


def _of_time(
    assignment: Assignment, seconds: Sequence[int | None], norm: Norm | None, earlier: Sequence[Assignment]
) -> list[Evidence | None]:
    """Nothing of programs, which make their times up."""
    if assignment.active_seconds is None or assignment.worker.simulated or assignment.hit.round.rehearsal:
        return []
    own = [one.active_seconds / len(seconds) for one in earlier if one.active_seconds is not None]
    floor = settings.LEAST_SECONDS_A_PAIR
    usual = Pace(*norm.pace) if norm and norm.pace else None
    mean = assignment.active_seconds / len(seconds)
    return [too_fast(mean, floor=floor, usual=usual, own=own), unread(seconds, floor=floor)]


@FixedQuery
def _accepted_sets(worker: int, round: int, but: int) -> QuerySet[Assignment]:
    """Return the worker's latest accepted sets of the round; without those that a person decided, who has looked."""
    theirs = Assignment.objects.filter(worker=worker, hit__round=round, state=Assignment.State.ACCEPTED)
    return theirs.exclude(pk=but).exclude(decisions__by__isnull=False).order_by("-pk")[:EARLIER]


def _of_repeats(sets: Sequence[Assignment]) -> Evidence | None:
    """Compare both answers to the pairs that were asked twice in the sets."""
    again = [(one.pk, first, level) for one in sets for _, first, level in one.repeats if level != NO_PICTURE]
    rows = answers_from(sets).filter(item__in=[first for _, first, _ in again])
    firsts = {(assignment, item): level for assignment, item, level in rows.values_list("assignment", "item", "level")}
    both = [(firsts[key, first], level) for key, first, level in again if (key, first) in firsts]
    return contradicts_itself([first for first, _ in both], [level for _, level in both])


def _of_agreement(assignment: Assignment, norm: Norm, sets: Sequence[int]) -> list[Evidence | None]:
    votes = _votes_in(sets)
    features = _features(assignment.hit.round, votes, norm.annotators)
    yes = np.array([vote.level in YES for vote in votes], np.float64)
    chance = Expected(tuple(norm.weights)).chance(features)
    names = Annotator.objects.in_bulk(norm.annotators)
    ranks = features[:, : len(norm.annotators)].T
    return [
        agrees_by_chance(yes, chance),
        follows_annotator(yes, chance, ranks, [names[pk].name for pk in norm.annotators]),
    ]


def _measure(round: Round, filled: int) -> Norm:
    accepted = Assignment.objects.filter(hit__round=round, state=Assignment.State.ACCEPTED, has_hit=True)
    sets = list(accepted.select_related("worker").order_by("-pk")[:SAMPLE])
    levels = Counter[int]()
    answers = answers_from(sets).values_list("assignment", "level")
    pairs = Counter[int]()
    for assignment, level in answers:
        levels[level] += 1
        pairs[assignment] += 1
    by_people = [] if round.rehearsal else [one for one in sets if one.active_seconds and not one.worker.simulated]
    times = [(one.active_seconds or 0) / pairs[one.pk] for one in by_people if pairs[one.pk]]
    pace = Pace.of(times) if len(times) >= FEWEST_SETS else None
    values = {
        "answer_sets": filled,
        "pace": [pace.median, pace.spread] if pace else None,
        # One answer more at each level, so that none is impossible.
        "shares": [(levels[level] + 1) / (levels.total() + 4) for level in range(1, 5)],
        **_expectation(round, [one.pk for one in sets]),
    }
    norm, _ = Norm.objects.update_or_create(round=round, defaults=values)
    return norm


def _expectation(round: Round, sets: Sequence[int]) -> dict[str, list]:
    """Fit what is expected of an answer, by annotators' ranks and the votes of others."""
    votes = _votes_in(sets) if task_type_of(round).on_pairs else []
    yes = np.array([vote.level in YES for vote in votes], np.float64)
    if len(votes) < FEWEST_ANSWERS or min(yes.sum(), len(yes) - yes.sum()) < len(yes) / 10:
        return {"annotators": [], "weights": []}
    annotators = sorted(round.pool.retrievals.values_list("annotator", flat=True).distinct())
    features = _features(round, votes, annotators)
    return {"annotators": annotators, "weights": list(Expected.fitted(features, yes).weights)}


def _votes_in(sets: Sequence[int]) -> list[Vote]:
    """Return the answers on candidates in the sets, by key."""
    rows = answers_from(sets).of_candidates().order_by("pk")
    columns = rows.values_list("worker", "image", "caption", "level")
    return [Vote(worker, (image, caption), level) for worker, image, caption, level in columns]


def _features(round: Round, votes: Sequence[Vote], annotators: Sequence[int]) -> NDArray[np.float64]:
    """Return (N, 2 annotators + 1): 1 / rank of the pair in each annotator's pooled lists, the better of both
    directions and 0 beyond them; whether it is there, as the last place of a strong annotator says more than a rank
    beyond; and by how much the votes of others say yes rather than no."""
    column = {annotator: number for number, annotator in enumerate(annotators)}
    table = np.zeros((len(votes), len(annotators) + 1))
    rows: dict[Pair, list[int]] = {}
    for row, vote in enumerate(votes):
        rows.setdefault(vote.pair, []).append(row)
    pairs = list(rows)
    for start in range(0, len(pairs), AT_ONCE):
        images, captions = zip(*pairs[start : start + AT_ONCE], strict=True)
        # By both sides alone, so that the indexes are searched; what else they find has no row here.
        some = {"image__in": images, "caption__in": captions}
        listed = Proposal.objects.filter(**some, pool=round.pool_id, annotator__in=annotators)
        for image, caption, annotator, rank in listed.values_list("image", "caption", "annotator", "rank"):
            for row in rows.get((image, caption), ()):
                table[row, column[annotator]] = max(table[row, column[annotator]], 1 / rank)
        counted = answers_on(images, captions).of_candidates().counted()
        for worker, image, caption, level in counted.values_list("worker", "image", "caption", "level"):
            for row in rows.get((image, caption), ()):
                if votes[row].worker != worker:
                    table[row, -1] += 1 if level in YES else -1
    ranked = table[:, :-1]
    others = table[:, -1:].clip(-OTHERS, OTHERS)
    return np.hstack([ranked, ranked > 0, others])
