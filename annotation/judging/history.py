"""A worker's own work: receipts, outcomes in plain words, and pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Exists, OuterRef, Prefetch, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.judging.links import Home
from annotation.models import Appeal, Assignment, Payment, Rejection, Worker
from annotation.people.admission import Permit, hits_of
from annotation.people.receipts import completion_code
from annotation.review.appeals import appealable_until, pay_askable_until
from core import clock

CHECKED = gettext_noop("being checked")
REFUSED = gettext_noop("not paid")
NOT_SUBMITTED = gettext_noop("not submitted in time")
OUTCOMES = {
    Assignment.State.SUBMITTED: CHECKED,
    Assignment.State.FLAGGED: CHECKED,
    Assignment.State.ACCEPTED: gettext_noop("accepted"),
    Assignment.State.EXCLUDED: gettext_noop("not counted"),
}
DOUBTS = {
    "fast": gettext_noop("they came faster than pairs can be read"),
    "unread": gettext_noop("many came as soon as the pair was shown"),
    "pattern": gettext_noop("they follow a regular pattern"),
    "same": gettext_noop("nearly all of them are the same"),
    "chance": gettext_noop("they agree less than usual with other answers"),
    "copy": gettext_noop("they agree with a machine more than usual"),
    "repeats": gettext_noop("a pair that was shown twice was answered differently"),
}
"""What the worker reads of each signal (``annotation.work.signals``). Nothing of it depends on a control."""


@dataclass(frozen=True)
class SubmittedHit:
    """One submitted HIT as its worker sees it; ``pay`` is None while nothing is owed, ``promised`` is its reward while
    it is being checked; ``bonuses`` are the reasons of its bonuses; ``doubts`` are the signals that a person still has
    to check.

    Work whose controls failed waits for a person, other work is accepted at once. All work is shown as "being checked"
    until it is paid or the round closes: otherwise workers could find the controls by trying. Signals are shown at
    once, as they do not depend on controls.
    """

    receipt: str
    round_name: str
    submitted_at: datetime | None
    outcome: str
    pay: Decimal | None
    paid: bool
    paid_at: datetime | None = None
    promised: Decimal | None = None
    bonuses: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def is_uncounted(self) -> bool:
        return self.outcome == OUTCOMES[Assignment.State.EXCLUDED]


@dataclass(frozen=True)
class RejectedWork:
    """One rejected HIT of the worker, and their ``appeal`` with its answer, if they made one."""

    rejection: Rejection
    until: datetime
    appeal: Appeal | None

    @property
    def is_open(self) -> bool:
        """Whether the worker may still appeal."""
        return self.rejection.holds and self.appeal is None and clock.now() <= self.until


@dataclass(frozen=True)
class LostWork:
    """A HIT of the worker that another one was given when its time ran out, how many of its pairs they had answered,
    and their request to be paid, if they made one. ``is_again``: they have taken the HIT again since."""

    assignment: Assignment
    answered: int
    pairs: int
    until: datetime
    appeal: Appeal | None
    is_again: bool

    @property
    def is_open(self) -> bool:
        """Whether the worker may still ask to be paid."""
        return self.appeal is None and clock.now() <= self.until


def work_of(worker: Worker) -> list[SubmittedHit]:
    """Return everything the worker submitted or is paid for, in any round, newest first."""
    theirs = worker.assignments.filter(Q(state__in=OUTCOMES) | Q(payments__isnull=False)).distinct()
    rows = theirs.select_related("hit__round").prefetch_related("payments", "rejections")
    return [
        _work(assignment, [one for one in assignment.rejections.all() if one.is_agreed])
        for assignment in rows.order_by("-submitted_at", "-pk")
    ]


@dataclass(frozen=True)
class Earnings:
    """What a worker earns by their HITs, in US dollars. ``week``: by the ``hits`` submitted since Monday (UTC);
    ``promised`` is the part of ``unpaid`` that is still being checked."""

    week: Decimal
    hits: int
    unpaid: Decimal
    promised: Decimal
    paid: Decimal
    paid_at: datetime | None


def earnings_of(works: Sequence[SubmittedHit]) -> Earnings:
    today = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    monday = today - timedelta(days=today.weekday())
    this_week = [work for work in works if work.submitted_at and work.submitted_at >= monday]
    return Earnings(
        week=_sum([work.pay or work.promised for work in this_week]),
        hits=len(this_week),
        unpaid=_sum([work.pay or work.promised for work in works if not work.paid]),
        promised=_sum([work.promised for work in works]),
        paid=_sum([work.pay for work in works if work.paid]),
        paid_at=max((work.paid_at for work in works if work.paid_at), default=None),
    )


def _sum(amounts: Sequence[Decimal | None]) -> Decimal:
    return sum((amount for amount in amounts if amount is not None), Decimal("0.00"))


def receipt_of(assignment: Assignment) -> SubmittedHit | None:
    """Return what the receipt page shows of an assignment as it was read; None if nothing was submitted by then."""
    return _work(assignment) if assignment.state in OUTCOMES else None


def completion_code_of(home: Home, permit: Permit, *, nothing_left: bool = False) -> str:
    """Return the code that proves a worker's work in a round, once they can take no more of it: "" before, and where
    they submitted nothing."""
    is_over = nothing_left or home.round.state != "open" or permit.is_over
    done = home.worker.assignments.filter(hit__round=home.round, state__in=OUTCOMES)
    return completion_code(home.round, home.worker) if is_over and done.exists() else ""


def rejected_work_of(worker: Worker) -> list[RejectedWork]:
    """Return the worker's rejected HITs and their appeals, the latest first; no rejection that is only proposed."""
    theirs = Rejection.objects.filter(assignment__worker=worker).select_related("appeal", "assignment")
    return [
        RejectedWork(one, appealable_until(one), appeal)
        for one in theirs.order_by("-id")
        if (appeal := getattr(one, "appeal", None)) or one.holds
    ]


def lost_work_of(worker: Worker) -> list[LostWork]:
    """Return the HITs that the worker had answers in when another worker was given them, the latest first; those that
    they took again only where they had asked to be paid."""
    again = Exists(hits_of(worker).filter(hit=OuterRef("hit")).exclude(pk=OuterRef("pk")))
    requested = Q(pk__in=Appeal.objects.filter(rejection=None).values("assignment"))
    lost = Q(pk__in=Assignment.objects.lost().filter(drafts__isnull=False).values("pk"))
    rows = worker.assignments.annotate(again=again).filter(requested | lost & Q(again=False))
    rows = rows.annotate(answered=Count("drafts", distinct=True), pairs=Count("hit__items", distinct=True))
    requests = Prefetch("appeals", Appeal.objects.filter(rejection=None), to_attr="requests")
    return [
        LostWork(one, one.answered, one.pairs, pay_askable_until(one), next(iter(one.requests), None), one.again)
        for one in rows.order_by("-pk").prefetch_related(requests)
    ]


def _work(assignment: Assignment, rejections: Sequence[Rejection] = ()) -> SubmittedHit:
    """A rejection that holds or was reversed is shown to its worker at once, so that they can appeal."""
    is_over = assignment.submitted_at is None or assignment.hit.round.closed_at is not None
    made = list(assignment.payments.all())
    is_paid = any(payment.state == Payment.State.PAID for payment in made)
    is_shown = bool(rejections) or is_over or is_paid
    is_flagged = assignment.state == Assignment.State.FLAGGED
    outcome = OUTCOMES.get(Assignment.State(assignment.state), NOT_SUBMITTED) if is_shown else CHECKED
    if any(one.holds for one in rejections):
        outcome = REFUSED
    payments = [payment for payment in made if is_shown and payment.state != Payment.State.WITHDRAWN]
    return SubmittedHit(
        receipt=assignment.receipt,
        round_name=assignment.hit.round.name,
        submitted_at=assignment.submitted_at,
        outcome=outcome,
        pay=sum((payment.amount for payment in payments), Decimal(0)) if payments else None,
        paid=bool(payments) and all(payment.state == Payment.State.PAID for payment in payments),
        paid_at=max((payment.paid_at for payment in payments if payment.paid_at), default=None),
        promised=assignment.hit.round.reward if outcome == CHECKED and not payments else None,
        bonuses=tuple(payment.reason for payment in payments if payment.kind == Payment.Kind.BONUS),
        doubts=tuple(_(DOUBTS[signal["signal"]]) for signal in assignment.signals if is_flagged),
    )
