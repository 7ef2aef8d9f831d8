"""Whatever the two sides see differently is named, and repaired where a program may."""

from decimal import Decimal

import pytest

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
from tests.commands import figures_printed
from tests.crowd.platform import published, rehearsing, sync

PLATFORM = rehearsing


def begin(there, commit) -> None:
    """Have a round of two HITs, one of which is answered, accepted and paid."""
    made = published(hits=2, commit=commit)
    there.work(there.hits()[0], there.worker())
    sync(made, commit), sync(made, commit)


def kinds(made):
    return [difference.kind for difference in find_differences(made)]


def repaired(made, commit):
    """Mend everything, and return what is still different."""
    with commit(execute=True):
        repair(made, find_differences(made), actor="robin")
    return kinds(made)


def test_a_submission_that_only_the_platform_has_is_collected(begun_round, resumed, commit):
    resumed.work(resumed.hits()[1], resumed.worker())
    assert kinds(begun_round) == [Kind.ONLY_THERE]
    assert repaired(begun_round, commit) == []
    assert Visit.objects.filter(state="submitted").exists()


def test_a_hit_that_was_posted_and_forgotten_is_found_again(begun_round, resumed, commit):
    forgotten = Posting.objects.get(external_id=resumed.hits()[1])
    Posting.objects.filter(pk=forgotten.pk).update(state="planned", external_id="", posted_assignments=0)
    Outbox.objects.filter(subject=f"crowd.posting:{forgotten.pk}").update(state="failed")
    assert Kind.ONLY_THERE in kinds(begun_round)
    assert repaired(begun_round, commit) == []
    assert Posting.objects.get(pk=forgotten.pk).external_id == forgotten.external_id


def test_a_hit_that_was_not_posted_from_here_is_closed(begun_round, resumed, commit):
    stranger = dict(HITTypeId=Posting.objects.first().terms_id, LifetimeInSeconds=3600, MaxAssignments=1)
    question = resumed.world.call("ListHITs", {})["HITs"][0]["Question"]
    made_there = resumed.world.call("CreateHITWithHITType", {**stranger, "Question": question})["HIT"]["HITId"]
    assert kinds(begun_round) == [Kind.ONLY_THERE]
    found = find_differences(begun_round)
    for _ in range(2):  # as after a crash before the call was recorded
        assert repair(begun_round, found, actor="robin") == 1
    assert resumed.world.call("GetHIT", {"HITId": made_there})["HIT"]["HITStatus"] == "Reviewable"
    assert Event.objects.filter(verb="repaired", actor="robin").count() == 2


def test_the_hits_of_another_round_with_the_same_terms_are_its_own_also_where_it_has_not_heard_of_them(
    begun_round, resumed, commit
):
    other = published(hits=2, name="round-2", collection=begun_round.pool.collection, commit=commit)
    assert len({posting.terms_id for posting in Posting.objects.all()}) == 1
    assert (kinds(begun_round), kinds(other)) == ([], [])
    Posting.objects.filter(hit__round=other).update(state="planned", external_id="", posted_assignments=0)
    Outbox.objects.filter(round=other).update(state="failed")
    assert kinds(begun_round) == []
    assert Kind.ONLY_THERE in kinds(other)


def test_a_hit_that_is_gone_there_is_recorded_and_posted_again(begun_round, resumed, commit):
    gone = resumed.hits()[1]
    resumed.world.call(
        "UpdateExpirationForHIT", {"HITId": gone, "ExpireAt": resumed.world.clock.now().replace(year=2015)}
    )
    resumed.world.call("DeleteHIT", {"HITId": gone})
    assert kinds(begun_round) == [Kind.ONLY_HERE]
    assert repaired(begun_round, commit) == []
    assert balances(begun_round)["held"] == 0
    with commit(execute=True):
        sync_round(begun_round)
    again = Posting.objects.get(state="live")
    assert (again.hit.number, again.external_id != gone) == (2, True)


def test_a_closed_round_that_the_platform_has_forgotten_comes_to_rest(begun_round, commit, settings):
    close_round(begun_round, actor="robin")
    settings.SYNC_LAG_SECONDS = 3600
    with rehearsing(settings), commit(execute=True):
        sync_round(begun_round)
        assert kinds(begun_round) == [Kind.ONLY_HERE]
        assert repaired(begun_round, commit) == []
    assert balances(begun_round)["held"] == 0
    assert begun_round not in rounds_to_sync()


def test_pay_that_the_platform_gave_by_itself_is_noted(begun_round, commit):
    Payment.objects.update(state="owed", paid_at=None)
    assert kinds(begun_round) == [Kind.OTHER_STATUS]
    assert repaired(begun_round, commit) == []
    assert Payment.objects.get().state == "paid"


def test_pay_that_never_left_is_sent(begun_round, resumed, commit):
    resumed.fault(kind="throttle", operation="ApproveAssignment")
    resumed.work(resumed.hits()[1], resumed.worker())
    sync(begun_round, commit)
    mark_paid(Payment.objects.get(state="owed"), actor="a mistake")
    Outbox.objects.update(state="done")
    resumed.emulator.plan.clear_all()
    assert kinds(begun_round) == [Kind.OTHER_STATUS]
    assert repaired(begun_round, commit) == []
    assert resumed.available() == "9998.44"


def test_a_bonus_that_only_the_platform_knows_is_for_a_person(begun_round, resumed, commit):
    there = Assignment.objects.get()
    bonus = {
        "AssignmentId": there.outside_key,
        "WorkerId": resumed.workers[0],
        "BonusAmount": "0.50",
        "Reason": "By hand.",
    }
    resumed.world.call("SendBonus", bonus)
    (difference,) = find_differences(begun_round)
    assert (difference.kind, difference.there, difference.repair) == (Kind.ONLY_THERE, "$0.50", None)
    assert repaired(begun_round, commit) == [Kind.ONLY_THERE]


@pytest.mark.parametrize("state", ["pending", "sending"])
def test_pay_whose_call_is_under_way_is_still_being_settled(begun_round, resumed, state):
    there = Assignment.objects.get()
    bonus = owe_bonus(there, amount=Decimal("0.50"), reason="Careful work.", actor="robin")
    given = {"AssignmentId": there.outside_key, "WorkerId": resumed.workers[0], "BonusAmount": "0.50"}
    resumed.world.call("SendBonus", given | {"Reason": bonus.reason})
    take_wanted()
    Outbox.objects.filter(subject=f"annotation.payment:{bonus.pk}").update(state=state)
    (difference,) = find_differences(begun_round)
    assert (difference.remedy, difference.repair) == (SETTLING, None)
    Outbox.objects.filter(subject=f"annotation.payment:{bonus.pk}").update(state="failed")
    (difference,) = find_differences(begun_round)
    assert "cannot be taken back" in difference.remedy


def test_fewer_answer_sets_there_than_here_are_asked_for_and_more_are_for_a_person(begun_round, commit):
    Posting.objects.filter(hit__number=2).update(max_assignments=2)
    assert kinds(begun_round) == [Kind.OTHER_AMOUNT]
    assert repaired(begun_round, commit) == []
    Posting.objects.filter(hit__number=2).update(max_assignments=0)
    (difference,) = find_differences(begun_round)
    assert (difference.kind, difference.repair) == (Kind.OTHER_AMOUNT, None)
    assert "check it" in difference.remedy


def test_a_platform_that_does_not_answer_is_not_taken_for_an_empty_one_and_a_round_in_the_house_has_none(
    begun_round, resumed
):
    resumed.fault(kind="reset", operation="ListHITs")
    with pytest.raises(CounterpartError, match="could not be read"):
        find_differences(begun_round)
    begun_round.channel = "browser"
    with pytest.raises(CounterpartError, match="is on no platform"):
        find_differences(begun_round)


def test_the_command_changes_nothing_without_repair(begun_round, commit):
    Payment.objects.update(state="owed", paid_at=None)
    looked = figures_printed("reconcile_books", begun_round.name)
    assert (looked["differences"], Payment.objects.get().state) == (1, "owed")
    assert figures_printed("reconcile_books", begun_round.name, repair=True)["mended"] == 1
    assert Assignment.objects.get().state == "accepted"
