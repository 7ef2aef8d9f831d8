"""A round on Prolific's emulator at its edges: a tight ceiling, a second study, a process that stops, late landings."""

from contextlib import suppress
from copy import copy
from decimal import Decimal

from django.utils import timezone

from annotation.models import Assignment, Payment
from annotation.money.budget import set_ceiling
from annotation.money.ledger import balances
from annotation.money.wages import pay_shortfall
from annotation.review.decisions import decide
from crowd.calls.outbox import deliver_due
from crowd.channels.prolific.client import Client
from crowd.differences import find_differences, repair
from crowd.messages import write_to
from crowd.models import Message, Outbox
from crowd.posting.publication import close_round
from crowd.sync import rounds_to_sync
from tests.crowd.fakes import robin
from tests.crowd.platform import sync
from tests.crowd.prolific_rehearsal import check_books, code_in, published, rest


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
