"""The balance of our account on a platform, and what our rounds will still take from it."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Sum

from annotation.models import Payment
from annotation.money.ledger import balance_of, balances_of
from core import clock
from core.events import record
from crowd import channels
from crowd.channels.base import ChannelError
from crowd.models import AccountBalance
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


def note_funds(round: Round) -> Funds:
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
    return funds


def noted_funds(round: Round) -> Decimal | None:
    """Return the last known balance of the round's account in US dollars; None if it is unknown."""
    account = AccountBalance.objects.filter(channel=round.channel, environment=round.environment)
    return account.values_list("amount", flat=True).first()


def shortages() -> list[Shortage]:
    """Return the accounts whose last known balance is lower than what our rounds will take from them. The number of
    queries does not depend on the number of rounds."""
    needed = _needed()
    held = {(account.channel, account.environment): account.amount for account in AccountBalance.objects.all()}
    return [
        Shortage(*market, held[market], amount)
        for market, amount in needed.items()
        if market in held and held[market] < amount
    ]


def still_to_fund(round: Round) -> Decimal:
    """Return what the round will still take from the account in US dollars, fees included, beyond what the platform
    already holds: for answer sets to be posted, and bonuses owed."""
    bonuses = Payment.objects.filter(round=round, kind=Payment.Kind.BONUS, state=Payment.State.OWED)
    owed = bonuses.aggregate(total=Sum(F("amount") + F("fee")))["total"] or Decimal(0)
    return balance_of(round).planned + cents(owed)


def _needed() -> dict[tuple[str, str], Decimal]:
    """Return by platform and environment what all rounds there will still take from the account."""
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
    return {market: amount for market, amount in needed.items() if amount > 0}
