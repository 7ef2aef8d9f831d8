"""Intake: keep what a platform says of submissions, and store the answers of those that it confirms.

Every confirmed submission becomes an assignment with its judgments, so that no worker is unpaid and no answer is lost.
Work whose answers were lost by a fault of this site is paid.
"""

import logging
from collections.abc import Mapping, Sequence

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Assignment, Decision, Payment
from annotation.money.payments import mark_reward_paid, owe, withdraw_compensation
from annotation.people.consent import give_consent
from annotation.people.workers import locked
from annotation.review.appeals import pay_for_begun
from annotation.review.decisions import DECIDABLE, for_ruling, held, rule
from annotation.work.answers import (
    ANSWERS_FIELD,
    RECEIPT_FIELD,
    Answer,
    check_answer_set,
    decode_answers,
    drafted_answers,
    places_of,
)
from annotation.work.grading import count_failures, flag
from annotation.work.leases import bind_seat, move
from annotation.work.submissions import items_of, judged_before, store_answers
from core.errors import CounterpartError
from core.events import record
from core.progress import Progress, silent
from core.text import trimmed
from crowd import channels
from crowd.channels.base import Listed
from crowd.endings import ONWARD
from crowd.models import Visit
from hits.models import Round
from hits.task_types import task_type_of

logger = logging.getLogger(__name__)

REPEATED = "The worker had answered this HIT in another posting. Decide whether the work is paid; it is not counted."
LOST = "The platform confirms it, but no complete answers came with it or were saved here. The work is to be paid."
FOREIGN = "The platform's copy has another receipt than ours. The answers that were saved here are stored."


def take_in_waiting(round: Round, *, progress: Progress = silent) -> int:
    """Store every submission to the round that is confirmed and not stored yet. Return their number.

    One that fails is logged and retried next time; the others are still stored.
    """
    waiting = Assignment.objects.waiting().filter(problem="", hit__round=round)
    keys = list(waiting.order_by("submitted_at", "pk").values_list("pk", flat=True))
    taken = 0
    for done, key in enumerate(keys):
        progress("storing submissions", done, len(keys))
        try:
            taken += take_in(key)
        except Exception:
            logger.exception("assignment %s could not be stored", key)
    return taken


def advance(visit: Visit, listed: Listed) -> None:
    """Move the platform's state on to the listed one, never back."""
    Visit.objects.filter(pk=visit.pk).update(auto_approval_at=listed.auto_approval_at)
    visit.auto_approval_at = listed.auto_approval_at
    if listed.status not in ONWARD[Visit.State(visit.state)] or not listed.status:
        return
    # Conditional: of two syncs that read the same list, only one records the change and marks it as paid.
    unchanged = Visit.objects.filter(pk=visit.pk, state=visit.state)
    if not unchanged.update(state=listed.status, decided_at=listed.decided_at):
        return
    visit.state = listed.status
    visit.decided_at = listed.decided_at
    record(f"{listed.status} on the platform", visit.assignment, actor="sync")
    # The reward of a claim is marked as paid by take_in, once its answers are stored.
    if visit.is_approved and not visit.assignment.is_claim:
        mark_reward_paid(visit.assignment)
        withdraw_compensation(visit.assignment)


@transaction.atomic
def take_in(key: int) -> bool:
    """Store the answers of a confirmed assignment. Return False if it is unconfirmed, stored before, or has a
    problem."""
    waiting = Assignment.objects.select_related("hit__round").get(pk=key)
    # Lock the worker first, as leasing a HIT does: no other HIT of theirs is stored while their pairs are compared.
    worker = locked(waiting.worker_id)
    assignment = held(waiting)
    if assignment.problem or not (assignment.is_claim and assignment.submitted_at):
        return False
    give_consent(worker, assignment.hit.round, sheet=assignment.visit.sheet)
    earlier = Assignment.objects.without_claims().filter(worker=worker, hit=assignment.hit_id)
    if earlier.exclude(state__in=Assignment.ABANDONED).exists():
        # A person decides. The work is stored without a seat.
        again = {"receipt": assignment.receipt_code, "problem": REPEATED}
        leased = Assignment.State.LEASED
        move(assignment, come_from=leased, to=Assignment.State.FLAGGED, actor="intake", **again)
    else:
        _submit(assignment)
    if assignment.visit.is_approved:
        mark_reward_paid(assignment)
    return True


def _submit(assignment: Assignment) -> None:
    items = items_of(assignment)
    answers, doubt = _answers_of(assignment)
    bind_seat(assignment)
    # Only a worker's first answer to a pair counts. The others stay in the drafts or in the platform's copy.
    again = judged_before(assignment, items)
    first = [answer for answer in answers if answer.item_id not in again]
    store_answers(assignment, first, items, assignment.active_seconds, at=assignment.submitted_at)
    if doubt:
        Assignment.objects.filter(pk=assignment.pk).update(problem=doubt)
        flag(assignment, control_failures=count_failures(assignment))


def _answers_of(assignment: Assignment) -> tuple[Sequence[Answer], str]:
    """Return the answers of a confirmed submission, all or none, and what a person should check, if anything.

    They are the answers saved here, otherwise the platform's copy. If both exist, their receipts must be the same.
    """
    visit = assignment.visit
    fields = channels.platform(visit.channel).answer_fields(visit.content)
    if assignment.receipt and (answers := _complete([*drafted_answers(assignment).values()], assignment)):
        agrees = fields.get(RECEIPT_FIELD, assignment.receipt) == assignment.receipt
        return answers, "" if agrees else FOREIGN
    if answers := _complete(_copied(fields, assignment), assignment):
        return answers, ""
    return [], LOST


def _copied(fields: Mapping[str, str], assignment: Assignment) -> list[Answer]:
    try:
        return decode_answers(fields.get(ANSWERS_FIELD, ""), places_of(assignment))
    except CounterpartError:
        return []


def _complete(answers: list[Answer], assignment: Assignment) -> list[Answer]:
    """Return the answers if there is exactly one valid answer for each item, otherwise none."""
    round = assignment.hit.round
    try:
        check_answer_set(answers, places_of(assignment), task=task_type_of(round), reasons=round.reasons)
    except CounterpartError:
        return []
    return answers


def pay_for_outage(assignment: Assignment, *, reason: str, by: User) -> Payment:
    """Pay for work whose answers an outage of ours has lost; no vote is counted, and the seat stays open.

    Work on a platform is paid its reward if the platform lists it and its answers are incomplete here. Unsubmitted work
    in the browser pool is ended and paid the same amount as a bonus. Repeating changes nothing.
    Raises CounterpartError without a reason and for any other work, CeilingError past the round's ceiling.
    """
    reason = trimmed(reason)
    if not reason:
        raise CounterpartError("The reason is missing: state which fault lost the work. The event log keeps it.")
    visit = Visit.objects.filter(assignment=assignment).first()
    if visit is None:
        return pay_for_begun(assignment, reason=reason, by=by)
    return _pay_listed(visit, reason=reason, by=by)


@transaction.atomic
def _pay_listed(visit: Visit, *, reason: str, by: User) -> Payment:
    assignment = held(visit.assignment)
    visit.refresh_from_db()
    if not (visit.is_undecided or visit.is_approved):
        there = visit.get_state_display()
        raise CounterpartError(f"{assignment} is {there} on its platform: only submitted work can be paid.")
    if assignment.is_claim:
        # Excluded, it can be paid; its seat stays open.
        move(assignment, come_from=Assignment.State.LEASED, to=Assignment.State.EXCLUDED, actor=str(by), problem="")
        Decision.objects.create(assignment=assignment, votes_count=False, paid=True, reason=reason, by=by)
        record("lost in an outage", assignment, actor=str(by), reason=reason)
    elif paid := Payment.objects.filter(assignment=assignment, state__in=Payment.EARNED).first():
        return paid
    elif not assignment.problem:
        raise CounterpartError(f"The answers of {assignment} are here; decide it on its page.")
    elif assignment.state in DECIDABLE:
        rule(for_ruling(assignment), votes_count=False, paid=True, reason=reason, by=by)
    return mark_reward_paid(assignment) if visit.is_approved else owe(assignment)
