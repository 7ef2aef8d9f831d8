"""A round's money, computed from its payments, seats and postings: no second record exists that could differ."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, DecimalField, F, Q, Sum, TextChoices, Value
from django.db.models.functions import Cast

from annotation import platforms
from annotation.models import Payment
from core.text import csv_line
from hits.models import Round, Seat
from hits.prices import cents

NOTHING = Decimal("0.00")
COLUMNS = ("number", "at", "worker", "assignment", "kind", "reason", "amount", "fee", "state", "paid_at", "simulated")


class Account(TextChoices):
    """Where a round's money is. All accounts sum to zero: ``outside`` is the ceiling, negated."""

    OUTSIDE = "outside"
    FREE = "free", "free (below the ceiling and not committed)"
    PLANNED = "planned", "planned (open seats)"
    HELD = "held", "held (reserved by the platform for posted HITs)"
    OWED = "owed", "owed (earned and not yet paid, with its fee)"
    PAID = "paid", "paid (to workers)"
    FEES = "fees", "fees (to the platform)"


@dataclass(frozen=True)
class Commitment:
    """What a round has spent or must still pay, in US dollars, platform fees included.

    ``seat`` is the cost of one answer set, ``held`` what the platform has set aside for postings. ``due`` counts the
    answer sets that cannot be called off: a worker has them, or the platform is being asked for them.
    ``open`` counts the seats that no worker has taken, where no platform posts them.
    """

    seat: Decimal
    held: Decimal
    due: int
    open: int = 0
    owed: Decimal = NOTHING
    paid: Decimal = NOTHING
    fees: Decimal = NOTHING

    @property
    def gone(self) -> Decimal:
        return self.owed + self.paid + self.fees + self.held

    @property
    def bound(self) -> Decimal:
        """What cannot be taken back: gone, or to be earned by answer sets that are due."""
        return self.gone + self.seat * self.due


@dataclass(frozen=True)
class Balance:
    """A round's commitment under its ceiling. ``waiting`` counts the answer sets that may still come and that no money
    is held for, those that are due included."""

    ceiling: Decimal
    commitment: Commitment
    waiting: int

    @property
    def planned(self) -> Decimal:
        """What is kept for the answer sets that may still come: for as many as the ceiling leaves room for."""
        cost = self.commitment.seat
        # Whole answer sets: a part of one pays no worker.
        room = (self.ceiling - self.commitment.gone) // cost if cost else 0
        return cost * max(min(self.waiting, int(room)), 0)

    @property
    def coming(self) -> int:
        """How many answer sets may still come that no worker has begun and no platform was asked for."""
        return self.waiting - self.commitment.due

    @property
    def unfunded(self) -> int:
        """How many of those the ceiling does not pay for."""
        cost = self.commitment.seat
        left = max(self.ceiling - self.commitment.bound, NOTHING)
        return max(self.coming - int(left // cost), 0) if cost else 0

    @property
    def is_spent(self) -> bool:
        """Whether the ceiling pays for no further answer set, although some may come."""
        return 0 < self.unfunded == self.coming

    @property
    def needed(self) -> Decimal:
        """The ceiling that pays for all of them."""
        return self.commitment.gone + self.commitment.seat * self.waiting

    @property
    def free(self) -> Decimal:
        """The money that is not committed; negative if a platform has paid more than the ceiling."""
        return self.ceiling - self.commitment.gone - self.planned

    def accounts(self) -> dict[str, Decimal]:
        """Return what each account holds. They sum to zero."""
        inside = {name: getattr(self.commitment, name) for name in ("held", "owed", "paid", "fees")}
        return {"outside": -self.ceiling, "free": self.free, "planned": self.planned, **inside}


@dataclass(frozen=True)
class Earner:
    """What one worker has earned in a round in US dollars, by pseudonym: for how many rewards and bonuses, ``base`` by
    rewards and ``extra`` by bonuses, paid and owed. Fees are the platform's. A ``simulated`` one is not paid with real
    money; on an emulator all are."""

    pseudonym: str
    simulated: bool
    rewards: int
    bonuses: int
    base: Decimal
    extra: Decimal
    owed: Decimal
    paid: Decimal
    fees: Decimal


def commitment_of(round: Round) -> Commitment:
    """Return one round's commitment."""
    return _commitments([round])[round.pk]


def balances_of(rounds: Sequence[Round]) -> dict[int, Balance]:
    """Return the balance of each round, by its id, with as many queries for many rounds as for one."""
    commitments = _commitments(rounds)
    is_open = {round.pk for round in rounds if round.state == "open"}
    settling = [round for round in rounds if round.pk in is_open and round.settles]
    short = platforms.postings.seats_without_posting(settling) if settling else Counter[int]()
    balances = {}
    for round in rounds:
        bound = commitments[round.pk]
        may_come = bound.open + short[round.pk] if round.pk in is_open else 0
        balances[round.pk] = Balance(round.ceiling, bound, waiting=bound.due + may_come)
    return balances


def balance_of(round: Round) -> Balance:
    """Return one round's balance."""
    return balances_of([round])[round.pk]


def balances(round: Round) -> dict[str, Decimal]:
    """Return what each account holds in US dollars. They sum to zero, and are all empty before publication."""
    return balance_of(round).accounts() if round.published_at else dict.fromkeys(Account.values, NOTHING)


def accounts_of(round: Round) -> list[tuple[str, str, Decimal]]:
    """Return every account: its name, what it holds in words, and US dollars."""
    amounts = balances(round)
    return [(account.value, account.label, amounts[account]) for account in Account]


def owed_to_simulated(round: Round) -> Decimal:
    """Return what of the money that the round owes, fees included, simulated workers have earned, on an emulator all:
    it is not paid."""
    owed = Payment.objects.filter(round=round, state=Payment.State.OWED)
    theirs = owed if round.rehearsal else owed.filter(assignment__worker__simulated=True)
    return cents(theirs.aggregate(sum=Sum(F("amount") + F("fee")))["sum"] or NOTHING)


def earners_of(round: Round) -> list[Earner]:
    """Return what each worker has earned, the highest sums first."""
    owed = Q(state=Payment.State.OWED)
    paid = Q(state=Payment.State.PAID)
    rows = (
        Payment.objects.filter(round=round, state__in=Payment.EARNED)
        .order_by()
        .values("assignment__worker__pseudonym", "assignment__worker__simulated")
        .annotate(
            rewards=Count("pk", filter=Q(kind=Payment.Kind.REWARD)),
            bonuses=Count("pk", filter=Q(kind=Payment.Kind.BONUS)),
            base=Sum("amount", filter=Q(kind=Payment.Kind.REWARD)),
            extra=Sum("amount", filter=Q(kind=Payment.Kind.BONUS)),
            owed=Sum("amount", filter=owed),
            paid=Sum("amount", filter=paid),
            fees=Sum("fee"),
        )
    )
    earners = [
        Earner(
            row["assignment__worker__pseudonym"],
            row["assignment__worker__simulated"] or round.rehearsal,
            row["rewards"],
            row["bonuses"],
            *(cents(row[name] or NOTHING) for name in ("base", "extra", "owed", "paid", "fees")),
        )
        for row in rows
    ]
    return sorted(earners, key=lambda earner: (-earner.owed - earner.paid, earner.pseudonym))


def total_of(earners: Sequence[Earner]) -> Earner:
    """Return the sums of what workers have earned."""
    names = ("rewards", "bonuses", "base", "extra", "owed", "paid", "fees")
    return Earner("", False, **{name: sum((getattr(one, name) for one in earners), start=0) for name in names})


def payments_as_csv(round: Round) -> Iterator[str]:
    """Yield the round's payments as CSV, the oldest first; no worker's platform id is in it."""
    payments = Payment.objects.filter(round=round).select_related("assignment__worker").order_by("pk")
    yield csv_line(COLUMNS)
    for payment in payments.iterator():
        yield csv_line(
            (
                payment.pk,
                payment.created_at.isoformat(timespec="seconds"),
                payment.assignment.worker.pseudonym,
                payment.assignment_id,
                payment.kind,
                payment.reason,
                payment.amount,
                payment.fee,
                payment.state,
                payment.paid_at.isoformat(timespec="seconds") if payment.paid_at else "",
                int(payment.assignment.worker.simulated or round.rehearsal),
            )
        )


def _commitments(rounds: Sequence[Round]) -> dict[int, Commitment]:
    settling = [round for round in rounds if round.settles]
    asked = platforms.postings.answer_sets_due(settling) if settling else {}
    sums = _sums(rounds)
    commitments = {}
    for round in rounds:
        owed, fees_owed = sums[round.pk, Payment.State.OWED]
        paid, fees = sums[round.pk, Payment.State.PAID]
        # On a platform, what it was asked for is due; in the browser pool, the seats that workers have taken.
        held, due = asked.get(round.pk, (0, int(sums[round.pk, Seat.State.TAKEN][0])))
        commitments[round.pk] = Commitment(
            round.seat_cost,
            held=round.seat_cost * held,
            due=due,
            open=int(sums[round.pk, Seat.State.OPEN][0]),
            owed=cents(owed + fees_owed),
            paid=cents(paid),
            fees=cents(fees),
        )
    return commitments


def _sums(rounds: Sequence[Round]) -> dict[tuple[int, str], tuple[Decimal, Decimal]]:
    """Return, by round and state, the amounts and fees of its payments, and how many of its seats are open or taken,
    with no fee; seats on platforms are not counted.

    In one query: work is accepted without a lock of the round, and its pay would be counted as owed and as still to be
    earned, or as neither, between two.
    """
    earned = Payment.objects.filter(round__in=rounds, state__in=Payment.EARNED).order_by()
    seats = Seat.objects.filter(round__in=[round for round in rounds if not round.settles], state__in=Seat.UNFILLED)
    number = DecimalField(max_digits=12, decimal_places=2)
    rows = (
        earned.values_list("round", "state")
        .annotate(sum=Sum("amount"), fees=Sum("fee"))
        .union(
            seats.order_by()
            .values_list("round", "state")
            .annotate(sum=Cast(Count("pk"), number), fees=Value(Decimal(0), number)),
            all=True,
        )
    )
    sums = {(round, state): (amount, fees) for round, state, amount, fees in rows}
    return defaultdict(lambda: (NOTHING, NOTHING), sums)
