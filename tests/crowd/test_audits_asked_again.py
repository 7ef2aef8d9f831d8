"""Queries of an audit whose work is rejected, excluded, given back or not finished in time are asked again until each
is judged whole: an audit whose workers choose what is left out would be no random draw."""

from decimal import Decimal

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Judgment
from annotation.review.decisions import decide, reject
from core.progress import silent
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from hits.models import Round, Seat
from tests.crowd.fakes import robin
from tests.crowd.platform import sync
from tests.evaluation.worlds import SMALL, known_pool
from tests.hits.pools import pack

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

QUERIES, SHARE = 14, 0.5
REASON = "All answers are the same. " * 5


def published_audit(commit) -> Round:
    made = pack("audit", known_pool(images=QUERIES), design=SMALL, judge="audit", audit_share=SHARE, reward=Decimal(2))
    options = {"channel": "mturk", "environment": "emulator", "expected_minutes": Decimal(8), "skip_missing": True}
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
    """The numbers of the HITs without answers that count that no worker has or can be given."""
    judged = Judgment.objects.counted().filter(assignment__hit__round=made).values("assignment__hit")
    asked = Seat.objects.filter(round=made, state__in=(Seat.State.OPEN, Seat.State.TAKEN)).values("hit")
    return {*made.hits.exclude(pk__in=judged).exclude(pk__in=asked).values_list("number", flat=True)}


def check_whole(made: Round) -> None:
    """Every drawn query of either direction is judged whole."""
    assert not Seat.objects.filter(round=made).exclude(state=Seat.State.FILLED).exists()
    found = estimate_round(made, EstimateParameters(metric=("R@1",)), progress=silent).models
    assert {(one.missing, one.estimate.n_audited) for one in found} == {(0, QUERIES * SHARE)}


def test_queries_of_an_audit_are_asked_again_until_each_is_judged_whole(rehearsal, commit):
    made = published_audit(commit)
    rejected, excluded, returned, abandoned, *_ = rehearsal.hits()
    for hit in (rejected, excluded):
        rehearsal.work(hit, rehearsal.worker(), wrong_controls=True)
        sync(made, commit)
        rule_on_flagged(made, commit, rejected=hit == rejected)
    for hit in (returned, abandoned):
        worker = rehearsal.worker()
        assignment = rehearsal.accept(hit, worker)
        rehearsal.open_page(hit, assignment, worker)
        if hit == returned:
            rehearsal.world.return_assignment(assignment, worker)
    rehearsal.later(hours=2)
    sync(made, commit)
    assert unasked(made) == set()
    rehearsal.later(days=8)  # by then every HIT without a worker has expired
    sync(made, commit)
    live = list(made.postings.filter(state="live").values_list("external_id", flat=True))
    assert (unasked(made), len(live)) == (set(), made.hits.count())
    for hit in live:
        rehearsal.work(hit, rehearsal.worker())
    sync(made, commit)
    check_whole(made)
