"""A round's money as double entries: what may be spent, is planned, held by the platform, owed, paid and taken as fees.

Every move is written in the transaction of the change that causes it, once a subject and cause, so that all accounts
always sum to zero and each equals what the rows it is about say (``annotation.auditing`` holds them together).
"""

from decimal import Decimal

from django.db.models import Model, Sum

from annotation.amounts import cents, seat_cost
from annotation.models import LedgerEntry, Payment
from core.events import subject_of
from crowd.models import PlatformAssignment, Posting
from hits.models import Round

Account = LedgerEntry.Account

EARNED = (Payment.State.OWED, Payment.State.PAID)


def move(round: Round, amount: Decimal, *, source: str, target: str, subject: Model, cause: str) -> None:
    """Write one entry; the same subject and cause again changes nothing, and so does an amount of zero."""
    if amount:
        LedgerEntry.objects.get_or_create(
            round=round,
            subject=subject_of(subject),
            cause=cause,
            defaults={"amount": amount, "source": source, "target": target},
        )


def numbered(round: Round, subject: Model, cause: str) -> str:
    """Return the cause for one more entry of its kind: ``owed``, then ``owed 2``. The round must be locked, and the
    change that causes it must be one that happens once."""
    entries = LedgerEntry.objects.filter(round=round, subject=subject_of(subject))
    earlier = entries.filter(cause__regex=rf"^{cause}( \d+)?$").count()
    return f"{cause} {earlier + 1}" if earlier else cause


def balances(round: Round) -> dict[str, Decimal]:
    """Return what stands in each account in US dollars. They sum to zero."""
    amounts = dict.fromkeys(Account.values, Decimal("0.00"))
    entries = LedgerEntry.objects.filter(round=round).order_by()
    for source, target, total in entries.values_list("source", "target").annotate(total=Sum("amount")):
        amounts[source] -= cents(total)
        amounts[target] += cents(total)
    return amounts


def locked(round: Round) -> Round:
    """Read the round and hold it until the transaction ends, so that its money moves one change at a time."""
    return Round.objects.select_for_update(no_key=True).get(pk=round.pk)


def note_ceiling(round: Round) -> None:
    """Bring what may be spent to the round's ceiling: opened with it, more where it was raised, less where lowered."""
    change = round.ceiling + balances(round)[Account.OUTSIDE]
    ends = (Account.OUTSIDE, Account.FREE) if change > 0 else (Account.FREE, Account.OUTSIDE)
    cause = numbered(round, round, "ceiling")
    move(round, abs(change), source=ends[0], target=ends[1], subject=round, cause=cause)


def hold(posting: Posting, *, slots: int, cause: str) -> None:
    """The platform sets money aside for ``slots`` answer sets that were planned."""
    round = locked(posting.hit.round)
    amount = seat_cost(round) * slots
    move(round, amount, source=Account.PLANNED, target=Account.HELD, subject=posting, cause=cause)


def release_held(posting: Posting, *, slots: int, cause: str) -> None:
    """The platform lets go of the money for ``slots`` answer sets that will not come."""
    round = locked(posting.hit.round)
    amount = seat_cost(round) * slots
    move(round, amount, source=Account.HELD, target=Account.FREE, subject=posting, cause=cause)


def note_rejected(turn: PlatformAssignment) -> None:
    """The platform lets go of the money for one answer set that it will not pay, unless we owe it all the same."""
    round = locked(turn.posting.hit.round)
    if Payment.objects.filter(assignment=turn.assignment_id, kind=Payment.Kind.REWARD, state__in=EARNED).exists():
        return
    move(round, seat_cost(round), source=Account.HELD, target=Account.FREE, subject=turn, cause="rejected")


def note_owed(payment: Payment) -> None:
    """It was earned: a reward out of what was set aside for its answer set, a bonus out of what is free. To be called
    while the round is locked, as the next one is."""
    _between(payment, fund_of(payment), Account.OWED, "owed")


def note_withdrawn(payment: Payment) -> None:
    """What was owed and not yet paid goes back to where it was taken from."""
    _between(payment, Account.OWED, fund_of(payment), "withdrawn")
    turn = _turn_of(payment)
    if turn and turn.status == PlatformAssignment.Status.REJECTED:
        note_rejected(turn)


def note_paid(payment: Payment) -> None:
    """What was owed has gone: the reward to the worker, the fee to the platform."""
    for amount, account in ((payment.amount, Account.PAID), (payment.fee, Account.FEES)):
        cause = numbered(payment.round, payment, account.value)
        move(payment.round, amount, source=Account.OWED, target=account, subject=payment, cause=cause)


def note_unpaid(payment: Payment) -> None:
    """What was taken for paid has not gone after all, and is owed still."""
    for amount, account in ((payment.amount, Account.PAID), (payment.fee, Account.FEES)):
        cause = numbered(payment.round, payment, f"not {account.value}")
        move(payment.round, amount, source=account, target=Account.OWED, subject=payment, cause=cause)


def fund_of(payment: Payment) -> str:
    """Name the account that a payment comes from. A platform that has rejected work holds no money for it any more."""
    if payment.kind == Payment.Kind.BONUS:
        return Account.FREE
    turn = _turn_of(payment)
    if turn is None:
        return Account.PLANNED
    released = LedgerEntry.objects.filter(round=payment.round_id, subject=subject_of(turn), cause="rejected")
    return Account.FREE if released.exists() else Account.HELD


def _turn_of(payment: Payment) -> PlatformAssignment | None:
    return PlatformAssignment.objects.filter(assignment=payment.assignment_id).first()


def _between(payment: Payment, source: str, target: str, cause: str) -> None:
    round = payment.round
    cause = numbered(round, payment, cause)
    move(round, payment.amount + payment.fee, source=source, target=target, subject=payment, cause=cause)
