"""The balance of our account on a platform, what our rounds will still take from it, and what a round costs there."""

from collections import defaultdict
from dataclasses import asdict, dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Sum

from annotation.models import Payment
from annotation.money.ledger import balance_of, balances_of
from core import clock
from core.errors import CounterpartError
from core.events import record
from crowd import channels
from crowd.channels.base import AsksFees, ChannelError, Platform
from crowd.models import AccountBalance, Posting
from hits.models import Round
from hits.prices import cents


@dataclass(frozen=True)
class Funds:
    """The account's balance in US dollars, or None with the reason why it is unknown."""

    amount: Decimal | None
    trouble: str = ""


@dataclass(frozen=True)
class Shortage:
    """An account whose balance is lower than what our rounds will take from it, in US dollars."""

    channel: str
    environment: str
    held: Decimal
    needed: Decimal


def ask_funds(channel: str, environment: str) -> Funds:
    """Ask the platform for the balance; ``trouble`` says if it cannot be used or reached."""
    platform = channels.platform(channel)
    try:
        platform.check(environment)
        return Funds(cents(platform.funds(environment)))
    except ChannelError as error:
        return Funds(None, str(error))


def note_funds(round: Round) -> None:
    """Ask the round's platform for the balance, and store it."""
    funds = ask_funds(round.channel, round.environment)
    if funds.amount is not None and funds.amount != noted_funds(round):
        with transaction.atomic():
            AccountBalance.objects.update_or_create(
                channel=round.channel,
                environment=round.environment,
                defaults={"amount": funds.amount, "changed_at": clock.now()},
            )
            record("account held", round, actor="sync", amount=str(funds.amount))


def noted_funds(round: Round) -> Decimal | None:
    """Return the last known balance of the round's account in US dollars; None if it is unknown."""
    account = AccountBalance.objects.filter(channel=round.channel, environment=round.environment)
    return account.values_list("amount", flat=True).first()


def shortages() -> list[Shortage]:
    """Return the accounts whose last known balance is lower than what our rounds will take from them. The number of
    queries does not depend on the number of rounds."""
    platforms = channels.platforms()
    where = ("round__channel", "round__environment")
    needed: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    rounds = list(Round.objects.filter(channel__in=platforms, published_at__isnull=False))
    balances = balances_of(rounds)
    for round in rounds:
        needed[round.channel, round.environment] += balances[round.pk].planned
    bonuses = Payment.objects.filter(round__channel__in=platforms, kind=Payment.Kind.BONUS, state=Payment.State.OWED)
    for channel, environment, owed in bonuses.order_by().values_list(*where).annotate(owed=Sum(F("amount") + F("fee"))):
        needed[channel, environment] += cents(owed)
    held = {(account.channel, account.environment): account.amount for account in AccountBalance.objects.all()}
    return [
        Shortage(*market, held[market], amount)
        for market, amount in needed.items()
        if market in held and held[market] < amount and amount > 0
    ]


def still_to_fund(round: Round) -> Decimal:
    """Return what the round will still take from the account in US dollars, fees included, beyond what the platform
    already holds: for answer sets to be posted, and bonuses owed."""
    bonuses = Payment.objects.filter(round=round, kind=Payment.Kind.BONUS, state=Payment.State.OWED)
    owed = bonuses.aggregate(total=Sum(F("amount") + F("fee")))["total"] or Decimal(0)
    return balance_of(round).planned + cents(owed)


@dataclass(frozen=True)
class Costs:
    """A round's costs in US dollars, fees included: ``all_places`` is what the platform asks for the answer sets that
    it lists, ``spent`` what was paid, ``reserved`` what the platform has set aside, ``to_come`` what is planned for
    answer sets that are still to be posted, ``balance`` what the account has left. None where ``trouble`` says why it
    is unknown."""

    places: int
    all_places: Decimal | None
    spent: Decimal
    owed: Decimal
    reserved: Decimal
    to_come: Decimal
    ceiling: Decimal
    balance: Decimal | None
    trouble: str

    def as_figures(self) -> dict[str, object]:
        unknown = "unknown"
        return {
            name.replace("_", " "): unknown if value is None else str(value) if isinstance(value, Decimal) else value
            for name, value in asdict(self).items()
        }


def costs_of(round: Round) -> Costs:
    """Ask the platform what the round costs there, and compute the rest from its ledger. Changes nothing.

    Raises CounterpartError for a round that is on no platform.
    """
    platform = channels.platforms().get(round.channel)
    if platform is None:
        raise CounterpartError(f"Round {round} is on no platform; its ledger shows what it costs.")
    posted = Posting.objects.filter(round=round).aggregate(places=Sum("posted_assignments", default=0))
    balance = balance_of(round)
    funds = ask_funds(round.channel, round.environment)
    cost, trouble = _asked(platform, round, posted["places"])
    return Costs(
        places=posted["places"],
        all_places=cost,
        spent=balance.commitment.paid + balance.commitment.fees,
        owed=balance.commitment.owed,
        reserved=balance.commitment.held,
        to_come=balance.planned,
        ceiling=balance.ceiling,
        balance=funds.amount,
        trouble=funds.trouble or trouble,
    )


def _asked(platform: Platform, round: Round, places: int) -> tuple[Decimal | None, str]:
    """Return the cost of ``places`` answer sets, or None and why it is unknown."""
    fees = round.fee_schedule
    if isinstance(platform, AsksFees) and places:
        try:
            fees = platform.ask_fees(round.environment, round, places)
        except ChannelError as error:
            return None, str(error)
    return fees.cost(round.reward, assignments=places), ""
