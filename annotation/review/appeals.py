"""Appeals: a worker contests a rejection, or asks for the pay of a HIT that another worker was given; a person
answers, and pays for work of the browser pool that was lost by that or by an outage."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.models import Appeal, Assignment, AssignmentQuerySet, Payment, Rejection
from annotation.money.payments import owe_bonus
from annotation.people.admission import hits_of
from annotation.review.decisions import held, reverse
from annotation.work.leases import move, return_assignment
from core import clock
from core.errors import CounterpartError
from core.events import record
from core.text import check_words
from hits.prices import cents

WINDOW = timedelta(days=30)
LONGEST = {"appeal": 4096, "answer": 1024}


def appealable_until(rejection: Rejection) -> datetime:
    """Return until when the worker may appeal."""
    return rejection.held_at + WINDOW


def pay_askable_until(lost: Assignment) -> datetime:
    """Return until when the worker may ask for the pay of a HIT that another worker was given."""
    return lost.deadline + WINDOW


def appeal(rejection: Rejection, *, text: str, actor: str) -> Appeal:
    """Store a worker's appeal, once; the same text again changes nothing. ``actor`` is the worker, or who entered an
    appeal that arrived another way.

    Raises CounterpartError for a rejection that does not hold, one that was appealed before or too long ago, and words
    that are missing or too many.
    """
    text = check_words(text, what="appeal", at_most=LONGEST["appeal"])
    if not rejection.holds:
        raise CounterpartError("This work is not rejected any more; there is nothing to appeal.")
    if clock.now() > appealable_until(rejection):
        raise CounterpartError(f"An appeal was possible until {appealable_until(rejection):%-d %B %Y}.")
    return _keep(rejection.assignment, rejection, text, actor)


def ask_for_pay(assignment: Assignment, *, text: str, actor: str) -> Appeal:
    """Store a worker's request to be paid for a HIT that another worker was given when its time ran out, once; the same
    text again changes nothing.

    Raises CounterpartError for any other assignment, one of too long ago, and words that are missing or too many.
    """
    text = check_words(text, what="request", at_most=LONGEST["appeal"])
    if not Assignment.objects.lost().filter(pk=assignment.pk).exists():
        raise CounterpartError("No other worker has taken this HIT; take it again and submit it.")
    if work_again(assignment).exists():
        raise CounterpartError("You have taken this HIT again since then, and are paid for that.")
    if clock.now() > pay_askable_until(assignment):
        raise CounterpartError(f"You could ask to be paid until {pay_askable_until(assignment):%-d %B %Y}.")
    return _keep(assignment, None, text, actor)


def answer_appeal(appeal: Appeal, *, upheld: bool, answer: str, by: User) -> Appeal:
    """Answer an appeal, once; the worker reads the answer. One that is upheld reverses the rejection, if there is one,
    and pays.

    Raises CounterpartError without an answer, for an appeal that was answered before, and where a person would turn
    down an appeal against their own rejection, or against a rejection that was reversed.
    """
    answer = check_words(answer, what="answer", at_most=LONGEST["answer"])
    rejection = Rejection.objects.filter(appeal=appeal).first()
    assignment = appeal.assignment
    if rejection and not upheld and by.pk in (rejection.by_id, rejection.seconded_by_id):
        raise CounterpartError("You rejected this work, so another person has to turn the appeal down.")
    with transaction.atomic():
        current = held(assignment)
        waiting = Appeal.objects.filter(pk=appeal.pk, answered_at=None)
        if not waiting.update(upheld=upheld, answer=answer, answered_by=by, answered_at=clock.now()):
            raise CounterpartError("This appeal is answered already; reload the page.")
        if rejection and not upheld and not rejection.holds:
            raise CounterpartError(
                "The rejection was reversed and the work is paid, so the appeal cannot be turned down."
            )
        verdict = "appeal upheld" if upheld else "appeal turned down"
        record(verdict, assignment, actor=str(by), appeal=appeal.pk)
        if upheld and rejection is None:
            _pay_begun(current, words=LATE, verb="paid though late", reason=f"Appeal upheld: {answer}", by=by)
        elif upheld and rejection and rejection.holds:
            reverse(rejection, reason=f"Appeal upheld: {answer}", by=by)
    appeal.refresh_from_db()
    return appeal


def _keep(assignment: Assignment, rejection: Rejection | None, text: str, actor: str) -> Appeal:
    try:
        with transaction.atomic():
            made = Appeal.objects.create(assignment=assignment, rejection=rejection, text=text)
            record("appealed", assignment, actor=actor, appeal=made.pk)
    except IntegrityError as error:
        made = Appeal.objects.get(assignment=assignment, rejection=rejection)
        if made.text != text:
            raise CounterpartError(
                "You have appealed already; a person reads the appeal and answers on this page."
            ) from error
    return made


OUTAGE = "An error on our side kept your work from being saved. You are paid for it."
LATE = "Your time for this HIT had run out and another worker had it. Your work is paid all the same."


def pay_for_begun(assignment: Assignment, *, reason: str, by: User) -> Payment:
    """Pay for work of the browser pool that was begun and that an outage of ours kept from being submitted: as much as
    a bonus. It ends. Raises CounterpartError for submitted work and where the worker has the HIT again, CeilingError
    past the round's ceiling."""
    with transaction.atomic():
        return _pay_begun(held(assignment), words=OUTAGE, verb="lost in an outage", reason=reason, by=by)


def work_again(assignment: Assignment) -> AssignmentQuerySet:
    """Return the worker's other work on the same HIT that they hold, have submitted or are paid for."""
    return hits_of(assignment.worker).filter(hit=assignment.hit_id).exclude(pk=assignment.pk)


def _pay_begun(assignment: Assignment, *, words: str, verb: str, reason: str, by: User) -> Payment:
    if assignment.submitted_at is not None:
        raise CounterpartError(f"{assignment} was submitted; decide it on its page, where it can be paid as well.")
    if other := work_again(assignment).first():
        raise CounterpartError(f"The worker of {assignment} has its HIT as {other} too. A HIT is paid once.")
    # It takes no submission any more, as it would be paid twice; an expired lease holds no seat.
    if not return_assignment(assignment, actor=str(by)):
        move(assignment, come_from=Assignment.State.EXPIRED, to=Assignment.State.RETURNED, actor=str(by))
    payment = owe_bonus(assignment, amount=cents(assignment.hit.round.reward), reason=words, actor=str(by))
    record(verb, assignment, actor=str(by), reason=reason)
    return payment
