"""Everything that a platform and a crash can do to a round. After each: exactly the planned HITs, every submission
stored once, paid once, and books that balance and agree with the platform's."""

from collections import Counter
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import cycle

import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.exceptions import ReadTimeoutError
from botocore.httpsession import URLLib3Session
from django.core.management import CommandError, call_command

from annotation.models import Assignment, Draft, Judgment, Payment
from annotation.money.ledger import balances
from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk.faults.worker_acts import SHAPES
from crowd.calls.outbox import deliver_due
from crowd.models import Outbox, Posting
from crowd.posting.publication import close_round
from crowd.visits.intake import FOREIGN, LOST
from hits.models import Round
from tests.crowd.killing import kill_everywhere
from tests.crowd.platform import Rehearsal, published, quiet_sync, sync
from tests.factories import make_round

pytestmark = pytest.mark.slow


HITS = 2
PAIRS = 4
MEDDLED = ["foreign", "markup"]
OPERATIONS = [
    *("CreateHITWithHITType", "CreateHITType", "ListAssignmentsForHIT"),
    *("GetHIT", "ApproveAssignment", "GetAssignment"),
]
BODIES = ["json", "html", "none"]  # of a failure; each operation meets one


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


@pytest.mark.parametrize(("operation", "body"), [*zip(OPERATIONS, cycle(BODIES), strict=False)])
def test_a_call_that_goes_wrong_in_every_way_changes_nothing_in_the_end(rehearsal, commit, operation, body):
    faults = [
        *({"kind": kind} for kind in ("drop", "reset", "throttle")),
        {"kind": "status", "status": 503, "body": body},
    ]
    for fault in faults:
        rehearsal.fault(operation=operation, times=1, **fault)
    made = published(hits=HITS, commit=commit)
    for _ in faults:
        if Posting.objects.exclude(state="live").exists():
            quiet_sync(made, commit)
    work_all(rehearsal)
    again = partial(quiet_sync, made, commit)
    if operation == "GetAssignment":  # asked where an approval may have been made, before a list shows that it was
        rehearsal.fault(operation="ApproveAssignment", times=1, kind="drop")
        again = deliver_due
    quiet_sync(made, commit)
    for _ in range(2 * len(faults)):
        if Payment.objects.filter(state="paid").count() < HITS:
            Outbox.objects.update(due_at="2026-01-01T00:00Z")
            again()
    quiet_sync(made, commit)
    assert all(one["happened"] for one in rehearsal.emulator.plan.as_json())
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


def test_what_waited_for_money_goes_out_when_it_is_published_again(rehearsal, commit):
    rehearsal.fault(kind="balance", operation="CreateHITWithHITType", nth=2, amount="0.50")
    made = published(hits=HITS, commit=commit)
    assert len(rehearsal.hits()) == 1
    rehearsal.world.act("set_balance", available="9999.22")
    with commit(execute=True):
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


def test_work_past_its_deadline_is_refused_there_and_its_place_goes_to_another_worker(rehearsal, commit):
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
def test_an_assignment_id_that_is_given_out_again_brings_no_other_answers(rehearsal, commit, to):
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


def test_answers_that_came_to_harm_on_their_way_are_made_up_for_by_ours(rehearsal, commit):
    harmed = sorted(SHAPES.keys() - MEDDLED)
    made = published(hits=len(harmed), commit=commit)
    for hit_id, shape in zip(rehearsal.hits(), harmed, strict=True):
        rehearsal.fault(kind="answer", shape=shape, times=1)
        rehearsal.work(hit_id, rehearsal.worker())
    sync(made, commit), sync(made, commit)
    check(made, rehearsal, hits=len(harmed), submitted=len(harmed))


def test_answers_with_another_receipt_than_ours_are_for_a_person(rehearsal, commit):
    made = published(hits=len(MEDDLED), commit=commit)
    for hit_id, shape in zip(rehearsal.hits(), MEDDLED, strict=True):
        rehearsal.fault(kind="answer", shape=shape, times=1)
        rehearsal.work(hit_id, rehearsal.worker())
    sync(made, commit), sync(made, commit)
    for doubted in Assignment.objects.filter(problem=FOREIGN):
        assert (doubted.state, doubted.judgments.count(), doubted.control_failures) == ("flagged", PAIRS, 0)
    assert Assignment.objects.filter(problem=FOREIGN).count() == len(MEDDLED)


def test_answers_that_only_the_platform_has_are_read_from_its_copy(rehearsal, commit):
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal)
    lose_our_copy()
    sync(made, commit), sync(made, commit)
    check(made, rehearsal)


def test_answers_that_neither_side_has_are_for_a_person_to_pay(rehearsal, commit):
    rehearsal.fault(kind="answer", shape="empty", times=1)
    made = published(hits=HITS, commit=commit)
    work_all(rehearsal)
    lose_our_copy()
    sync(made, commit), sync(made, commit)
    lost = Assignment.objects.get(problem=LOST)
    assert (lost.state, lost.judgments.count()) == ("flagged", 0)
    assert Payment.objects.count() == HITS - 1


def test_a_process_that_is_killed_anywhere_leaves_a_round_that_ends_whole(rehearsal, commit):
    """Publish, sync, pay and close, each killed after every one of its steps and given again."""
    made = make_round(published=False)
    sync_it = partial(sync, made, commit)
    publish = partial(call_command, "publish", made.name, channel="mturk", environment="emulator")
    acts = [publish, sync_it, partial(work_all, rehearsal), sync_it, partial(call_command, "close", made.name)]
    acts += [sync_it] * 2

    def go_on(number: int, place: str) -> None:
        Outbox.objects.update(due_at="2026-01-01T00:00Z")
        for act in acts[number:]:
            act()
        made.refresh_from_db()
        check(made, rehearsal, hits=1, submitted=1)

    places = 0
    for number, act in enumerate(acts):
        if act is not acts[2]:  # people are not killed
            places += len(kill_everywhere(rehearsal.emulator, act, partial(go_on, number)))
        act()
    assert places > 20
