"""A round on Prolific's emulator, from the first participant to the last payment, and at its edges."""

from contextlib import suppress
from copy import copy
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Assignment, Judgment, Payment, WorkerIdentity
from annotation.money.budget import set_ceiling
from annotation.money.ledger import balances
from annotation.money.wages import pay_shortfall
from annotation.review.decisions import decide
from crowd.calls.outbox import deliver_due
from crowd.channels.prolific.client import Client
from crowd.differences import find_differences, repair
from crowd.endings import SETTLED
from crowd.messages import write_to
from crowd.models import Message, Outbox, Posting
from crowd.posting.publication import close_round
from crowd.sync import rounds_to_sync
from tests.crowd.fakes import robin
from tests.crowd.platform import sync
from tests.crowd.prolific_rehearsal import Rehearsal, check_books, code_in, published, rest


def check(made, there: Rehearsal) -> None:
    """Hold our books and the emulator's against each other once nothing is on its way."""
    check_books(made, there)
    assert not Outbox.objects.exclude(state="done").exists()
    assert [str(one) for one in find_differences(made)] == []


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


def test_who_refuses_to_consent_is_asked_to_return_and_nothing_of_them_is_kept(rehearsal, commit):
    made = published(commit=commit)
    submission, person = rehearsal.reserve()
    page = rehearsal.come(rehearsal.start(submission, person), person, "no")
    rehearsal.complete(submission, person, code_in(page.text))
    with rehearsal.world.looking() as state:
        assert state.submissions[submission].return_requested
    sync(made, commit)
    assert (Assignment.objects.count(), WorkerIdentity.objects.count()) == (0, 0)
    assert [str(one) for one in find_differences(made)] == []
    again = rehearsal.browsers[person].get(page.request["PATH_INFO"])  # as with the browser's button Back
    assert (again.status_code, code_in(again.text)) == (200, code_in(page.text))


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_prolific_refuses_admits_no_visitor_until_it_is_repaired(rehearsal, commit, status, caplog):
    published(hits=1, commit=commit)
    rehearsal.fault(kind="status", status=status, body="json", operation="show_submission", times=1)
    submission, person = rehearsal.reserve()
    address = rehearsal.start(submission, person)
    page = rehearsal.come(address, person)
    assert page.status_code == 503
    assert not Assignment.objects.exists()
    assert f"Prolific answered {status}" in caplog.text
    assert rehearsal.come(address, person).status_code == 303
    assert Assignment.objects.get().state == "leased"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "status", "text"),
    [
        ("literal", 400, "PROLIFIC_PID"),
        ("other participant", 303, ""),
        ("other session", 303, ""),
        ("missing", 400, "SESSION_ID is missing"),
        ("repeated", 303, ""),
    ],
)
def test_addresses_that_prolific_does_not_make_open_no_hit(rehearsal, commit, form, status, text, client):
    from counterpart_emulators.prolific.participant_acts import ADDRESSES

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


def test_undecided_work_is_approved_after_21_days(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        flagged = rehearsal.work(wrong=True)
    sync(made, commit)
    flagged.refresh_from_db()
    assert f"{flagged.visit.auto_approval_at:%Y-%m-%d}" == "2026-12-13"
    rehearsal.later(days=21, minutes=1)
    sync(made, commit)
    assert Payment.objects.get().state == "paid"
    check(made, rehearsal)


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
    with pytest.raises(CommandError, match="safe to ask again"):
        call_command("request_return", str(work.pk), reason="Please return it.")
    call_command("request_return", str(work.pk), reason="Please return it.")
    with rehearsal.world.looking() as state:
        assert state.submissions[work.outside_key].return_requested
        assert len(state.messages) == 1


@pytest.mark.parametrize("status", ["SCREENED OUT", "PARTIALLY APPROVED"])
def test_what_prolific_settles_in_its_own_way_is_never_approved_and_waits_for_a_person(rehearsal, commit, status):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        work = rehearsal.work()
    with rehearsal.world.looking() as state:
        state.submissions[work.outside_key].status = status
    sync(made, commit)
    work.refresh_from_db()
    assert (work.state, work.visit.state, work.problem) == ("flagged", "settled", SETTLED)
    assert not Payment.objects.filter(state__in=("owed", "paid")).exists()
    with commit(execute=True):
        decide(work, votes_count=True, paid=True, reason="It was paid there.", by=robin())
    sync(made, commit)
    assert not Outbox.objects.exclude(state="done").exists()
    assert balances(made)["held"] == 0


def test_a_ceiling_without_a_place_to_spare_takes_right_answers(rehearsal, commit):
    made = published(hits=2, commit=commit)
    with commit(execute=True):
        set_ceiling(made, "5.60", actor="robin")
        rehearsal.work()
    assert Assignment.objects.get().state == "accepted"  # before Prolific lists the session
    sync(made, commit)
    assert (Payment.objects.get().state, sum(balances(made).values())) == ("paid", 0)


def test_an_audit_reports_a_second_study_of_one_call_and_stops_none(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with rehearsal.world.looking() as state:
        (study,) = state.studies.values()
        twin = copy(study)
        twin.id = "a" * 24
        state.studies[twin.id] = twin
    close_round(made, actor="robin")  # its call waits
    found = find_differences(made)
    assert [(one.subject, one.remedy) for one in found] == [(f"posting {twin.id}", "close it")]
    assert {one.status for one in rehearsal.studies()} == {"ACTIVE"}
    repair(made, found, actor="robin")
    assert sorted(one.status for one in rehearsal.studies()) == ["ACTIVE", "COMPLETED"]


def test_a_closed_round_waits_for_a_submission_that_prolific_is_processing(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        rehearsal.work()
    with rehearsal.world.looking() as state:
        (one,) = state.submissions.values()
        one.status = "PROCESSING"
    with commit(execute=True):
        close_round(made, actor="robin")
    sync(made, commit)
    sync(made, commit)
    assert rounds_to_sync() == [made]
    with rehearsal.world.looking():
        one.status = "AWAITING REVIEW"
    sync(made, commit)
    assert Payment.objects.get().state == "paid"


def test_a_message_whose_process_was_stopped_is_not_sent_again(rehearsal, commit, monkeypatch):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        work = rehearsal.work()
    sync(made, commit)
    post = Client.post

    def killed(self, path, body=None):
        post(self, path, body)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(Client, "post", killed)
        with commit(execute=True):
            write_to([work.worker], subject="Thanks", text="Well done.", by="robin")
    Outbox.objects.update(due_at=timezone.now())
    deliver_due()
    with rehearsal.world.looking() as state:
        assert len(state.messages) == 1
    assert "unknown whether it arrived" in Message.objects.get().failure
    assert not Outbox.objects.exclude(state="done").exists()


def test_a_top_up_is_paid_once_to_each_worker_who_was_paid_for_a_hit_and_to_no_other(rehearsal, commit):
    made = published(hits=6, commit=commit)
    with commit(execute=True):
        submission, person, sheet = rehearsal.open()
        rehearsal.answer(submission, person, sheet)
    rehearsal.later(hours=2)
    sync(made, commit)
    with commit(execute=True):
        decide(Assignment.objects.get(), votes_count=True, paid=True, reason="All is there.", by=robin())
    for _ in range(5):
        with commit(execute=True):
            rehearsal.work()
    with rehearsal.world.looking() as state:
        (study,) = state.studies.values()
        study.terms["total_available_places"] += 1
    submission, person = rehearsal.reserve()
    rehearsal.complete(submission, person, code_in(rehearsal.come(rehearsal.start(submission, person), person).text))
    sync(made, commit)
    Assignment.objects.update(active_seconds=600)
    with commit(execute=True):
        assert pay_shortfall(made, actor="robin").assignments == 6
    assert not Payment.objects.filter(assignment__has_hit=False, kind="bonus").exists()
    rest(made, rehearsal, commit)
    assert sorted(rehearsal.bonuses()) == [Decimal("0.50")] * 6 + [Decimal("2.00")]  # and what the first is paid by
    assert not Payment.objects.filter(state="owed").exists()
    check_books(made, rehearsal)
