"""Everything that a platform and a crash can do to a round. After each: exactly the planned HITs, every submission
stored once, paid once, and books that balance and agree with the platform's."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import count

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.client import BaseClient
from botocore.exceptions import ReadTimeoutError
from botocore.httpsession import URLLib3Session
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.transaction import Atomic

from annotation.models import Assignment, Draft, Judgment, Payment
from annotation.money.ledger import balances
from crowd.intake import FOREIGN, LOST
from crowd.models import Outbox, Posting
from crowd.publication import close_round
from emulators.marketplace import Refusal
from emulators.mturk.faults.worker_acts import SHAPES
from hits.models import Round
from tests.crowd.platform import Rehearsal, published, rehearsal, rehearsing, sync
from tests.factories import make_round

pytestmark = pytest.mark.slow

__all__ = ["rehearsal"]

HITS = 3
PAIRS = 4
MEDDLED = ["foreign", "markup"]
KINDS = ["drop", "reset", "throttle", "status-json", "status-html", "status-none"]
OPERATIONS = [
    *("CreateHITWithHITType", "CreateHITType", "ListAssignmentsForHIT"),
    *("GetHIT", "ApproveAssignment", "GetAssignment"),
]
# Each kind and each operation once is fast; make test also runs all other combinations.
MATRIX = [
    pytest.param(operation, kind, marks=[] if OPERATIONS.index(operation) == KINDS.index(kind) else [pytest.mark.slow])
    for operation in OPERATIONS
    for kind in KINDS
]


def check(made: Round, there: Rehearsal, *, hits: int = HITS, submitted: int = HITS) -> None:
    """Hold our rows, our books and the platform's against each other, once a round has come to rest."""
    standing = there.world.call("ListHITs", {"MaxResults": 100})["HITs"]
    assert len(standing) == hits
    assert {hit["HITId"] for hit in standing} == set(there.hits())
    assert Assignment.objects.without_claims().exclude(state__in=Assignment.ABANDONED).count() == submitted
    assert sorted(Counter(Judgment.objects.values_list("assignment", flat=True)).values()) == [PAIRS] * submitted
    assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * submitted
    spent = Decimal("10000.00") - Decimal(there.available())
    books = balances(made)
    assert sum(books.values()) == 0
    assert books["paid"] + books["fees"] + books["held"] == spent
    assert not Outbox.objects.exclude(state="done").exists()


def lose_our_copy() -> None:
    Draft.objects.all().delete()
    Assignment.objects.update(receipt="")


def work_all(there: Rehearsal) -> None:
    for hit_id in there.hits():
        there.work(hit_id, there.worker())


@pytest.mark.parametrize(("operation", "kind"), MATRIX)
def test_a_call_that_goes_wrong_changes_nothing_in_the_end(rehearsal, commit, kind, operation):
    kind, _, body = kind.partition("-")
    settings = {"status": 503, "body": body} if body else {}
    rehearsal.fault(kind=kind, operation=operation, times=2, **settings)
    made = published(hits=HITS, commit=commit)
    sync(made, commit), sync(made, commit)
    work_all(rehearsal)
    for _ in range(4):
        sync(made, commit)
    check(made, rehearsal)


def test_an_answer_later_than_the_read_time_out_is_asked_for_again(rehearsal, commit, monkeypatch):
    send, late = URLLib3Session.send, [b"CreateHITWithHITType", b"ApproveAssignment"]

    def give_up(session: URLLib3Session, request: AWSPreparedRequest) -> object:
        answer = send(session, request)
        if operation := next((one for one in late if one in request.headers["X-Amz-Target"]), None):
            late.remove(operation)
            raise ReadTimeoutError(endpoint_url=request.url)
        return answer

    monkeypatch.setattr(URLLib3Session, "send", give_up)
    made = published(hits=HITS, commit=commit)
    sync(made, commit)
    work_all(rehearsal)
    sync(made, commit), sync(made, commit)
    assert not late
    check(made, rehearsal)


@pytest.mark.parametrize("again", ["publish", "sync"])
def test_what_waited_for_money_goes_out_when_somebody_tries_again(rehearsal, commit, again):
    rehearsal.fault(kind="balance", operation="CreateHITWithHITType", nth=2, amount="0.50")
    made = published(hits=HITS, commit=commit)
    assert len(rehearsal.hits()) == 1
    rehearsal.world.act("set_balance", available="9999.22")
    with commit(execute=True):
        if again == "sync":
            call_command("sync", made.name)
        else:
            call_command("publish", made.name, channel="mturk", environment="emulator")
    assert len(rehearsal.hits()) == HITS


@pytest.mark.parametrize("kind", ["lag", "blind"])
def test_lists_that_lag_behind_only_delay(rehearsal, commit, kind):
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal)
    rehearsal.fault(kind=kind, seconds=60)
    with suppress(CommandError):  # it says so where nothing is listed yet
        sync(made, commit)
    assert kind == "blind" or not Assignment.objects.without_claims().exists()
    rehearsal.later(seconds=61)
    sync(made, commit), sync(made, commit)
    check(made, rehearsal)


def test_a_hit_that_flickers_to_assignable_is_not_taken_for_over(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal)
    rehearsal.fault(kind="flicker", operation="GetHIT", times=HITS)
    sync(made, commit)
    assert not Posting.objects.exclude(settled_at=None).exists()
    sync(made, commit)
    check(made, rehearsal)


@pytest.mark.parametrize("size", [0, 1])
def test_odd_pages_hide_nothing(rehearsal, commit, size):
    made = published(hits=HITS, commit=commit, replication=2)
    for hit_id in rehearsal.hits():
        rehearsal.work(hit_id, rehearsal.worker()), rehearsal.work(hit_id, rehearsal.worker())
    rehearsal.fault(kind="page", operation="ListAssignmentsForHIT", size=size, **({"times": 1} if size == 0 else {}))
    sync(made, commit)
    check(made, rehearsal, submitted=2 * HITS)


def test_submitting_twice_is_one_record(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    for hit_id in rehearsal.hits():
        worker = rehearsal.worker()
        turn = rehearsal.accept(hit_id, worker)
        address = rehearsal.open_page(hit_id, turn, worker)
        fields = rehearsal.save(address)
        assert rehearsal.resend(address) == fields
        rehearsal.world.submit(turn, worker, fields)
        with pytest.raises(Refusal):
            rehearsal.world.submit(turn, worker, fields)
    sync(made, commit), sync(made, commit)
    check(made, rehearsal)


def test_work_handed_in_after_the_hit_has_expired_counts(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    turns = []
    for hit_id in rehearsal.hits():
        worker = rehearsal.worker()
        turn = rehearsal.accept(hit_id, worker)
        turns.append((turn, worker, rehearsal.save(rehearsal.open_page(hit_id, turn, worker))))
    close_round(made, actor="robin")
    sync(made, commit)
    assert not Posting.objects.exclude(settled_at=None).exists()
    for turn, worker, fields in turns:
        rehearsal.world.submit(turn, worker, fields)
    sync(made, commit), sync(made, commit)
    check(made, rehearsal)


def test_work_past_its_deadline_is_refused_there_and_its_place_goes_to_somebody_else(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    first = rehearsal.hits()[0]
    slow = rehearsal.worker()
    turn = rehearsal.accept(first, slow)
    fields = rehearsal.save(rehearsal.open_page(first, turn, slow))
    rehearsal.later(hours=2)
    with pytest.raises(Refusal):
        rehearsal.world.submit(turn, slow, fields)
    sync(made, commit)
    work_all(rehearsal)
    sync(made, commit), sync(made, commit)
    check(made, rehearsal)
    late = Assignment.objects.get(outside_key=turn, visit__state="")
    assert (late.state, late.seat, late.drafts.count()) == ("leased", None, PAIRS)


@pytest.mark.parametrize("to", ["same", "another"])
def test_an_assignment_id_that_is_given_out_again_brings_nobody_elses_answers(rehearsal, commit, to):
    made = published(hits=HITS, commit=commit)
    first, *rest = rehearsal.hits()
    one = rehearsal.worker()
    turn = rehearsal.accept(first, one)
    rehearsal.save(rehearsal.open_page(first, turn, one), level=4)
    rehearsal.world.return_assignment(turn, one)
    rehearsal.fault(kind="reissue", to=to)
    other = one if to == "same" else rehearsal.worker()
    assert rehearsal.accept(first, other) == turn
    address = rehearsal.open_page(first, turn, other)
    fields = rehearsal.resend(address) if to == "same" else rehearsal.save(address, level=2)
    rehearsal.world.submit(turn, other, fields)
    for hit_id in rest:
        rehearsal.work(hit_id, rehearsal.worker())
    sync(made, commit), sync(made, commit)
    check(made, rehearsal)
    taken = Assignment.objects.without_claims().get(outside_key=turn)
    levels = taken.judgments.filter(item__control=None).values_list("level", flat=True)
    assert (len(rehearsal.workers), set(levels)) == (HITS + (to == "another"), {4 if to == "same" else 2})


@pytest.mark.parametrize("shape", sorted(SHAPES.keys() - MEDDLED))
def test_an_answer_that_came_to_harm_on_its_way_is_made_up_for_by_ours(rehearsal, commit, shape):
    rehearsal.fault(kind="answer", shape=shape)
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal)
    sync(made, commit), sync(made, commit)
    check(made, rehearsal)


@pytest.mark.parametrize("shape", MEDDLED)
def test_an_answer_with_another_receipt_than_ours_is_for_a_person(rehearsal, commit, shape):
    rehearsal.fault(kind="answer", shape=shape, times=1)
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal)
    sync(made, commit), sync(made, commit)
    doubted = Assignment.objects.get(problem=FOREIGN)
    assert (doubted.state, doubted.judgments.count(), doubted.control_failures) == ("flagged", PAIRS, 0)


def test_answers_that_only_the_platform_has_are_read_from_its_copy(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal)
    lose_our_copy()
    sync(made, commit), sync(made, commit)
    check(made, rehearsal)


def test_answers_that_nobody_has_are_for_a_person_to_pay(rehearsal, commit):
    rehearsal.fault(kind="answer", shape="empty", times=1)
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal)
    lose_our_copy()
    sync(made, commit), sync(made, commit)
    lost = Assignment.objects.get(problem=LOST)
    assert (lost.state, lost.judgments.count()) == ("flagged", 0)
    assert Payment.objects.count() == HITS - 1


class Killed(BaseException):
    """The process is gone: nothing may catch this."""


@dataclass
class Killer:
    """Kills at the n-th moment of the commands that are given under it."""

    at: int
    seen: int = 0
    is_armed: bool = False

    def moment(self) -> None:
        self.seen += self.is_armed
        if self.is_armed and self.seen == self.at:
            raise Killed

    def give(self, command: Callable[[], object]) -> None:
        """Give a command, and once more when it was killed."""
        self.is_armed = True
        try:
            command()
        except Killed:
            Outbox.objects.update(due_at="2026-01-01T00:00Z")
            command()
        finally:
            self.is_armed = False


def whole_round(there: Rehearsal, commit, killer: Killer) -> Round:
    """Publish, work, sync and close, by commands that are given again after whatever kills them."""
    made = make_round(published=False)
    killer.give(lambda: call_command("publish", made.name, channel="mturk", environment="emulator"))
    killer.give(lambda: sync(made, commit))
    work_all(there)
    killer.give(lambda: sync(made, commit))
    killer.give(lambda: call_command("close", made.name))
    for _ in range(3):
        killer.give(lambda: sync(made, commit))
    made.refresh_from_db()
    return made


def kills_between_calls(monkeypatch, killer: Killer) -> None:
    ask = BaseClient._make_api_call

    def killed(self, operation, params):
        killer.moment()
        answer = ask(self, operation, params)
        killer.moment()
        return answer

    monkeypatch.setattr(BaseClient, "_make_api_call", killed)


def kills_after_changes(monkeypatch, killer: Killer) -> None:
    leave = Atomic.__exit__

    def killed(self, kind, error, trace):
        leave(self, kind, error, trace)
        if kind is None and self.savepoint:
            killer.moment()

    monkeypatch.setattr(Atomic, "__exit__", killed)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [kills_between_calls, kills_after_changes])
def test_a_process_that_is_killed_anywhere_leaves_a_round_that_ends_whole(db, settings, commit, kills):
    """Publish, sync, pay and close, each time killed one moment later, until no moment is left."""
    for at in count(1):
        killer = Killer(at)
        with rehearsing(settings) as there, transaction.atomic():
            with pytest.MonkeyPatch.context() as patch:
                kills(patch, killer)
                made = whole_round(there, commit, killer)
            check(made, there, hits=1, submitted=1)
            transaction.set_rollback(True)
        if killer.seen < at:
            break
    assert at > 20
