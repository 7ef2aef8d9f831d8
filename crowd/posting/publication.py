"""Publish a round on a channel, and close it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from annotation.models import Admission
from annotation.money.budget import locked
from annotation.money.wages import Expectation, check_wage
from annotation.work.judgments import answers_in
from core import clock
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import counted
from core.work.authority import check_authority
from crowd import channels
from crowd.channels import is_by_session, market_of
from crowd.channels.base import AsksFees, ChannelError, Platform
from crowd.offers import Offer, offer_of
from crowd.posting.postings import close_postings, post_open_seats
from hits.models import Item, Round, Seat
from hits.prices import cents
from hits.rounds.packed_rounds import missing_pictures
from integrations.notifications import notify

BELOW_FLOOR = "hits.publish_below_floor"  # the permission
TERMS = ("offer", "fees", "settles", "rehearsal")
BEGUN = Q(published_at__isnull=False) | Exists(answers_in(OuterRef("pk")))
"""Rounds that were published, and drafts with judgments that were given elsewhere."""


@dataclass(frozen=True)
class Quote:
    """The cost of ``seats`` answer sets in US dollars: for each its ``reward`` and the channel's ``fee``."""

    seats: int
    reward: Decimal
    fee: Decimal

    @property
    def rewards(self) -> Decimal:
        return self.reward * self.seats

    @property
    def fees(self) -> Decimal:
        return self.fee * self.seats

    @property
    def total(self) -> Decimal:
        return self.rewards + self.fees


def publish_round(
    round: Round,
    *,
    channel: str = "browser",
    environment: str = "",
    offer: Offer | None = None,
    admission: Admission | None = None,
    skip_missing: bool = False,
    pilot: Round | None = None,
    expected_minutes: Decimal | None = None,
    below_floor: bool = False,
    ceiling: Decimal | None = None,
    cost: Decimal | None = None,
    actor: str,
) -> Round:
    """Open a draft round on a channel. A round that is already open there is not changed.

    ``offer`` is what a platform shows and requires (default: that of its type of task), ``admission`` limits who may
    join in the browser pool. ``skip_missing``: publish although pictures are missing; their pairs are shown without
    one. ``pilot`` or ``expected_minutes`` give the time of a HIT; ``below_floor``: slow workers may earn less than the
    round's wage floor if the time is unknown (``annotation.money.wages.check_wage``). ``ceiling`` and ``cost``
    were agreed on, in US dollars (default: the present ceiling, and any cost below it).
    Raises CounterpartError, and publishes nothing, for an unknown channel or environment, a round that is closed or
    open elsewhere, missing pictures, an admission on a platform, a cost above the round's ceiling or the agreed one,
    another ceiling than the agreed one, a reward below its wage floor, HITs longer than their time limit, and a
    platform that cannot be used or whose balance is too low.
    """
    environment = _checked(channel, environment)
    round.refresh_from_db()
    if _is_open_on(round, channel, environment):
        return round
    admission = admission or Admission()
    ceiling = round.ceiling if ceiling is None else ceiling
    missing = missing_pictures(round)
    expected = check_publishable(
        round,
        channel=channel,
        environment=environment,
        offer=offer_of(round, offer),
        admission=admission,
        missing=[] if skip_missing else missing,
        pilot=pilot,
        expected_minutes=expected_minutes,
        below_floor=below_floor,
    )
    with transaction.atomic():
        _hold_to_terms(round, channel, ceiling, cost)
        check_authority(*([BELOW_FLOOR] if below_floor else []))
        draft = Round.objects.filter(pk=round.pk, published_at=None, closed_at=None)
        where = {"channel": channel, "environment": environment}
        terms = {name: getattr(round, name) for name in TERMS}
        won = draft.update(published_at=clock.now(), expected_seconds=expected.seconds, **where, **terms)
        round.refresh_from_db()
        if won:
            facts = {"missing": len(missing), **asdict(expected), **admission.terms()}
            _open_to_workers(round, admission, facts, actor=actor)
        else:
            _is_open_on(round, channel, environment)
    return round


def _hold_to_terms(round: Round, channel: str, ceiling: Decimal, cost: Decimal | None) -> None:
    """Lock the round. Raise CounterpartError for another ceiling than was agreed on, and for a higher cost."""
    held = locked(round)
    if held.ceiling != ceiling:
        raise CounterpartError(
            f"The ceiling of round {round} is ${held.ceiling}, not ${ceiling} as agreed. Nothing was published: check "
            "it, then publish again."
        )
    total = quote(round, channel).total
    if cost is not None and total > cost:
        raise CounterpartError(
            f"Round {round} costs ${total}, more than the ${cost} agreed. Nothing was published: check it, then "
            "publish again."
        )


def _open_to_workers(round: Round, admission: Admission, facts: dict[str, object], *, actor: str) -> None:
    where = {"channel": round.channel, "environment": round.environment}
    record("published", round, actor=actor, **where, **facts)
    notify("round.published", f"/rounds/{round.name}", id=round.name, **where)
    if admission.terms():
        admission.round = round
        admission.save()
    post_open_seats(round)


def check_publishable(
    round: Round,
    *,
    channel: str,
    environment: str,
    offer: Offer,
    admission: Admission,
    missing: Sequence[str],
    pilot: Round | None = None,
    expected_minutes: Decimal | None = None,
    below_floor: bool = False,
) -> Expectation:
    """Return the expected time of a HIT if the draft can be published like this now. Stores nothing, but sets the terms
    on ``round``, which its cost depends on. Raises CounterpartError as ``publish_round`` does."""
    _check_offer(round, channel, offer)
    set_terms(round, channel=channel, environment=environment, offer=offer)
    if admission.terms() and round.settles:
        raise CounterpartError(
            f"capacity, per_worker, test, practice and invited are for the browser pool: leave them out on {channel}, "
            "which admits workers itself."
        )
    _refuse_shown_before(round, admission)
    _preflight(round, channel, missing)
    expected = check_wage(round, pilot=pilot, expected_minutes=expected_minutes, below_floor=below_floor)
    _check_time(channel, offer, expected)
    round.expected_seconds = expected.seconds
    _check_platform(round, channel, environment)
    return expected


def _check_offer(round: Round, channel: str, offer: Offer) -> None:
    """Raise CounterpartError if the offer sets fields that the channel does not support."""
    place = channels.get(channel)
    plain = offer_of(Round(task=round.task, design=round.design))
    if named := sorted(name for name in place.unused if getattr(offer, name) != getattr(plain, name)):
        raise CounterpartError(f"On {place.label} you cannot choose {', '.join(named)}: leave the default.")


def _check_time(channel: str, offer: Offer, expected: Expectation) -> None:
    """Raise CounterpartError for HITs that take longer than their time limit; sessions get the time they need."""
    if is_by_session(channel):
        return
    is_platform = isinstance(channels.get(channel), Platform)
    limit = offer.minutes if is_platform else settings.LEASE_MINUTES
    if expected.seconds and expected.seconds > limit * 60:
        way = "give them more --minutes" if is_platform else "raise the setting LEASE_MINUTES"
        raise CounterpartError(
            f"A HIT takes {expected.seconds / 60:.0f} minutes, but workers have {limit} for it: {way}, or pack smaller "
            "HITs."
        )


def _refuse_shown_before(round: Round, admission: Admission) -> None:
    """Raise CounterpartError for pairs of the test or the practice in the HITs: workers who join have seen them."""
    for test in filter(None, (admission.test, admission.practice)):
        same = test.items.filter(image=OuterRef("image"), caption=OuterRef("caption"))
        asked = Item.objects.filter(Exists(same), hit__round=round).values("image", "caption").distinct().count()
        if asked:
            raise CounterpartError(
                f"HITs of round {round} ask for {counted(asked, 'pair')} of the test {test}, but workers judge a pair "
                "only once. Make another test: a new one leaves out the pairs of open and planned rounds."
            )


def can_close(round: Round) -> bool:
    """Whether the round is open, or a draft with judgments that were given elsewhere."""
    return Round.objects.filter(BEGUN, pk=round.pk, closed_at=None).exists()


def close_round(round: Round, *, actor: str) -> Round:
    """Close an open round: no seat is leased from then on, but leased ones may still be submitted. Close a draft whose
    judgments were given elsewhere: it cannot be published afterwards. Repeating it changes nothing.

    Raises CounterpartError for a draft without judgments.
    """
    with transaction.atomic():
        won = Round.objects.filter(BEGUN, pk=round.pk, closed_at=None).update(closed_at=clock.now())
        round.refresh_from_db()
        if round.state == "draft":
            raise CounterpartError(
                f"Round {round} was never published and has no judgments, so it cannot be closed: import some, publish "
                "it or discard it."
            )
        check_authority()
        if won:
            record("closed", round, actor=actor)
            notify("round.closed", f"/rounds/{round.name}", id=round.name)
            close_postings(round)
    return round


def join_link(round: Round) -> str:
    """Return the address at which workers join a round of the browser pool."""
    return f"{settings.SITE_URL}/judge/join/{round.join_key}/"


def set_terms(round: Round, *, channel: str, environment: str, offer: Offer) -> None:
    """Set on ``round``, without storing it, the terms that it keeps from its publication on."""
    place = channels.get(channel)
    round.offer = offer.as_json()
    round.fees = place.fees(top_workers=offer.top_workers).as_json()
    round.settles = isinstance(place, Platform)
    round.rehearsal = market_of(channel, environment).rehearsal


def quote(round: Round, channel: str) -> Quote:
    """Return the cost of all seats of the round on ``channel`` with the round's offer, by the fees that the platform
    named at publication, or else by those of the channel."""
    place = channels.get(channel)
    asked = isinstance(place, AsksFees) and round.fees
    fees = round.fee_schedule if asked else place.fees(top_workers=offer_of(round).top_workers)
    return Quote(Seat.objects.filter(round=round).count(), cents(round.reward), fees.reward_fee(round.reward))


def _checked(channel: str, environment: str) -> str:
    """Return the environment; without a name, the channel's first. Raises CounterpartError for an unknown one."""
    environments = channels.get(channel).environments or ("",)
    if not environment or environment in environments:
        return environment or environments[0]
    known = f"choose one of {some_of(environments)}" if environments[0] else "leave it out"
    raise CounterpartError(f"Channel {channel!r} has no environment {environment!r}: {known}.")


def _is_open_on(round: Round, channel: str, environment: str) -> bool:
    """Whether the round is open there. Raises CounterpartError if it is closed or open elsewhere."""
    if round.state == "draft":
        return False
    if round.state == "closed":
        raise CounterpartError(f"Round {round} was closed on {round.closed_at:%Y-%m-%d}: pack a new one.")
    if (round.channel, round.environment) != (channel, environment):
        raise CounterpartError(
            f"Round {round} is open on {round.channel} {round.environment}".rstrip() + " already: close it first."
        )
    return True


def _preflight(round: Round, channel: str, missing: Sequence[str]) -> None:
    if missing:
        raise CounterpartError(
            f"{counted(len(missing), f'picture of round {round} is', f'pictures of round {round} are')} missing: "
            f"{some_of(missing)}. "
            "Import the collection again with --images, or pass --skip-missing to show those pairs without one."
        )
    if not quote(round, channel).seats:
        raise CounterpartError(f"Round {round} has no seats to publish: pack it again.")
    if not isinstance(channels.get(channel), AsksFees):
        _check_ceiling(round, channel)


def _check_ceiling(round: Round, channel: str) -> None:
    cost = quote(round, channel).total
    if cost > round.ceiling:
        raise CounterpartError(
            f"Round {round} would cost ${cost} on {channel}, above its ceiling of ${round.ceiling}: "
            "pack it again with a higher --ceiling, a lower --reward or fewer pairs."
        )


def _check_platform(round: Round, channel: str, environment: str) -> None:
    """Set the fees that the platform itself names. Raises CounterpartError for a platform that cannot be used, a round
    that it would refuse, a cost above the round's ceiling, and an account whose balance is too low."""
    platform = channels.get(channel)
    if not isinstance(platform, Platform):
        return
    try:
        platform.check(environment)
        if isinstance(platform, AsksFees):
            round.fees = platform.ask_fees(environment, round, quote(round, channel).seats).as_json()
            _check_ceiling(round, channel)
        funds = platform.funds(environment)
    except ChannelError as error:
        raise CounterpartError(f"Nothing was published. {error}") from error
    cost = quote(round, channel).total
    if funds < cost:
        raise CounterpartError(
            f"Round {round} would cost ${cost} on {channel}, but the balance in {environment} is ${funds}: "
            "add money to the account, or pack fewer pairs."
        )
