"""Whatever the two sides see differently is named, and repaired where a program may."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.conf import settings
from django.test import TestCase

from annotation.models import Assignment, Payment
from annotation.money.ledger import balances
from annotation.money.payments import mark_paid, owe_bonus
from core.errors import CounterpartError
from core.models import Event
from crowd.calls.outbox import take_wanted
from crowd.differences import SETTLING, Kind, find_differences, repair
from crowd.models import Outbox, Posting, Visit
from crowd.posting.publication import close_round
from crowd.sync import rounds_to_sync, sync_round
from hits.models import Round
from tests.commands import figures_printed
from tests.crowd.platform import Rehearsal, published, rehearsing, sync, taken_back_there


@pytest.fixture(scope="module")
def paid_once(lasting) -> Iterator[Rehearsal]:
    """A round of two HITs, one of which is answered, accepted and paid."""
    commit = TestCase.captureOnCommitCallbacks
    with rehearsing(settings) as there:
        made = published(hits=2, commit=commit)
        there.work(there.hits()[0], there.worker())
        sync(made, commit), sync(made, commit)
        yield there


@pytest.fixture
def rehearsal(db, paid_once) -> Iterator[Rehearsal]:
    with taken_back_there(paid_once.emulator):
        yield paid_once


@pytest.fixture
def one_paid(rehearsal) -> Round:
    return Round.objects.get()


def kinds(made):
    return [difference.kind for difference in find_differences(made)]


def repaired(made, commit):
    """Mend everything, and return what is still different."""
    with commit(execute=True):
        repair(made, find_differences(made), actor="robin")
    return kinds(made)


def test_a_submission_that_only_the_platform_has_is_collected(one_paid, rehearsal, commit):
    rehearsal.work(rehearsal.hits()[1], rehearsal.worker())
    assert kinds(one_paid) == [Kind.ONLY_THERE]
    assert repaired(one_paid, commit) == []
    assert Visit.objects.filter(state="submitted").exists()


def test_a_hit_that_was_posted_and_forgotten_is_found_again(one_paid, rehearsal, commit):
    forgotten = Posting.objects.get(external_id=rehearsal.hits()[1])
    Posting.objects.filter(pk=forgotten.pk).update(state="planned", external_id="", posted_assignments=0)
    Outbox.objects.filter(subject=f"crowd.posting:{forgotten.pk}").update(state="failed")
    assert Kind.ONLY_THERE in kinds(one_paid)
    assert repaired(one_paid, commit) == []
    assert Posting.objects.get(pk=forgotten.pk).external_id == forgotten.external_id


def test_a_hit_that_was_not_posted_from_here_is_closed(one_paid, rehearsal, commit):
    stranger = dict(HITTypeId=Posting.objects.first().terms_id, LifetimeInSeconds=3600, MaxAssignments=1)
    question = rehearsal.world.call("ListHITs", {})["HITs"][0]["Question"]
    made_there = rehearsal.world.call("CreateHITWithHITType", {**stranger, "Question": question})["HIT"]["HITId"]
    assert kinds(one_paid) == [Kind.ONLY_THERE]
    found = find_differences(one_paid)
    for _ in range(2):  # as after a crash before the call was recorded
        assert repair(one_paid, found, actor="robin") == 1
    assert rehearsal.world.call("GetHIT", {"HITId": made_there})["HIT"]["HITStatus"] == "Reviewable"
    assert Event.objects.filter(verb="repaired", actor="robin").count() == 2


def test_the_hits_of_another_round_with_the_same_terms_are_left_alone(one_paid, rehearsal, commit):
    other = published(hits=2, name="round-2", collection=one_paid.pool.collection, commit=commit)
    assert len({posting.terms_id for posting in Posting.objects.all()}) == 1
    assert (kinds(one_paid), kinds(other)) == ([], [])


def test_a_hit_that_another_round_has_posted_without_hearing_of_it_is_that_rounds_own(one_paid, commit):
    other = published(hits=1, name="round-2", collection=one_paid.pool.collection, commit=commit)
    Posting.objects.filter(hit__round=other).update(state="planned", external_id="", posted_assignments=0)
    Outbox.objects.filter(round=other).update(state="failed")
    assert kinds(one_paid) == []
    assert Kind.ONLY_THERE in kinds(other)


def test_a_hit_that_is_gone_there_is_recorded_and_posted_again(one_paid, rehearsal, commit):
    gone = rehearsal.hits()[1]
    rehearsal.world.call(
        "UpdateExpirationForHIT", {"HITId": gone, "ExpireAt": rehearsal.world.clock.now().replace(year=2015)}
    )
    rehearsal.world.call("DeleteHIT", {"HITId": gone})
    assert kinds(one_paid) == [Kind.ONLY_HERE]
    assert repaired(one_paid, commit) == []
    assert balances(one_paid)["held"] == 0
    with commit(execute=True):
        sync_round(one_paid)
    again = Posting.objects.get(state="live")
    assert (again.hit.number, again.external_id != gone) == (2, True)


def test_a_closed_round_that_the_platform_has_forgotten_comes_to_rest(one_paid, commit, settings):
    close_round(one_paid, actor="robin")
    settings.SYNC_LAG_SECONDS = 3600
    with rehearsing(settings), commit(execute=True):
        sync_round(one_paid)
        assert kinds(one_paid) == [Kind.ONLY_HERE]
        assert repaired(one_paid, commit) == []
    assert balances(one_paid)["held"] == 0
    assert one_paid not in rounds_to_sync()


def test_pay_that_the_platform_gave_by_itself_is_noted(one_paid, commit):
    Payment.objects.update(state="owed", paid_at=None)
    assert kinds(one_paid) == [Kind.OTHER_STATUS]
    assert repaired(one_paid, commit) == []
    assert Payment.objects.get().state == "paid"


def test_pay_that_never_left_is_sent(one_paid, rehearsal, commit):
    rehearsal.fault(kind="throttle", operation="ApproveAssignment")
    rehearsal.work(rehearsal.hits()[1], rehearsal.worker())
    sync(one_paid, commit)
    mark_paid(Payment.objects.get(state="owed"), actor="a mistake")
    Outbox.objects.update(state="done")
    rehearsal.emulator.plan.clear_all()
    assert kinds(one_paid) == [Kind.OTHER_STATUS]
    assert repaired(one_paid, commit) == []
    assert rehearsal.available() == "9998.44"


def test_a_bonus_that_only_the_platform_knows_is_for_a_person(one_paid, rehearsal, commit):
    there = Assignment.objects.get()
    bonus = {
        "AssignmentId": there.outside_key,
        "WorkerId": rehearsal.workers[0],
        "BonusAmount": "0.50",
        "Reason": "By hand.",
    }
    rehearsal.world.call("SendBonus", bonus)
    (difference,) = find_differences(one_paid)
    assert (difference.kind, difference.there, difference.repair) == (Kind.ONLY_THERE, "$0.50", None)
    assert repaired(one_paid, commit) == [Kind.ONLY_THERE]


@pytest.mark.parametrize("state", ["pending", "sending"])
def test_pay_whose_call_is_under_way_is_still_being_settled(one_paid, rehearsal, state):
    there = Assignment.objects.get()
    bonus = owe_bonus(there, amount=Decimal("0.50"), reason="Careful work.", actor="robin")
    given = {"AssignmentId": there.outside_key, "WorkerId": rehearsal.workers[0], "BonusAmount": "0.50"}
    rehearsal.world.call("SendBonus", given | {"Reason": bonus.reason})
    take_wanted()
    Outbox.objects.filter(subject=f"annotation.payment:{bonus.pk}").update(state=state)
    (difference,) = find_differences(one_paid)
    assert (difference.remedy, difference.repair) == (SETTLING, None)
    Outbox.objects.filter(subject=f"annotation.payment:{bonus.pk}").update(state="failed")
    (difference,) = find_differences(one_paid)
    assert "cannot be taken back" in difference.remedy


def test_fewer_answer_sets_there_than_here_are_asked_for(one_paid, commit):
    Posting.objects.filter(hit__number=2).update(max_assignments=2)
    assert kinds(one_paid) == [Kind.OTHER_AMOUNT]
    assert repaired(one_paid, commit) == []


def test_more_answer_sets_there_than_here_are_for_a_person(one_paid):
    Posting.objects.filter(hit__number=2).update(max_assignments=0)
    (difference,) = find_differences(one_paid)
    assert (difference.kind, difference.repair) == (Kind.OTHER_AMOUNT, None)
    assert "check it" in difference.remedy


def test_a_platform_that_does_not_answer_is_not_taken_for_an_empty_one(one_paid, rehearsal):
    rehearsal.fault(kind="reset", operation="ListHITs")
    with pytest.raises(CounterpartError, match="could not be read"):
        find_differences(one_paid)


def test_a_round_in_the_house_has_nothing_to_be_held_against(one_paid):
    one_paid.channel = "browser"
    with pytest.raises(CounterpartError, match="is on no platform"):
        find_differences(one_paid)


def test_the_command_changes_nothing_without_repair(one_paid, commit):
    Payment.objects.update(state="owed", paid_at=None)
    looked = figures_printed("audit", one_paid.name)
    assert (looked["differences"], Payment.objects.get().state) == (1, "owed")
    assert figures_printed("audit", one_paid.name, repair=True)["mended"] == 1
    assert Assignment.objects.get().state == "accepted"
