"""The fields of a round that calls, commands and pages show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from ninja import Field, Schema
from pydantic import BeforeValidator

from annotation.money.ledger import Balance, balances_of
from annotation.platforms import Hold
from annotation.work.standing import Standing, standings
from annotation.work.standstill import find_holds
from console.api.row_fields import Named, address
from console.pagination import count_of
from crowd.posting.halts import pauses_of
from crowd.posting.publication import join_link
from hits.models import HIT, Round, Seat
from hits.prices import cents

Dollars = Annotated[str, BeforeValidator(lambda amount: str(cents(amount)))]


@dataclass(frozen=True)
class RoundState:
    """A round with its counts, which are made for many rounds at once."""

    round: Round
    standing: Standing
    balance: Balance
    paused_by: str

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the row itself."""
        return getattr(self.round, name)


class Progress(Schema):
    """Answer sets: ``wanted`` in all; of these ``filled`` count, ``flagged`` wait for a person, ``at_work`` are with a
    worker and ``open`` are free."""

    wanted: int
    filled: int
    flagged: Annotated[int, Field(validation_alias="waiting")]
    at_work: int
    open: int

    @staticmethod
    def resolve_at_work(standing: Standing) -> int:
        return max(standing.seats[Seat.State.TAKEN] - standing.waiting, 0)

    @staticmethod
    def resolve_open(standing: Standing) -> int:
        return standing.seats[Seat.State.OPEN]


class Ledger(Schema):
    """US dollars as decimal text, fees included: the accounts of the round, which sum to zero with ``ceiling``."""

    ceiling: str
    free: Dollars
    planned: Dollars
    held: Dollars
    owed: Dollars
    paid: Dollars
    fees: Dollars


class RoundAnswer(Schema):
    """A round: a pool packed into HITs, and the progress of its judging."""

    name: str
    url: Annotated[str, Field(validation_alias="name"), address("round")]
    collection: Annotated[Named, Field(validation_alias="pool.collection")]
    pool: Named
    sample: Annotated[Named, Field(validation_alias="pool.sample")]
    task: str
    state: Literal["draft", "open", "closed"]
    paused: Annotated[
        bool,
        Field(description="no new worker is given a HIT until the round is resumed", validation_alias="paused_by"),
        BeforeValidator(bool),
    ]
    paused_by: Annotated[str, Field(description="us, a person here, the platform, or on the platform, not from here")]
    channel: str
    environment: str
    reward: Annotated[str, BeforeValidator(str)]
    expected_cost: Annotated[
        Dollars,
        Field(description="cost once all answer sets are in, fees included", validation_alias="standing.expected_cost"),
    ]
    replication: int
    hits: Annotated[int, Field(validation_alias="n_hits")]
    created_at: datetime
    published_at: datetime | None
    closed_at: datetime | None
    progress: Annotated[Progress, Field(validation_alias="standing")]
    ledger: Ledger
    join_link: Annotated[str | None, Field(description="where workers join an open round of the browser pool")]

    @staticmethod
    def resolve_ledger(round: RoundState) -> dict[str, Any]:
        return round.balance.accounts() | {"ceiling": str(round.ceiling)}

    @staticmethod
    def resolve_join_link(round: RoundState) -> str | None:
        return join_link(round.round) if is_joined_here(round.round) else None


class HoldAnswer(Schema):
    """A reason why a round waits, and the command that helps. ``goes_on``: it ends by itself; ``by``: who caused it,
    where that is known."""

    kind: str
    text: str
    command: str
    by: str
    goes_on: bool


class RoundDetail(RoundAnswer):
    """A round, and the reasons why it waits: an empty list if it is complete."""

    waits_for: list[HoldAnswer]

    @staticmethod
    def resolve_waits_for(round: RoundState) -> Sequence[Hold]:
        return find_holds(round.round, round.standing)


def round_or_404(name: str) -> Round:
    """Return the round of this name with the rows that it names."""
    return get_object_or_404(Round.objects.select_related("pool__collection", "pool__sample"), name=name)


def is_joined_here(round: Round) -> bool:
    """Whether people join the round by links from here."""
    return round.state == "open" and round.channel == "browser"


def counted_rounds() -> QuerySet[Round]:
    """Return the rounds with ``n_hits``, and the rows that they name."""
    return Round.objects.select_related("pool__collection", "pool__sample").annotate(n_hits=count_of(HIT, "round"))


def with_states(rounds: Iterable[Round]) -> list[RoundState]:
    """Return rounds with their counts, with a constant number of queries."""
    rows = list(rounds)
    standing = standings(rows)
    balances = balances_of(rows)
    pauses = pauses_of(rows)
    return [RoundState(one, standing[one.pk], balances[one.pk], pauses[one.pk]) for one in rows]
