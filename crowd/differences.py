"""Differences between a round and its platform: what only one side has, and what differs in status or amount.

Finding them changes nothing; most can be repaired by one call."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import partial

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Payment
from annotation.money.payments import mark_reward_paid, mark_unpaid, order_payment
from core.errors import CounterpartError
from core.events import record, subject_of
from core.progress import Progress, silent
from core.work.authority import check_authority
from crowd import channels
from crowd.calls.delivery import mark_closed, mark_disposed, mark_over
from crowd.calls.outbox import SUBJECTS, put, send_again
from crowd.calls.single_payments import is_listed, payment_of, settle, unclear_payments
from crowd.channels.base import Bonus, ChannelError, Listed, ListedPosting, Listing, Platform, patiently
from crowd.models import Outbox, Posting, Visit
from crowd.sync import keep
from crowd.visits.sessions import is_work, keep_sessions
from hits.models import Round
from hits.prices import cents

Act = Callable[[], object]
SETTLING = "still being settled: a call to the platform is under way, so compare again in some minutes"


class Kind(StrEnum):
    """How the two sides differ."""

    ONLY_HERE = "only here"
    ONLY_THERE = "only there"
    OTHER_STATUS = "other status"
    OTHER_AMOUNT = "other amount"


@dataclass(frozen=True)
class Difference:
    """One difference, and its remedy. ``repair`` is None if only a person can repair it: money that was paid twice, for
    example, cannot be taken back. ``is_call``: the repair calls the platform; others change rows here."""

    kind: Kind
    subject: str
    here: str
    there: str
    remedy: str
    repair: Act | None = None
    is_call: bool = False

    def as_figures(self) -> dict[str, str]:
        """Return its texts."""
        return {
            "difference": str(self.kind),
            "of": self.subject,
            "here": self.here,
            "there": self.there,
            "remedy": self.remedy,
        }


def find_differences(round: Round, *, progress: Progress = silent) -> list[Difference]:
    """Compare every posting, submission, decision and bonus of the round with its platform. Changes nothing.

    Raises CounterpartError for a round that is on no platform, or if the platform fails.
    """
    platform = channels.platforms().get(round.channel)
    if platform is None:
        raise CounterpartError(f"Round {round} is on no platform, so there is nothing to compare it with.")
    try:
        return list(_differences(round, platform, progress))
    except ChannelError as error:
        raise CounterpartError(f"The platform could not be read. {error}") from error


def repair(round: Round, differences: Sequence[Difference], *, actor: str) -> int:
    """Repair what can be repaired. Return the number of repairs; each may be repeated."""
    repaired = 0
    for difference in differences:
        if difference.repair:
            _repair(round, difference, difference.repair, actor)
            repaired += 1
    return repaired


def _repair(round: Round, difference: Difference, act: Act, actor: str) -> None:
    """A call is made before the transaction that records it: no lock is held while the platform answers, and after a
    crash a repeated call finds its effect."""
    if difference.is_call:
        check_authority()
        act()
    with transaction.atomic():
        if not difference.is_call:
            check_authority()
            act()
        record("repaired", round, actor=actor, **difference.as_figures())


def _differences(round: Round, platform: Platform, progress: Progress) -> Iterator[Difference]:
    there = {posting.external_id: posting for posting in patiently(partial(platform.list_postings, round.environment))}
    postings = list(Posting.objects.filter(round=round).select_related("hit", "round"))
    yield from _of_strangers(round, platform, postings, there)
    yield from _of_unclear(round)
    for done, posting in enumerate(postings):
        progress("comparing with the platform", done, len(postings))
        yield from _of_posting(posting, there.get(posting.external_id))
        if posting.external_id in there:
            work = _of_work(posting, patiently(partial(platform.collect, posting)))
            yield from _unless_settling(posting, [*work, *_of_bonuses(posting, platform.bonuses(posting))])


def _unless_settling(posting: Posting, found: Sequence[Difference]) -> Iterator[Difference]:
    """Replace the remedy of work whose payment or rejection is under way: the call makes both sides equal, and one that
    was lost with its process is made again."""
    settling = _settling_work(posting.round) if found else set()
    for difference in found:
        # The last word of a subject is the platform's id of the work.
        is_settling = difference.subject.rpartition(" ")[2] in settling
        yield replace(difference, remedy=SETTLING, repair=None) if is_settling else difference


def _settling_work(round: Round) -> set[str]:
    """Return the platform's ids of the submissions about which a call is due or being made."""
    calls = Outbox.objects.filter(round=round, state__in=(Outbox.State.PENDING, Outbox.State.SENDING))
    keys: set[str] = set()
    for call, model in SUBJECTS.items():
        subjects = calls.filter(call=call).values_list("subject", flat=True)
        about = model.objects.filter(pk__in=[subject.partition(":")[2] for subject in subjects])
        keys.update(about.values_list("assignment__outside_key", flat=True))
    return keys


def _of_strangers(
    round: Round, platform: Platform, postings: Sequence[Posting], there: dict[str, ListedPosting]
) -> Iterator[Difference]:
    """Postings on the platform with this round's terms, or from one of its calls, that have no row here.

    Rounds with the same terms share their id on the platform: postings from calls of another round are left to it.
    """
    here = Posting.objects.filter(channel=round.channel, environment=round.environment)
    known = set(here.values_list("external_id", flat=True))
    terms = {posting.terms_id for posting in postings} - {""}
    calls = {str(row.pk): row for row in Outbox.objects.filter(call=Outbox.Call.PUBLISH, environment=round.environment)}
    for other in there.values():
        if other.external_id in known or (other.token in calls and calls[other.token].round_id != round.pk):
            continue
        call = calls.get(other.token)
        if call and call.state != Outbox.State.DONE:
            remedy = "make the call again, which finds it"
            act = partial(_resume, call)
            is_call = False
        elif call or other.terms_id in terms:
            remedy = "close it"
            act = partial(platform.withdraw, other.external_id, environment=round.environment)
            is_call = True
        else:
            continue
        yield Difference(Kind.ONLY_THERE, f"posting {other.external_id}", "-", "posted", remedy, act, is_call)


def _of_posting(posting: Posting, there: ListedPosting | None) -> Iterator[Difference]:
    name = f"{posting.label} ({posting.external_id or 'not posted'})"
    round = posting.round
    if there is None and posting.state in (Posting.State.LIVE, Posting.State.CLOSED) and posting.settled_at is None:
        yield Difference(Kind.ONLY_HERE, name, posting.state, "-", "record that it is gone", partial(_gone, posting))
    if there is None and posting.state == Posting.State.PLANNED:
        call = Outbox.objects.filter(call=Outbox.Call.PUBLISH, subject=subject_of(posting)).first()
        resume = partial(_resume, call) if call else None
        yield Difference(Kind.ONLY_HERE, name, posting.state, "-", "make the call to post it", resume)
    if there and there.reward != round.reward:
        remedy = "check it: terms cannot be changed automatically"
        yield Difference(Kind.OTHER_AMOUNT, name, f"${round.reward} reward", f"${there.reward} reward", remedy)
    if there and posting.state == Posting.State.LIVE and there.max_assignments != posting.max_assignments:
        sizes = f"{posting.max_assignments} answer sets", f"{there.max_assignments} answer sets"
        is_short = there.max_assignments < posting.max_assignments
        remedy = "post the missing ones" if is_short else "check it: posted answer sets cannot be reduced"
        yield Difference(Kind.OTHER_AMOUNT, name, *sizes, remedy, partial(_extend, posting) if is_short else None)


def _of_work(posting: Posting, listing: Listing) -> Iterator[Difference]:
    here = {visit.external_id: visit for visit in posting.visits.listed().select_related("assignment")}
    for listed in listing.assignments:
        if listed.status not in Visit.LISTED:  # a session without a submission, which no book has
            continue
        name = f"assignment {listed.external_id}"
        visit = here.pop(listed.external_id, None)
        if visit is None and not is_work(listed):
            continue
        if visit is None:
            take = partial(_keep, posting, listed)
            yield Difference(Kind.ONLY_THERE, name, "-", listed.status, "collect it", take)
        else:
            yield from _of_visit(posting, visit, listed)
    for visit in here.values():
        name = f"assignment {visit.external_id}"
        remedy = "check it: the platform listed it before"
        yield Difference(Kind.ONLY_HERE, name, visit.state, "-", remedy)


def _of_visit(posting: Posting, visit: Visit, listed: Listed) -> Iterator[Difference]:
    name = f"assignment {visit.external_id}"
    here = visit.state
    assignment = visit.assignment
    if here != listed.status:
        take = partial(_keep, posting, listed)
        yield Difference(Kind.OTHER_STATUS, name, here, listed.status, "store the platform's status", take)
    if assignment.is_claim:
        return
    reward = assignment.payments.filter(kind=Payment.Kind.REWARD).first()
    paid = reward.state if reward else "not owed"
    if listed.status == Visit.State.APPROVED and paid != Payment.State.PAID:
        note = partial(mark_reward_paid, assignment)
        yield Difference(Kind.OTHER_STATUS, f"pay for {name}", paid, "paid", "record the payment", note)
    if listed.status != Visit.State.APPROVED and reward and reward.state == Payment.State.PAID:
        again = partial(_pay_again, reward)
        yield Difference(Kind.OTHER_STATUS, f"pay for {name}", "paid", "not paid", "pay it", again)


def _of_bonuses(posting: Posting, paid: Sequence[Bonus]) -> Iterator[Difference]:
    payments = Payment.objects.filter(
        assignment__visit__posting=posting,
        kind=Payment.Kind.BONUS,
        state=Payment.State.PAID,
    )
    if any(bonus.reason is None for bonus in paid) or not posting.hit:
        yield from _of_sums(paid, payments)
        return
    here = {(bonus.assignment.outside_key, bonus.reason): bonus for bonus in payments.select_related("assignment")}
    for bonus in paid:
        payment = here.pop((bonus.assignment_id, bonus.reason or ""), None)
        amount: Decimal | None = payment.amount if payment else None
        if amount != bonus.amount:
            kind = Kind.OTHER_AMOUNT if payment else Kind.ONLY_THERE
            remedy = "check it: paid money cannot be taken back"
            name = f"bonus for assignment {bonus.assignment_id}"
            yield Difference(kind, name, f"${amount}" if payment else "-", f"${bonus.amount}", remedy)
    for (assignment_id, _), missing in here.items():
        name = f"bonus for assignment {assignment_id}"
        again = partial(_pay_again, missing)
        yield Difference(Kind.ONLY_HERE, name, f"${missing.amount}", "-", "pay it", again)


def _of_unclear(round: Round) -> Iterator[Difference]:
    """Payments that were sent without a clear result, and that the platform lists by now."""
    for row in unclear_payments().filter(round=round):
        if patiently(partial(is_listed, row)):
            payment = payment_of(row)
            note = partial(settle, row, was_paid=True, by="repair")
            name = f"bonus for assignment {payment.assignment.outside_key}"
            yield Difference(Kind.OTHER_STATUS, name, "unclear", f"${payment.amount} paid", "record the payment", note)


def _of_sums(paid: Sequence[Bonus], payments: QuerySet[Payment]) -> Iterator[Difference]:
    """Compare the sums of bonuses by submission, as this platform lists no reasons. It lists bonuses late, so nothing
    is paid again here."""
    there: dict[str, Decimal] = defaultdict(Decimal)
    here: dict[str, Decimal] = defaultdict(Decimal)
    for bonus in paid:
        there[bonus.assignment_id] += bonus.amount
    for payment in payments.select_related("assignment"):
        here[payment.assignment.outside_key] += payment.amount
    for key in sorted(there.keys() | here.keys()):
        if here[key] != there[key]:
            remedy = "check it on the platform: bonuses are listed late, and none is paid again from here"
            name = f"bonuses for assignment {key}"
            yield Difference(Kind.OTHER_AMOUNT, name, f"${cents(here[key])}", f"${cents(there[key])}", remedy)


def _keep(posting: Posting, listed: Listed) -> int:
    return keep(posting, listed) if posting.hit else keep_sessions(posting, [listed], all_of_them=False)


def _resume(call: Outbox) -> None:
    if not send_again(call, actor="repair"):
        posting = Posting.objects.get(pk=call.subject.partition(":")[2])
        put(Outbox.Call.PUBLISH, posting, round=call.round, channel=call.channel, environment=call.environment)


def _gone(posting: Posting) -> None:
    """Record that the posting is gone: no submission will come, and the platform holds no money for it."""
    mark_closed(posting)
    mark_over(posting, unused=posting.unused)
    mark_disposed(posting)


def _extend(posting: Posting) -> None:
    put(Outbox.Call.EXTEND, posting, round=posting.round, **posting.market)


def _pay_again(payment: Payment) -> None:
    """Owe again what the platform has not paid. The call reads the platform's list before it pays."""
    if mark_unpaid(payment, actor="repair"):
        order_payment(payment)
