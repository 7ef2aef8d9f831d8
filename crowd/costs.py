"""The costs of a round on its platform: by the platform's own calculator, and the amount spent so far."""

from dataclasses import asdict, dataclass
from decimal import Decimal

from django.db.models import Sum

from annotation.money.ledger import balance_of
from core.errors import CounterpartError
from crowd import channels
from crowd.calls.funds import ask_funds
from crowd.channels.base import AsksFees, ChannelError, Platform
from crowd.models import Posting
from hits.models import Round


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
