"""Everything that Prolific and a crash can do to a round. After each: one study, every answer stored once, everybody
paid once, and books that agree with Prolific's."""

from collections import Counter
from contextlib import contextmanager, suppress
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from annotation.decisions import decide
from annotation.ledger import balances
from annotation.models import Assignment, Judgment, Payment
from annotation.payments import owe_bonus
from core.errors import CounterpartError
from crowd import single_payments
from crowd.channels.prolific import payments, studies, submissions
from crowd.models import Outbox, Posting
from crowd.outbox import send_failed_again
from crowd.postings import post_open_seats
from crowd.single_payments import settle, unclear_payments
from hits.models import Round, Seat
from tests.crowd.prolific_rehearsal import Rehearsal, published, rehearsal, sync

__all__ = ["rehearsal"]

HITS = 2
WRITES = ["create_study", "move_study", "move_submission", "list_studies", "list_submissions", "show_submission"]
KINDS = [
    {"kind": "drop"},
    {"kind": "reset"},
    {"kind": "throttle", "rate": 0, "burst": 1},
    {"kind": "status", "status": 503, "body": "json"},
    {"kind": "status", "status": 502, "body": "html"},
    {"kind": "status", "status": 500, "body": "message"},
]
# Each kind and each operation once is fast; make test also runs all other combinations.
MATRIX = [
    pytest.param(operation, kind, marks=[] if at == WRITES.index(operation) else [pytest.mark.slow])
    for operation in WRITES
    for at, kind in enumerate(KINDS)
]


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    return django_capture_on_commit_callbacks


def robin() -> User:
    return User.objects.get_or_create(username="robin")[0]


def check(made: Round, there: Rehearsal, *, hits: int = HITS) -> None:
    """Hold our rows, our books and Prolific's against each other, once a round has come to rest."""
    assert [study.status for study in there.studies()].count("UNPUBLISHED") == 0
    assert len(there.studies()) == 1
    assert Posting.objects.get().external_id == there.study().id
    assert there.study().places == hits
    assert sorted(Counter(Judgment.objects.values_list("assignment", flat=True)).values()) == [4] * hits
    assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * hits
    assert there.statuses() == ["APPROVED"] * hits
    books = balances(made)
    assert sum(books.values()) == 0
    assert books["paid"] + books["fees"] + books["held"] == there.spent()
    assert not Outbox.objects.exclude(state="done").exists()


def quiet_sync(made: Round, commit) -> None:
    """Sync, whatever the platform answers."""
    with suppress(CommandError):
        sync(made, commit)


def work_all(there: Rehearsal, commit, *, hits: int = HITS) -> None:
    with commit(execute=True):
        for _ in range(hits):
            there.work()


@pytest.mark.parametrize(("operation", "declared"), MATRIX)
def test_a_call_that_goes_wrong_changes_nothing_in_the_end(rehearsal, commit, operation, declared):
    made = None
    rehearsal.fault(operation=operation, times=2, **declared)
    made = published(hits=HITS, commit=commit)
    for _ in range(3):
        quiet_sync(made, commit)
    work_all(rehearsal, commit)
    for _ in range(4):
        quiet_sync(made, commit)
    check(made, rehearsal)


@pytest.mark.parametrize("kind", [{"kind": "next"}, {"kind": "shift", "by": 1, "times": 1}])
def test_odd_pages_hide_nothing(rehearsal, commit, kind):
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal, commit)
    rehearsal.fault(operation="list_submissions", **kind)
    quiet_sync(made, commit)
    quiet_sync(made, commit)
    check(made, rehearsal)


def test_all_pages_of_a_list_are_read(rehearsal, commit, monkeypatch):
    made = published(hits=5, commit=commit)
    work_all(rehearsal, commit, hits=5)
    monkeypatch.setattr(submissions, "PAGE", 2)
    sync(made, commit)
    check(made, rehearsal, hits=5)


def test_a_full_last_page_that_names_a_next_one_is_the_end(rehearsal, commit, monkeypatch):
    made = published(hits=4, commit=commit)
    work_all(rehearsal, commit, hits=4)
    monkeypatch.setattr(submissions, "PAGE", 2)
    rehearsal.fault(kind="next", operation="list_submissions")
    sync(made, commit)
    assert rehearsal.emulator.plan.as_json()[0]["happened"] > 1
    check(made, rehearsal, hits=4)


@pytest.mark.parametrize("by", [-1, 1])
def test_rows_that_move_between_two_pages_are_read_again(rehearsal, commit, monkeypatch, by):
    made = published(hits=4, commit=commit)
    work_all(rehearsal, commit, hits=4)
    monkeypatch.setattr(submissions, "PAGE", 2)
    rehearsal.fault(kind="shift", by=by, operation="list_submissions", times=2)
    for _ in range(3):
        quiet_sync(made, commit)
    check(made, rehearsal, hits=4)


@pytest.mark.parametrize("kind", [{"kind": "lag", "seconds": 60}, {"kind": "processing"}])
def test_readings_that_lag_behind_only_delay(rehearsal, commit, kind):
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal, commit)
    rehearsal.fault(times=6, **kind)
    for _ in range(8):
        quiet_sync(made, commit)
        rehearsal.later(seconds=61)
    check(made, rehearsal)


def test_a_study_that_takes_long_to_publish_is_waited_for(rehearsal, commit):
    rehearsal.fault(kind="publishing", operation="move_study", seconds=60, times=1)
    made = published(hits=HITS, commit=commit)
    assert Posting.objects.get().state == "planned"
    rehearsal.later(seconds=61)
    sync(made, commit)
    work_all(rehearsal, commit)
    sync(made, commit)
    check(made, rehearsal)


def test_what_waited_for_money_goes_on_when_there_is_some(rehearsal, commit):
    rehearsal.fault(kind="balance", operation="move_study", nth=1, amount="0.50")
    made = published(hits=HITS, commit=commit)
    assert rehearsal.study().status == "UNPUBLISHED"
    rehearsal.world.act("set_balance", available="10000.00")
    sync(made, commit)
    assert (rehearsal.study().status, len(rehearsal.studies())) == ("ACTIVE", 1)


def test_two_writers_of_places_agree_on_the_higher_number(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    Seat.objects.create(round=made, hit=made.hits.first(), number=2)
    rehearsal.fault(kind="crowd", operation="show_study", act="places", nth=1)
    with commit(execute=True):
        assert post_open_seats(made) == 1
    sync(made, commit)
    assert rehearsal.study().places == HITS + 1
    sync(made, commit)
    assert rehearsal.study().places == HITS + 1


def test_a_lost_reply_to_more_places_adds_them_once(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    Seat.objects.create(round=made, hit=made.hits.first(), number=2)
    rehearsal.fault(kind="drop", operation="change_study", times=2)
    for _ in range(3):
        quiet_sync(made, commit)
    assert rehearsal.study().places == Posting.objects.get().posted_assignments == HITS + 1


# Bonuses


@pytest.fixture
def paid(rehearsal, commit):
    """A round of one HIT whose work is paid."""
    made = published(hits=1, commit=commit)
    work_all(rehearsal, commit, hits=1)
    sync(made, commit)
    return made


def give(commit, amount="0.50", reason="Thank you.") -> Payment:
    with commit(execute=True):
        return owe_bonus(Assignment.objects.get(), amount=Decimal(amount), reason=reason, actor="robin")


def rest(made: Round, there: Rehearsal, commit, times: int = 3) -> None:
    """Let time pass until everything is listed."""
    for _ in range(times):
        there.later(minutes=2)
        quiet_sync(made, commit)


@pytest.mark.parametrize("declared", KINDS)
@pytest.mark.parametrize("operation", ["create_bonuses", "pay_bonuses", "show_submission"])
def test_a_bonus_call_that_goes_wrong_never_pays_twice(rehearsal, commit, paid, operation, declared):
    rehearsal.fault(operation=operation, times=1, **declared)
    bonus = give(commit)
    rest(paid, rehearsal, commit, times=10)
    bonus.refresh_from_db()
    assert len(rehearsal.bonuses()) <= 1
    assert (bonus.state == "paid") == (len(rehearsal.bonuses()) == 1)
    if bonus.state != "paid":
        assert [row.subject for row in unclear_payments()] == [f"annotation.payment:{bonus.pk}"]


def unclear(rehearsal, commit, paid) -> Outbox:
    """A bonus whose call was lost before it paid."""
    rehearsal.fault(kind="reset", operation="pay_bonuses", times=1)
    give(commit)
    rest(paid, rehearsal, commit, times=10)
    return Outbox.objects.get(state="failed")


def test_an_unclear_bonus_is_sent_again_by_nobody_but_a_person(rehearsal, commit, paid):
    row = unclear(rehearsal, commit, paid)
    with commit(execute=True):
        send_failed_again(paid, actor="robin")
    call_command("audit", paid.name, repair=True)
    rest(paid, rehearsal, commit, times=10)
    assert rehearsal.bonuses() == []
    row.refresh_from_db()
    with transaction.atomic():
        settle(row, was_paid=False, by="robin")
    rest(paid, rehearsal, commit)
    assert rehearsal.bonuses() == [Decimal("0.50")]
    assert not unclear_payments().exists()
    with pytest.raises(CounterpartError, match="not unclear any more"):
        settle(row, was_paid=False, by="robin")


def test_a_person_may_find_that_an_unclear_bonus_was_paid(rehearsal, commit, paid):
    row = unclear(rehearsal, commit, paid)
    settle(row, was_paid=True, by="robin")
    rest(paid, rehearsal, commit)
    assert (rehearsal.bonuses(), Payment.objects.get(kind="bonus").state) == ([], "paid")


def test_a_bonus_that_is_listed_late_is_waited_for(rehearsal, commit, paid):
    rehearsal.fault(kind="late", operation="pay_bonuses", seconds=300)
    give(commit)
    for _ in range(2):
        sync(paid, commit)
    assert Payment.objects.get(kind="bonus").state == "owed"
    rest(paid, rehearsal, commit, times=4)
    assert Payment.objects.get(kind="bonus").state == "paid"
    assert rehearsal.bonuses() == [Decimal("0.50")]


def test_two_equal_bonuses_of_one_work_are_paid_one_after_the_other(rehearsal, commit, paid):
    give(commit, reason="Once."), give(commit, reason="Twice.")
    rest(paid, rehearsal, commit, times=6)
    assert rehearsal.bonuses() == [Decimal("0.50")] * 2
    assert set(Payment.objects.values_list("state", flat=True)) == {"paid"}


def test_a_bonus_without_funds_waits_for_money(rehearsal, commit, paid):
    rehearsal.world.act("set_balance", available="0.10")
    give(commit)
    rest(paid, rehearsal, commit)
    assert rehearsal.bonuses() == []
    rehearsal.world.act("set_balance", available="10.00")
    rest(paid, rehearsal, commit)
    assert rehearsal.bonuses() == [Decimal("0.50")]


def test_an_audit_never_orders_a_bonus_that_is_not_listed(rehearsal, commit, paid):
    with commit(execute=True):
        payment = give(commit)
    Outbox.objects.filter(subject=f"annotation.payment:{payment.pk}").update(state="done")
    Payment.objects.filter(pk=payment.pk).update(state="paid", paid_at=timezone.now())
    with suppress(CommandError):
        call_command("audit", paid.name, repair=True)
    assert Payment.objects.get(pk=payment.pk).state == "paid"


# Crashes


class Killed(BaseException):
    """The process is gone: nothing may catch this."""


@contextmanager
def killed_after(function, monkeypatch, module):
    """Kill the process right after a call has had its effect at Prolific."""

    def dying(*args, **kwargs):
        function(*args, **kwargs)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(module, function.__name__, dying)
        yield


def revive() -> None:
    """Let the time pass after which a lost call is taken up."""
    Outbox.objects.update(due_at="2026-01-01T00:00Z")


@pytest.mark.parametrize("step", ["prepare", "mark", "pay", "read"])
def test_a_crash_at_any_step_of_a_bonus_never_pays_twice(rehearsal, commit, paid, monkeypatch, step):
    where = {
        "prepare": (payments.prepare, payments),
        "mark": (single_payments._mark_sent, single_payments),
        "pay": (payments.pay, payments),
        "read": (payments.is_paid, payments),
    }[step]
    with killed_after(where[0], monkeypatch, where[1]), suppress(Killed):
        give(commit)
    revive()
    rest(paid, rehearsal, commit, times=10)
    bonus = Payment.objects.get(kind="bonus")
    assert len(rehearsal.bonuses()) == (0 if step == "mark" else 1)
    assert bonus.state == ("owed" if step == "mark" else "paid")


@pytest.mark.parametrize("step", ["_draft", "publish"])
def test_a_crash_while_publishing_leaves_one_study(rehearsal, commit, monkeypatch, step):
    with killed_after(getattr(studies, step), monkeypatch, studies), suppress(Killed):
        published(hits=HITS, commit=commit)
    made = Round.objects.get()
    revive()
    sync(made, commit)
    work_all(rehearsal, commit)
    sync(made, commit)
    check(made, rehearsal)


def test_a_crash_while_approving_pays_once(rehearsal, commit, monkeypatch):
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal, commit)
    with killed_after(submissions.approve, monkeypatch, submissions), suppress(Killed):
        sync(made, commit)
    revive()
    sync(made, commit)
    check(made, rehearsal)


def test_everything_odd_together_pays_everybody_once(rehearsal, commit):
    made = published(hits=4, commit=commit)
    with commit(execute=True):
        rehearsal.work()
        submission, person, sheet = rehearsal.open()
        rehearsal.answer(submission, person, sheet)
        gone, visitor, _ = rehearsal.open()
        rehearsal.give_back(gone, visitor)
        rehearsal.complete(*rehearsal.open()[:2], "NOCODE")
    rehearsal.later(hours=2)
    sync(made, commit)
    for flagged in Assignment.objects.filter(state="flagged"):
        counts = flagged.judgments.exists()
        with commit(execute=True):
            decide(flagged, votes_count=counts, paid=True, reason="Looked at.", by=robin())
    rest(made, rehearsal, commit)
    while Seat.objects.filter(state="open").exists():
        with commit(execute=True):
            rehearsal.work()
        sync(made, commit)
    rest(made, rehearsal, commit)
    assert Judgment.objects.values("assignment").distinct().count() == 4
    assert sum(balances(made).values()) == 0
    assert not Payment.objects.filter(state="owed").exists()
    books = balances(made)
    assert books["paid"] + books["fees"] + books["held"] == rehearsal.spent()


def test_nobody_is_paid_for_a_place_that_becomes_free_after_its_answers_are_in(rehearsal, commit):
    made = published(hits=2, commit=commit)
    with commit(execute=True):
        submission, person, sheet = rehearsal.open()
        rehearsal.answer(submission, person, sheet)
        rehearsal.work()
    rehearsal.later(hours=2)
    sync(made, commit)
    assert rehearsal.study().status == "PAUSED"
    late = Assignment.objects.get(state="flagged")
    with commit(execute=True):
        decide(late, votes_count=False, paid=True, reason="Looked at.", by=robin())
    sync(made, commit)
    sync(made, commit)
    assert rehearsal.study().status == "ACTIVE"
    assert rehearsal.study().places == 2


def test_a_study_that_a_person_pauses_stays_paused(rehearsal, commit):
    made = published(hits=2, commit=commit)
    rehearsal.world.act("move_study", study_id=rehearsal.study().id, action="PAUSE", publish_at=None)
    sync(made, commit)
    assert rehearsal.study().status == "PAUSED"


KINDS_OF_PEOPLE = ["honest"] * 5 + ["careless", "returns", "late", "no code", "two tabs", "another device", "leaves"]


@pytest.mark.slow
def test_sixty_hits_by_all_kinds_of_people_end_with_balanced_books(rehearsal, commit, settings):
    """The show: everybody who finished is paid once, every answer is stored once, both sides agree."""
    settings.ARRIVALS_PER_HOUR = 10_000
    made = published(hits=60, commit=commit)
    finished = 0
    for turn in range(400):
        if not Seat.objects.filter(state="open").exists():
            settle_all(made, rehearsal, commit)
            if not Seat.objects.filter(state="open").exists():
                break
        kind = KINDS_OF_PEOPLE[turn % len(KINDS_OF_PEOPLE)]
        with commit(execute=True):
            finished += play(kind, rehearsal)
        if turn % 12 == 11:
            settle_all(made, rehearsal, commit)
    for _ in range(5):
        settle_all(made, rehearsal, commit)
    counted = Assignment.objects.filter(state="accepted")
    assert counted.count() == 60
    assert Judgment.objects.filter(assignment__in=counted).count() == 60 * 4
    paid = Payment.objects.filter(state="paid").values_list("assignment", flat=True)
    assert len(paid) == len(set(paid)) == finished
    assert not Payment.objects.filter(state="owed").exists()
    books = balances(made)
    assert sum(books.values()) == 0
    assert books["paid"] + books["fees"] + books["held"] == rehearsal.spent()
    assert not Outbox.objects.exclude(state="done").exists()


def play(kind: str, there: Rehearsal) -> int:
    """One person's visit; 1 if they finished their answers."""
    submission, person, sheet = there.open()
    if kind == "leaves":
        return 0
    if kind == "returns":
        there.give_back(submission, person)
        return 0
    if kind == "another device":
        address = there.start(submission, person)
        there.browsers.clear()
        sheet = there.come(address, person).url
    code = there.answer(submission, person, sheet, wrong=kind == "careless")
    if kind == "two tabs":
        assert there.answer(submission, person, sheet) == code
    if kind == "late":
        there.later(hours=2)
    else:
        there.complete(submission, person, "NOCODE" if kind == "no code" else code)
    return 1


def settle_all(made: Round, there: Rehearsal, commit) -> None:
    """Sync, have a person decide what waits, and sync again once payments are listed."""
    there.later(hours=2)
    sync(made, commit)
    for flagged in Assignment.objects.filter(state="flagged"):
        with commit(execute=True):
            counts = not flagged.control_failures
            decide(flagged, votes_count=counts, paid=True, reason="Looked at.", by=robin())
    sync(made, commit)
    there.later(minutes=2)
    sync(made, commit)
