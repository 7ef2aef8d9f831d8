"""Claims that a platform never confirms: they block no worker, and are deleted."""

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Assignment, Draft, Judgment, Report, Worker
from annotation.people.consent import current_sheet, write_words
from annotation.people.workers import exclude, worker_for
from annotation.work.leases import expire_leases
from annotation.work.submissions import submit_answers
from core.models import Event
from crowd.channels.base import Listed
from crowd.models import Posting
from crowd.sync import keep
from crowd.visits.claims import purge_claims
from crowd.visits.intake import take_in
from hits.models import Control, Item, Round
from tests.annotation.answering import leased, right_answers
from tests.annotation.controlling import settle
from tests.at_once import at_once
from tests.crowd.framing import claims, confirm, enter, frame_of, post_hit, save
from tests.factories import make_round

FROM = {"REMOTE_ADDR": "203.0.113.7"}


pytestmark = pytest.mark.usefixtures("framed")


@pytest.fixture
def posting(posting) -> Posting:
    cache.clear()
    Round.objects.update(rehearsal=False)
    return posting


def open_hit(client, posting: Posting, number: int, **request: str):
    return client.get(frame_of(claims(posting, assignment=f"A{number}", worker=f"AWORKERNUMBER{number}")), **request)


# Throttle


def test_one_address_opens_a_limited_number_of_hits_an_hour_and_others_are_not_hindered(stranger, posting, settings):
    settings.ARRIVALS_PER_HOUR = 3
    assert [open_hit(stranger, posting, number, **FROM).status_code for number in range(3)] == [302] * 3
    refused = open_hit(stranger, posting, 3, **FROM)
    assert refused.status_code == 429
    assert (Worker.objects.count(), Assignment.objects.count()) == (3, 3)
    assert open_hit(stranger, posting, 0, **FROM).status_code == 302  # who has begun goes on
    assert open_hit(stranger, posting, 3, REMOTE_ADDR="203.0.113.8").status_code == 302


def test_a_rehearsal_is_not_throttled_though_one_computer_plays_its_workers(stranger, posting, settings):
    settings.ARRIVALS_PER_HOUR = 1
    Round.objects.update(rehearsal=True)
    assert [open_hit(stranger, posting, number, **FROM).status_code for number in range(3)] == [302] * 3


# Purge


def test_claims_that_were_never_confirmed_go_when_the_posting_is_settled(stranger, posting):
    sheet = enter(stranger, posting)
    stranger.post(sheet + "draft/", {"place": "1", "level-1": "1"})
    stranger.post(sheet + "draft/", {"place": "1", "problem-1": "text"})
    assert purge_claims() == 0
    Posting.objects.update(settled_at=timezone.now())
    assert purge_claims() == 1
    assert not any(model.objects.exists() for model in (Assignment, Draft, Report, Worker))
    assert Event.objects.filter(verb="deleted as never confirmed").count() == 1
    assert stranger.get(sheet).status_code == 404


def test_what_the_platform_confirmed_stays_though_it_is_not_stored_yet(stranger, posting):
    save(stranger, posting)
    confirm(Assignment.objects.get())
    Posting.objects.update(settled_at=timezone.now())
    assert purge_claims() == 0
    assert take_in(Assignment.objects.get().pk)


def test_a_worker_of_whom_more_is_known_stays_when_their_claim_goes(stranger, posting):
    enter(stranger, posting)
    exclude(Worker.objects.get(), reason="spam", by="robin")
    Posting.objects.update(settled_at=timezone.now())
    assert purge_claims() == 1
    assert Worker.objects.count() == 1


def test_answers_to_another_hit_than_the_platform_lists_the_work_for_are_not_taken(stranger, posting):
    other = post_hit(make_round(posting.hit.round.pool.collection, "other").hits.get(), "HITTWO")
    save(stranger, posting)
    keep(other, Listed("ASSIGNED", "AWORKERONE", "submitted", timezone.now(), None, None, ""))
    work = Assignment.objects.get()
    assert (work.hit, work.visit.posting, work.receipt) == (other.hit, other, "")
    assert not Draft.objects.exists()


def test_the_clock_leaves_a_claim_to_its_platform(stranger, posting):
    save(stranger, posting)
    Assignment.objects.update(deadline=timezone.now())
    assert expire_leases() == 0
    claim = Assignment.objects.get()
    confirm(claim)
    assert take_in(claim.pk)


def test_the_next_hit_after_a_change_of_the_sheet_shows_it_and_each_consent_is_to_what_was_shown(stranger, db):
    made = make_round(hits=2)
    posting, other = (post_hit(hit, f"HIT{hit.number}") for hit in made.hits.all())
    first = current_sheet(made)
    save(stranger, posting)
    write_words(made, actor="kim", researchers="Kim's lab", payment_terms="", contact="")
    changed, address = current_sheet(made), frame_of(claims(other, assignment="SECOND"))
    assert "consent sheet has changed" in stranger.get(address).text
    assert enter(stranger, posting)  # who has begun goes on
    assert stranger.post(address, {"consent": "yes", "sheet": first.pk}).status_code == 200
    assert Assignment.objects.count() == 1
    assert stranger.post(address, {"consent": "yes", "sheet": changed.pk}).status_code == 302
    for claim in Assignment.objects.order_by("pk"):
        confirm(claim)
        take_in(claim.pk)
    assert [one.sheet for one in Worker.objects.get().consents.all()] == [first, changed]


# Controls: no worker is judged twice by one, whichever way they come


@pytest.fixture
def with_one_control(db) -> list[Posting]:
    """Two postings of HITs with the same positive control."""
    made = make_round(hits=2)
    first, second = Item.objects.filter(control__polarity="positive").order_by("hit__number")
    pair = {"image": first.image, "caption": first.caption, "control": first.control}
    Item.objects.filter(pk=second.pk).update(**pair)
    Control.objects.filter(pk=second.control_id).delete()
    return [post_hit(hit, f"HIT{hit.number}") for hit in made.hits.all()]


def test_who_met_a_control_in_the_pool_is_turned_away_without_a_word_of_controls(stranger, with_one_control):
    first, second = with_one_control
    lease = leased(first.round, worker=worker_for(**first.market, external_id="AWORKERONE"))
    submit_answers(lease, answers=right_answers(lease), active_seconds=60)
    answer = stranger.get(frame_of(claims(second)))
    assert (answer.status_code, "1 of the 4 pairs" in answer.text) == (409, True)
    assert "control" not in answer.text


def test_a_control_met_in_a_submission_that_could_not_be_refused_judges_nothing(stranger, with_one_control):
    """Two HITs were open on the platform at once: the second answer to their control is not stored, and the work waits
    for a person."""
    for act in (enter, save):
        for posting in with_one_control:
            act(stranger, posting, assignment=f"OF{posting.hit.number}")
    for claim in Assignment.objects.order_by("pk"):
        confirm(claim)
        assert take_in(claim.pk)
        settle(claim)
    assert Judgment.objects.filter(item__control__polarity="positive").count() == 1
    second = Assignment.objects.get(outside_key="OF2")
    assert (second.state, second.judgments.count()) == ("flagged", 3)


@pytest.mark.service
def test_a_claim_that_is_being_taken_in_is_not_purged(transactional_db, client):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    posting = post_hit(make_round().hits.get())
    save(client, posting)
    Posting.objects.update(settled_at=timezone.now())
    key = Assignment.objects.get().pk

    def confirm_and_take_in() -> bool:
        with transaction.atomic():
            claim = Assignment.objects.select_for_update().filter(pk=key).first()
            if claim is None:
                return False
            confirm(claim)
            return take_in(key)

    taken, purged = at_once(confirm_and_take_in, purge_claims)
    kept = Assignment.objects.filter(pk=key, state__in=Assignment.SUBMITTED).exists()
    assert (taken, purged, kept) in ((True, 0, True), (False, 1, False))
