"""Endings of sessions: the rule for each pair of a session's state on the platform and its state here.

Every pair has its own entry, so that a change of one shows its neighbours. ``sessions`` applies the rules, and
``seats`` counts the places.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any

from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, TextChoices, Value, When
from django.db.models.functions import Concat

from annotation.models import Assignment, Payment, Rejection
from annotation.money.payments import IN_ITS_PLACE
from annotation.platforms import Means
from crowd.models import Visit

# Stored as the problem of an assignment and compared with PASSING: new words need a migration of the stored ones.
UNOPENED = "The platform lists a submission, but nobody opened a HIT in its session here. Decide whether it is paid."
UNANSWERED = "The platform lists it as submitted, but its answers were not submitted here. Decide whether it is paid."
ENDED = "The platform lists the session as ended and pays no reward for it. Decide: pay it by a bonus, or reject it."
SETTLED = (
    "The platform has screened this session out or paid it in part, and approves it no more. See there what was paid, "
    "and give what is missing as a bonus. Then decide whether the votes count: to pay it adds nothing more."
)
REJECTED_THERE = "It was rejected on the platform itself. Decide: pay it by a bonus, or reject it here as well."
LANDED = (
    "A bonus was given in place of its reward, but the platform lists the session as submitted after all and would pay "
    "the reward too. Ask the worker to return it."
)
PAID_TWICE = (
    "The platform has paid the reward of this session after a bonus was given in its place, so that it is paid twice. "
    "Nothing can be taken back. Decide whether the votes count: to pay it adds nothing more."
)
LANDED_LATE = "The platform lists the session as submitted after all, and pays its reward if you decide so."
FOREIGN = "The platform lists the session for another worker, and pays nothing for these answers. Reject them, or wait."
UNKNOWN = "The platform does not list the session of these answers, and pays nothing for it. Reject them, or wait."

PASSING = frozenset(
    {UNOPENED, UNANSWERED, ENDED, SETTLED, REJECTED_THERE, LANDED, PAID_TWICE, LANDED_LATE, FOREIGN, UNKNOWN}
)
"""Questions that are void once the session's state changes."""


class Here(TextChoices):
    """The state of a session here."""

    ABSENT = "absent", "its visitor never came; its record, if there is one, was made from the platform's list"
    DECLINED = "declined", "its visitor did not consent, and nothing of them is kept"
    WORKING = "working", "its visitor has a HIT and has not submitted it"
    LEFT = "left", "its visitor returned the HIT here, or ran out of time"
    SILENT = "silent", "the platform lists it, but its visitor has answered nothing here"
    WAITING = "waiting", "no HIT was left for its visitor, and a person decides whether they are paid for coming"
    CAME = "came", "it was decided without answers: its visitor is paid for coming, or returned it"
    ANSWERED = "answered", "its answers are here, not yet paid and not rejected"
    BONUS = "bonus", "a bonus in place of its reward is owed or paid"
    PAID = "paid", "its reward is paid"
    REFUSED = "refused", "it is rejected, or proposed to be"


class Act(Enum):
    """What to do when the platform lists the session."""

    KEEP = auto()
    """Leave it as it is, and remove a question that no longer applies."""
    RECORD = auto()
    """Create a record of it if that is missing, and ask a person."""
    FORGET = auto()
    """Delete the record, if there is one."""
    ASK = auto()
    """Ask a person, and withdraw a reward that is owed until they decide."""
    FREE_SEAT = auto()
    """End the lease, so that another worker can have its seat."""
    LET_GO = auto()
    """Pay nothing: a returned session without answers earns nothing."""


@dataclass(frozen=True)
class Rule:
    act: Act
    question: str = ""


KEEP = Rule(Act.KEEP)
FORGET = Rule(Act.FORGET)
FREE_SEAT = Rule(Act.FREE_SEAT)
LET_GO = Rule(Act.LET_GO)

_ask = partial(Rule, Act.ASK)
_record = partial(Rule, Act.RECORD)

RULES: Mapping[Visit.State, Mapping[Here, Rule]] = {
    # Also sessions that were missing from the list for an hour: a person then decides about their answers.
    Visit.State.UNCONFIRMED: {
        Here.ABSENT: KEEP,
        Here.DECLINED: FORGET,
        Here.WORKING: KEEP,
        Here.LEFT: KEEP,
        Here.SILENT: _ask(UNKNOWN),
        Here.WAITING: _ask(UNKNOWN),
        Here.CAME: _ask(UNKNOWN),
        Here.ANSWERED: _ask(UNKNOWN),
        Here.BONUS: _ask(UNKNOWN),
        Here.PAID: KEEP,
        Here.REFUSED: _ask(UNKNOWN),
    },
    Visit.State.SUBMITTED: {
        Here.ABSENT: _record(UNOPENED),
        Here.DECLINED: FORGET,
        Here.WORKING: _ask(UNANSWERED),
        Here.LEFT: _ask(UNANSWERED),
        Here.SILENT: _ask(UNANSWERED),
        Here.WAITING: _ask(LANDED_LATE),
        Here.CAME: KEEP,
        Here.ANSWERED: KEEP,
        Here.BONUS: _ask(LANDED),
        Here.PAID: KEEP,
        Here.REFUSED: KEEP,
    },
    # Its reward has been marked as paid before the rule is read.
    Visit.State.APPROVED: {
        Here.ABSENT: _record(UNOPENED),
        Here.DECLINED: _record(UNOPENED),
        Here.WORKING: KEEP,
        Here.LEFT: KEEP,
        Here.SILENT: KEEP,
        Here.WAITING: KEEP,
        Here.CAME: KEEP,
        Here.ANSWERED: KEEP,
        Here.BONUS: _ask(PAID_TWICE),
        Here.PAID: KEEP,
        Here.REFUSED: KEEP,
    },
    Visit.State.REJECTED: {
        Here.ABSENT: _record(UNOPENED),
        Here.DECLINED: FORGET,
        Here.WORKING: _ask(UNANSWERED),
        Here.LEFT: _ask(UNANSWERED),
        Here.SILENT: _ask(REJECTED_THERE),
        Here.WAITING: _ask(REJECTED_THERE),
        Here.CAME: _ask(REJECTED_THERE),
        Here.ANSWERED: _ask(REJECTED_THERE),
        Here.BONUS: KEEP,
        Here.PAID: KEEP,
        Here.REFUSED: KEEP,
    },
    Visit.State.RETURNED: {
        Here.ABSENT: FORGET,
        Here.DECLINED: FORGET,
        Here.WORKING: FREE_SEAT,
        Here.LEFT: KEEP,
        Here.SILENT: LET_GO,
        Here.WAITING: LET_GO,
        Here.CAME: LET_GO,
        Here.ANSWERED: _ask(ENDED),
        Here.BONUS: KEEP,
        Here.PAID: KEEP,
        Here.REFUSED: KEEP,
    },
    Visit.State.EXPIRED: {
        Here.ABSENT: KEEP,
        Here.DECLINED: FORGET,
        Here.WORKING: FREE_SEAT,
        Here.LEFT: KEEP,
        Here.SILENT: _ask(ENDED),
        Here.WAITING: _ask(ENDED),
        Here.CAME: _ask(ENDED),
        Here.ANSWERED: _ask(ENDED),
        Here.BONUS: KEEP,
        Here.PAID: KEEP,
        Here.REFUSED: KEEP,
    },
    Visit.State.SETTLED: {
        Here.ABSENT: _record(SETTLED),
        Here.DECLINED: _record(SETTLED),
        Here.WORKING: _ask(SETTLED),
        Here.LEFT: _ask(SETTLED),
        Here.SILENT: _ask(SETTLED),
        Here.WAITING: _ask(SETTLED),
        Here.CAME: _ask(SETTLED),
        Here.ANSWERED: _ask(SETTLED),
        Here.BONUS: _ask(SETTLED),
        Here.PAID: KEEP,
        Here.REFUSED: _ask(SETTLED),
    },
}

TAKES_PLACE: Mapping[Visit.State, frozenset[Here]] = {
    # A session that the platform does not list yet takes one while it may bring answers, or has brought them.
    Visit.State.UNCONFIRMED: frozenset({Here.WORKING, Here.SILENT, Here.ANSWERED, Here.BONUS, Here.PAID}),
    # A worker without a HIT may return the session until their pay is decided, and a place is never taken away.
    Visit.State.SUBMITTED: frozenset(Here) - {Here.ABSENT, Here.DECLINED, Here.WAITING},
    Visit.State.APPROVED: frozenset(Here),
    Visit.State.SETTLED: frozenset(Here),
    # The platform gives the place to another worker.
    Visit.State.REJECTED: frozenset(),
    Visit.State.RETURNED: frozenset(),
    Visit.State.EXPIRED: frozenset(),
}
"""The sessions that take a place of the posting, so that an open seat needs another one."""

ONWARD: Mapping[Visit.State, tuple[Visit.State, ...]] = {
    Visit.State.UNCONFIRMED: tuple(Visit.State),
    Visit.State.SUBMITTED: (
        Visit.State.APPROVED,
        Visit.State.REJECTED,
        Visit.State.RETURNED,
        Visit.State.SETTLED,
    ),
    Visit.State.REJECTED: (Visit.State.APPROVED,),
    Visit.State.APPROVED: (),
    Visit.State.RETURNED: (Visit.State.APPROVED, Visit.State.SETTLED),
    Visit.State.EXPIRED: (
        Visit.State.SUBMITTED,
        Visit.State.APPROVED,
        Visit.State.RETURNED,
        Visit.State.SETTLED,
    ),
    Visit.State.SETTLED: (Visit.State.APPROVED,),
}
"""The states there that may follow each state: an outdated list takes no state back. An ended session may still be
submitted late, or be paid by hand there."""

UNDECIDED = (Visit.State.UNCONFIRMED, Visit.State.SUBMITTED, Visit.State.APPROVED, Visit.State.SETTLED)
"""The states there in which a rejection has still to be sent, or is refused."""

MEANS: Mapping[Visit.State, Means] = {
    Visit.State.UNCONFIRMED: Means.REWARD,
    Visit.State.SUBMITTED: Means.REWARD,
    Visit.State.APPROVED: Means.REWARD,
    Visit.State.REJECTED: Means.REWARD,  # while the platform reverses rejections, then by a bonus
    Visit.State.RETURNED: Means.BONUS,
    Visit.State.EXPIRED: Means.BONUS,
    Visit.State.SETTLED: Means.NOTHING,
}
"""How work is paid once a person decides to pay it."""

_OF_WORK = {"assignment": OuterRef("assignment")}
_bonus = Payment.objects.filter(**_OF_WORK, kind=Payment.Kind.BONUS, reason__in=IN_ITS_PLACE)
_paid = Payment.objects.filter(**_OF_WORK, kind=Payment.Kind.REWARD, state=Payment.State.PAID)
_is_answered = ~Q(assignment__receipt="")
HERE = Case(
    When(assignment__state=Assignment.State.LEASED, then=Value(Here.WORKING)),
    When(assignment__state__in=Assignment.ABANDONED, then=Value(Here.LEFT)),
    When(Exists(_bonus), then=Value(Here.BONUS)),
    When(Exists(_paid), then=Value(Here.PAID)),
    When(Exists(Rejection.objects.filter(**_OF_WORK, dropped_at=None)), then=Value(Here.REFUSED)),
    When(_is_answered, assignment__has_hit=True, then=Value(Here.ANSWERED)),
    When(assignment__state=Assignment.State.EXCLUDED, then=Value(Here.CAME)),
    When(assignment__has_hit=True, then=Value(Here.SILENT)),
    When(_is_answered, then=Value(Here.WAITING)),
    default=Value(Here.ABSENT),
)
"""The state here of a visit's session, for a query of visits. No row is kept of a visitor who declined."""


def may_be_returned(visit: Visit) -> bool:
    """Whether the worker can still return the work: it is neither decided nor over on the platform."""
    return visit.state in (Visit.State.UNCONFIRMED, Visit.State.SUBMITTED)


def takes_place(visits: QuerySet[Visit]) -> QuerySet[Any]:
    """Return those of the visits that take a place of the posting."""
    pairs = [f"{there} {here}" for there, places in TAKES_PLACE.items() for here in sorted(places)]
    # Both in one text: Django writes HERE out once for each condition on it, which takes longer than the query runs.
    both = Concat("state", Value(" "), HERE, output_field=CharField())
    return visits.alias(both=both).filter(both__in=pairs)
