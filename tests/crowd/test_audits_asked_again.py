"""Queries of an audit whose work is rejected, excluded, given back or not finished in time are asked again until each
is judged whole: an audit whose workers choose what is left out would be no random draw."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Judgment
from annotation.review.decisions import decide, reject
from core.progress import silent
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from hits.models import Round, Seat
from tests.crowd import platform
from tests.crowd.prolific_rehearsal import Rehearsal, rehearsal, robin, sync
from tests.evaluation.worlds import SMALL, known_pool
from tests.hits.pools import pack

__all__ = ["rehearsal"]

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

QUERIES, SHARE = 14, 0.5
REASON = "All answers are the same. " * 5


def published_audit(channel: str, commit) -> Round:
    made = pack("audit", known_pool(images=QUERIES), design=SMALL, judge="audit", audit_share=SHARE, reward=Decimal(2))
    options = {"channel": channel, "environment": "emulator", "expected_minutes": Decimal(8), "skip_missing": True}
    with commit(execute=True):
        call_command("publish", "audit", **options)
    made.refresh_from_db()
    return made


def rule_on_flagged(made: Round, commit, *, rejected: bool) -> None:
    """Decide flagged work: its votes do not count, and it is paid or rejected."""
    (flagged,) = Assignment.objects.filter(hit__round=made, state="flagged")
    with commit(execute=True):
        if rejected:
            reject(flagged, grounds="random", reason=REASON, evidence="Ones.", by=robin())
        else:
            decide(flagged, votes_count=False, paid=True, reason="The controls failed.", by=robin())


def unasked(made: Round) -> set[int]:
    """The numbers of the HITs that have no answers that count, and that nobody is working on or can be given."""
    judged = Judgment.objects.counted().filter(assignment__hit__round=made).values("assignment__hit")
    asked = Seat.objects.filter(round=made, state__in=(Seat.State.OPEN, Seat.State.TAKEN)).values("hit")
    return {*made.hits.exclude(pk__in=judged).exclude(pk__in=asked).values_list("number", flat=True)}


def check_whole(made: Round) -> None:
    """Every drawn query of either direction is judged whole."""
    assert not Seat.objects.filter(round=made).exclude(state=Seat.State.FILLED).exists()
    found = estimate_round(made, EstimateParameters(metric=("R@1",)), progress=silent).models
    assert {(one.missing, one.estimate.n_audited) for one in found} == {(0, QUERIES * SHARE)}


@pytest.fixture
def mturk(settings) -> Iterator[platform.Rehearsal]:
    with platform.rehearsing(settings) as made:
        yield made


def is_rejected(there: Rehearsal, made: Round, commit) -> None:
    fails_the_controls(there, made, commit)
    rule_on_flagged(made, commit, rejected=True)


def is_excluded(there: Rehearsal, made: Round, commit) -> None:
    fails_the_controls(there, made, commit)
    rule_on_flagged(made, commit, rejected=False)


def fails_the_controls(there: Rehearsal, made: Round, commit) -> None:
    with commit(execute=True):
        there.work(wrong=True)
    sync(made, commit)


def gives_back(there: Rehearsal, made: Round, commit) -> None:
    with commit(execute=True):
        submission, person, _ = there.open()
        there.give_back(submission, person)


def runs_out_of_time(there: Rehearsal, made: Round, commit) -> None:
    with commit(execute=True):
        there.open()
    there.later(hours=2)


def test_queries_of_an_audit_are_asked_again_on_prolific_until_each_is_judged_whole(rehearsal, commit):
    made = published_audit("prolific", commit)
    for goes_astray in (is_rejected, is_excluded, gives_back, runs_out_of_time):
        goes_astray(rehearsal, made, commit)
        sync(made, commit)
        open_seats = Seat.objects.filter(round=made, state=Seat.State.OPEN).count()
        assert (unasked(made), rehearsal.study().free) == (set(), open_seats)
    while Seat.objects.filter(round=made, state=Seat.State.OPEN).exists():
        with commit(execute=True):
            rehearsal.work()
    sync(made, commit)
    check_whole(made)


def test_queries_of_an_audit_are_asked_again_on_mturk_until_each_is_judged_whole(mturk, commit):
    made = published_audit("mturk", commit)
    rejected, excluded, returned, abandoned, *_ = mturk.hits()
    for hit in (rejected, excluded):
        mturk.work(hit, mturk.worker(), wrong_controls=True)
        platform.sync(made, commit)
        rule_on_flagged(made, commit, rejected=hit == rejected)
    for hit in (returned, abandoned):
        worker = mturk.worker()
        assignment = mturk.accept(hit, worker)
        mturk.open_page(hit, assignment, worker)
        if hit == returned:
            mturk.world.return_assignment(assignment, worker)
    mturk.later(hours=2)
    platform.sync(made, commit)
    assert unasked(made) == set()
    mturk.later(days=8)  # by then every HIT has expired that nobody took
    platform.sync(made, commit)
    live = list(made.postings.filter(state="live").values_list("external_id", flat=True))
    assert (unasked(made), len(live)) == (set(), made.hits.count())
    for hit in live:
        mturk.work(hit, mturk.worker())
    platform.sync(made, commit)
    check_whole(made)
