"""What a round's platform can still spend for us, and what it will have to."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F, Max, Q, Sum

from annotation.amounts import cents
from annotation.ledger import Account, balances
from annotation.models import LedgerEntry, Payment
from core.events import record, subject_of
from core.models import Event
from crowd import channels
from crowd.channels import ChannelError
from hits.models import Round

NOTED = "account held"


@dataclass(frozen=True)
class Funds:
    """US dollars that the account can spend, or None with the reason why that is not known."""

    amount: Decimal | None
    trouble: str = ""


@dataclass(frozen=True)
class Shortage:
    """An account that holds less than our rounds will take from it, in US dollars."""

    channel: str
    environment: str
    held: Decimal
    needed: Decimal


def ask_funds(channel: str, environment: str) -> Funds:
    """Ask the platform; one that cannot be used or reached is told in ``trouble``."""
    platform = channels.platform(channel)
    try:
        platform.check(environment)
        return Funds(cents(platform.funds(environment)))
    except ChannelError as error:
        return Funds(None, str(error))


def note_funds(round: Round) -> Funds:
    """Ask the round's platform, and keep in the journal what its account holds where that has changed."""
    funds = ask_funds(round.channel, round.environment)
    if funds.amount is not None and funds.amount != noted_funds(round):
        record(NOTED, round, actor="sync", amount=str(funds.amount))
    return funds


def noted_funds(round: Round) -> Decimal | None:
    """Return what the account held when it was last noted, in US dollars; None where it never was."""
    noted = Event.objects.filter(subject=subject_of(round), verb=NOTED).order_by("-id").first()
    return Decimal(noted.data["amount"]) if noted else None


def shortages() -> list[Shortage]:
    """Return the accounts that held less when they were last noted than our rounds will take from them, with as many
    queries for one round as for many."""
    needed = _needed()
    if not needed:
        return []
    rounds = Round.objects.filter(channel__in=channels.CHANNELS, published_at__isnull=False)
    markets = {
        subject_of(one): (one.channel, one.environment) for one in rounds if (one.channel, one.environment) in needed
    }
    noted = Event.objects.filter(subject__in=markets, verb=NOTED)
    latest = noted.filter(pk__in=noted.order_by().values("subject").annotate(last=Max("pk")).values("last"))
    held = {markets[event.subject]: Decimal(event.data["amount"]) for event in latest.order_by("pk")}
    return [Shortage(*market, held[market], needed[market]) for market in held if held[market] < needed[market]]


def still_to_fund(round: Round) -> Decimal:
    """Return what the account must still pay for the round in US dollars, fees included, beyond what the platform has
    set aside: answer sets yet to be posted, and bonuses that are owed."""
    bonuses = Payment.objects.filter(round=round, kind=Payment.Kind.BONUS, state=Payment.State.OWED)
    owed = bonuses.aggregate(total=Sum(F("amount") + F("fee")))["total"] or Decimal(0)
    return balances(round)[Account.PLANNED] + cents(owed)


def _needed() -> dict[tuple[str, str], Decimal]:
    """By platform and environment, what all rounds there will still take from the account."""
    remote = [name for name, channel in channels.CHANNELS.items() if channel.is_remote]
    where = ("round__channel", "round__environment")
    entries = LedgerEntry.objects.filter(round__channel__in=remote).order_by()
    inward, outward = (Sum("amount", filter=Q(**{end: Account.PLANNED})) for end in ("target", "source"))
    needed: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for channel, environment, came, went in entries.values_list(*where).annotate(came=inward, went=outward):
        needed[channel, environment] += cents((came or Decimal(0)) - (went or Decimal(0)))
    bonuses = Payment.objects.filter(round__channel__in=remote, kind=Payment.Kind.BONUS, state=Payment.State.OWED)
    for channel, environment, owed in bonuses.order_by().values_list(*where).annotate(owed=Sum(F("amount") + F("fee"))):
        needed[channel, environment] += cents(owed)
    return {market: amount for market, amount in needed.items() if amount > 0}
