"""A round on Prolific's emulator, from the draft of its study to the last payment."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.decisions import decide, reject
from annotation.ledger import balances
from annotation.models import Assignment, Judgment, Payment
from annotation.payments import owe_bonus
from annotation.workers import exclude as exclude_worker
from crowd.differences import find_differences
from crowd.funds import ask_funds
from crowd.messages import write_to
from crowd.models import Outbox, Posting
from crowd.publication import close_round
from crowd.sessions import SETTLED
from tests.crowd.prolific_rehearsal import Rehearsal, code_in, published, rehearsal, sync
from tests.factories import make_round

__all__ = ["rehearsal"]


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    return django_capture_on_commit_callbacks


def robin() -> User:
    return User.objects.get_or_create(username="robin")[0]


def check(made, there: Rehearsal) -> None:
    """Hold our books and the emulator's against each other once nothing is on its way."""
    books = balances(made)
    assert sum(books.values()) == 0
    assert books["paid"] + books["fees"] + books["held"] == there.spent()
    assert not Outbox.objects.exclude(state="done").exists()
    assert [str(one) for one in find_differences(made)] == []


def test_a_round_becomes_one_published_study(rehearsal, commit):
    made = published(hits=3, replication=2, commit=commit)
    study, posting = rehearsal.study(), Posting.objects.get()
    assert (posting.external_id, posting.max_assignments, posting.state) == (study.id, 6, "live")
    assert (study.status, study.terms["reward"], study.terms["estimated_completion_time"]) == ("ACTIVE", 200, 8)
    assert study.terms["maximum_allowed_time"] == 60
    assert study.terms["submissions_config"]["max_submissions_per_participant"] == 3
    codes = study.terms["completion_codes"]
    assert [code["code_type"] for code in codes] == ["COMPLETED", "OTHER", "NO_CONSENT"]
    assert {action["action"] for code in codes for action in code["actions"]} == {"MANUALLY_REVIEW", "REQUEST_RETURN"}
    assert len({code["code"] for code in codes}) == 3
    assert not any(code["code"].lower() in study.id for code in codes)
    check(made, rehearsal)


def test_the_fees_are_those_of_prolifics_calculator(rehearsal, commit):
    made = published(hits=3, commit=commit)
    assert made.seat_cost == Decimal("2.80")  # 2.00, 33.3% of it, and 20% tax on that, rounded
    assert ask_funds("prolific", "emulator").amount == Decimal("10000") - 3 * made.seat_cost


def test_work_is_stored_at_once_and_paid_once_prolific_lists_it(rehearsal, commit):
    made = published(hits=2, commit=commit)
    with commit(execute=True):
        rehearsal.work()
    assert (Judgment.objects.count(), Payment.objects.get().state) == (4, "owed")
    sync(made, commit)
    assert (Payment.objects.get().state, rehearsal.statuses()) == ("paid", ["APPROVED"])
    with commit(execute=True):
        rehearsal.work()
    sync(made, commit)
    sync(made, commit)
    with commit(execute=True):
        close_round(made, actor="robin")
    made.refresh_from_db()
    sync(made, commit)
    assert Posting.objects.get().settled_at
    check(made, rehearsal)


def test_who_refuses_to_consent_is_asked_to_return(rehearsal, commit):
    published(commit=commit)
    submission, person = rehearsal.reserve()
    page = rehearsal.come(rehearsal.start(submission, person), person, "no")
    rehearsal.complete(submission, person, code_in(page.text))
    with rehearsal.world.looking() as state:
        assert state.submissions[submission].return_requested
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("end", ["return", "time out", "reservation"])
def test_a_session_that_ends_gives_its_hit_to_the_next_visitor(rehearsal, commit, end):
    made = published(hits=1, commit=commit)
    if end == "reservation":
        submission, person = rehearsal.reserve()
        rehearsal.later(minutes=11)
    else:
        submission, person, _ = rehearsal.open()
        rehearsal.give_back(submission, person) if end == "return" else rehearsal.later(hours=2)
    sync(made, commit)
    with commit(execute=True):
        rehearsal.work()
    sync(made, commit)
    sync(made, commit)
    assert Payment.objects.get().state == "paid"
    assert rehearsal.study().places == 1
    check(made, rehearsal)


def test_who_runs_out_of_time_after_answering_is_paid_by_a_bonus(rehearsal, commit):
    made = published(hits=2, commit=commit)
    with commit(execute=True):
        submission, person, sheet = rehearsal.open()
        rehearsal.answer(submission, person, sheet)
    rehearsal.later(hours=2)
    sync(made, commit)
    late = Assignment.objects.get()
    assert late.state == "flagged"
    with commit(execute=True):
        decide(late, votes_count=True, paid=True, reason="All answers are in.", by=robin())
    sync(made, commit)
    rehearsal.later(minutes=2)
    sync(made, commit)
    assert (rehearsal.bonuses(), Payment.objects.get(state="paid").kind) == ([Decimal("2.00")], "bonus")
    assert Assignment.objects.get().state == "accepted"


def test_a_finished_person_without_a_code_is_paid(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        submission, person, sheet = rehearsal.open()
        rehearsal.answer(submission, person, sheet)
    rehearsal.complete(submission, person, "NOCODE")
    sync(made, commit)
    assert (rehearsal.status(submission), Payment.objects.get().state) == ("APPROVED", "paid")
    check(made, rehearsal)


def test_two_tabs_and_a_second_device_are_one_assignment(rehearsal, commit):
    made = published(hits=1, commit=commit)
    submission, person, sheet = rehearsal.open()
    address = rehearsal.start(submission, person)
    rehearsal.browsers.clear()
    other = rehearsal.come(address, person)
    with commit(execute=True):
        rehearsal.answer(submission, person, sheet)
        code = code_in(rehearsal.browser(person).get(other.url).text)
    rehearsal.complete(submission, person, code)
    sync(made, commit)
    assert (Assignment.objects.count(), Payment.objects.count()) == (1, 1)
    check(made, rehearsal)


@pytest.mark.parametrize(
    ("form", "status", "text"),
    [
        ("literal", 400, "not set up correctly"),
        ("other participant", 303, ""),
        ("other session", 303, ""),
        ("missing", 400, "SESSION_ID is missing"),
        ("repeated", 303, ""),
    ],
)
def test_addresses_that_prolific_does_not_make_open_no_hit(rehearsal, commit, form, status, text, client):
    from emulators.prolific.participant_acts import ADDRESSES

    published(commit=commit)
    submission, person = rehearsal.reserve()
    rehearsal.start(submission, person)
    with rehearsal.world.looking() as state:
        url = ADDRESSES[form](state.submissions[submission])
    address = url[url.index("/judge") :]
    assert client.get(address).status_code == status
    assert text in client.get(address).text
    if status == 303 and form != "repeated":
        assert rehearsal.come(address, person).status_code == 403
        assert not Assignment.objects.exists()


def test_failed_controls_are_excluded_paid_and_cost_one_more_place(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        flagged = rehearsal.work(wrong=True)
    sync(made, commit)
    flagged.refresh_from_db()
    assert flagged.state == "flagged"
    with commit(execute=True):
        decide(flagged, votes_count=False, paid=True, reason="The controls failed.", by=robin())
    sync(made, commit)
    assert (rehearsal.study().places, rehearsal.study().status) == (2, "ACTIVE")
    with commit(execute=True):
        rehearsal.work()
    sync(made, commit)
    sync(made, commit)
    assert rehearsal.statuses() == ["APPROVED", "APPROVED"]
    check(made, rehearsal)


def test_a_rejection_has_a_category_and_frees_its_place(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        flagged = rehearsal.work(wrong=True)
    sync(made, commit)
    with commit(execute=True):
        reject(flagged, grounds="random", reason="All answers are the same. " * 5, evidence="Ones.", by=robin())
    sync(made, commit)
    with rehearsal.world.looking() as state:
        assert state.submissions[flagged.external_id].status == "REJECTED"
    assert rehearsal.study().places == 1
    with commit(execute=True):
        rehearsal.work()
    sync(made, commit)
    sync(made, commit)
    check(made, rehearsal)


def test_work_that_nobody_decides_is_approved_after_21_days(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        flagged = rehearsal.work(wrong=True)
    sync(made, commit)
    flagged.refresh_from_db()
    assert f"{flagged.auto_approval_at:%Y-%m-%d}" == "2026-12-13"
    rehearsal.later(days=21, minutes=1)
    sync(made, commit)
    assert Payment.objects.get().state == "paid"
    check(made, rehearsal)


def test_a_bonus_is_paid_once_and_listed(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        work = rehearsal.work()
    sync(made, commit)
    with commit(execute=True):
        owe_bonus(work, amount=Decimal("0.50"), reason="Thank you.", actor="robin")
    sync(made, commit)
    rehearsal.later(minutes=2)
    sync(made, commit)
    assert rehearsal.bonuses() == [Decimal("0.50")]
    assert set(Payment.objects.values_list("state", flat=True)) == {"paid"}
    check(made, rehearsal)


def test_an_excluded_participant_sees_no_study(rehearsal, commit):
    made = published(hits=3, commit=commit)
    with commit(execute=True):
        rehearsal.work()
    sync(made, commit)
    work = Assignment.objects.get()
    person = work.worker.identities.get().external_id
    with commit(execute=True):
        exclude_worker(work.worker, reason="Test.", by="robin")
    sync(made, commit)
    with pytest.raises(Exception, match="not eligible"):
        rehearsal.reserve(person)


def test_a_message_reaches_a_participant_once(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        work = rehearsal.work()
    sync(made, commit)
    rehearsal.fault(kind="drop", operation="send_messages", nth=1)
    with commit(execute=True):
        (message,) = write_to([work.worker], subject="Thanks", text="Well done.", by="robin")
    sync(made, commit)
    message.refresh_from_db()
    assert "unknown whether it arrived" in message.failure
    with rehearsal.world.looking() as state:
        assert len(state.messages) == 1


def test_a_worker_is_asked_once_to_return_work(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        work = rehearsal.work(wrong=True)
    sync(made, commit)
    rehearsal.fault(kind="drop", operation="request_return", nth=1)
    with pytest.raises(CommandError, match="If you ask again"):
        call_command("request_return", str(work.pk), reason="Please return it.")
    call_command("request_return", str(work.pk), reason="Please return it.")
    with rehearsal.world.looking() as state:
        assert state.submissions[work.external_id].return_requested
        assert len(state.messages) == 1


def test_paid_work_cannot_be_returned(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        work = rehearsal.work()
    sync(made, commit)
    with pytest.raises(CommandError, match="is approved on the platform"):
        call_command("request_return", str(work.pk), reason="Please return it.")


def test_a_closed_round_stops_its_study(rehearsal, commit):
    made = published(hits=2, commit=commit)
    submission, person, sheet = rehearsal.open()
    with commit(execute=True):
        close_round(made, actor="robin")
    sync(made, commit)
    assert rehearsal.study().stopped
    with commit(execute=True):
        rehearsal.complete(submission, person, rehearsal.answer(submission, person, sheet))
    sync(made, commit)
    sync(made, commit)
    assert Posting.objects.get().settled_at
    assert Payment.objects.get().state == "paid"
    check(made, rehearsal)


def test_a_round_without_a_stated_time_is_not_published(rehearsal):
    made = make_round(hits=2, published=False, reward="2.00")
    with pytest.raises(CommandError, match="--expected-minutes"):
        call_command("publish", made.name, channel="prolific", environment="emulator")
    assert rehearsal.studies() == []


def test_a_reward_below_prolifics_floor_is_not_published(rehearsal):
    made = make_round(hits=2, published=False, reward="1.00")
    type(made).objects.update(wage_floor=0)
    with pytest.raises(CommandError, match=r"floor is \$8.00 an hour: \$1.33 for 10 minutes"):
        call_command("publish", made.name, channel="prolific", environment="emulator", expected_minutes=Decimal(10))
    assert rehearsal.studies() == []


def test_a_cost_above_the_ceiling_is_not_published(rehearsal):
    made = make_round(hits=3, published=False, reward="2.00")
    type(made).objects.update(ceiling="8.39")
    with pytest.raises(CommandError, match=r"would cost \$(9.09|8.40)"):
        call_command("publish", made.name, channel="prolific", environment="emulator", expected_minutes=Decimal(8))
    assert rehearsal.studies() == []


@pytest.mark.parametrize("status", ["SCREENED OUT", "PARTIALLY APPROVED"])
def test_what_prolific_settles_in_its_own_way_is_never_approved_and_waits_for_a_person(rehearsal, commit, status):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        work = rehearsal.work()
    with rehearsal.world.looking() as state:
        state.submissions[work.external_id].status = status
    sync(made, commit)
    work.refresh_from_db()
    assert (work.state, work.platform_state, work.problem) == ("flagged", "settled", SETTLED)
    assert not Payment.objects.filter(state__in=("owed", "paid")).exists()
    with commit(execute=True):
        decide(work, votes_count=True, paid=True, reason="It was paid there.", by=robin())
    sync(made, commit)
    assert not Outbox.objects.exclude(state="done").exists()
    assert balances(made)["held"] == 0


@pytest.mark.parametrize(("asked", "given"), [(0, 3), (2, 2), (9, 3)])
def test_a_participant_may_take_the_study_as_often_as_was_asked_but_for_no_more_hits_than_there_are(
    rehearsal, commit, asked, given
):
    made = make_round(hits=3, published=False, reward="2.00")
    with commit(execute=True):
        call_command("publish", made.name, channel="prolific", expected_minutes=Decimal(8), max_sessions=asked)
    assert rehearsal.study().terms["submissions_config"]["max_submissions_per_participant"] == given


@pytest.mark.parametrize(
    ("channel", "sessions"), [("mturk", 2), ("browser", 2), ("prolific", -1), ("prolific", 10_001)]
)
def test_a_number_of_sessions_that_a_channel_cannot_ask_for_publishes_nothing(db, channel, sessions):
    made = make_round(hits=3, published=False, reward="2.00")
    with pytest.raises(CommandError, match="max_sessions"):
        call_command("publish", made.name, channel=channel, expected_minutes=Decimal(8), max_sessions=sessions)
    made.refresh_from_db()
    assert made.state == "draft"
