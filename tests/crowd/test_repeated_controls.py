"""No worker is judged twice by one control, whichever way they come."""

import pytest

from annotation.models import Assignment, Judgment
from annotation.people.consent import give_consent
from annotation.people.workers import worker_for
from annotation.work.leases import lease_seat
from annotation.work.submissions import submit_answers
from crowd.visits.intake import take_in
from hits.models import Control, Item, Round
from tests.annotation.answering import right_answers
from tests.annotation.controlling import settle
from tests.crowd.framing import claims, confirm, enter, frame_of, post_hit, save, serve_mturk
from tests.factories import make_round

KNOWN = {"channel": "mturk", "environment": "emulator", "external_id": "AWORKERONE"}


@pytest.fixture
def shared_control(db) -> Round:
    """Two HITs with the same positive control."""
    made = make_round(hits=2)
    first, second = Item.objects.filter(control__polarity="positive").order_by("hit__number")
    pair = {"image": first.image, "caption": first.caption, "control": first.control}
    Item.objects.filter(pk=second.pk).update(**pair)
    Control.objects.filter(pk=second.control_id).delete()
    return made


def worker_who_did_the_first(made: Round):
    worker = worker_for(**KNOWN)
    give_consent(worker)
    lease = lease_seat(made, worker=worker)
    submit_answers(lease, answers=right_answers(lease), active_seconds=60)
    assert settle(lease).state == "accepted"
    return worker


def test_the_browser_pool_gives_no_hit_with_a_control_that_the_worker_met(shared_control):
    assert lease_seat(shared_control, worker=worker_who_did_the_first(shared_control)) is None


def test_a_platforms_visitor_who_met_a_control_is_turned_away(shared_control, stranger, monkeypatch):
    serve_mturk(monkeypatch)
    worker_who_did_the_first(shared_control)
    answer = stranger.get(frame_of(claims(post_hit(shared_control.hits.get(number=2)))))
    assert answer.status_code == 409
    assert "1 of the 4 pairs" in answer.content.decode()
    assert "control" not in answer.content.decode()


def test_a_control_met_in_a_submission_that_could_not_be_refused_judges_nothing(shared_control, stranger, monkeypatch):
    """Two HITs were open on the platform at once: the second answer to their control is not stored, and the work waits
    for a person."""
    serve_mturk(monkeypatch)
    posted = {f"OF{hit.number}": post_hit(hit, f"HIT{hit.number}") for hit in shared_control.hits.all()}
    for name, posting in posted.items():
        enter(stranger, posting, assignment=name)
    for name, posting in posted.items():
        save(stranger, posting, assignment=name)
    for claim in Assignment.objects.order_by("pk"):
        confirm(claim)
        assert take_in(claim.pk)
        settle(claim)
    control = shared_control.controls.get(polarity="positive")
    assert Judgment.objects.filter(item__control=control).count() == 1
    second = Assignment.objects.get(outside_key="OF2")
    assert (second.state, second.judgments.count()) == ("flagged", 3)
