"""Open a round to workers and close it again."""

from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from corpus.models import Image
from hits import channels
from hits.models import Item, Outbox, Round, Seat
from hits.money import round_cost
from hits.outbox import put
from journal.errors import CounterpartError, some_of
from journal.events import record


def publish_round(
    round: Round, *, channel: str = "browser", environment: str = "", skip_missing: bool = False, actor: str
) -> Round:
    """Open a draft round on a channel; one that is open there already stays as it is.

    ``skip_missing`` publishes although pictures are missing: such pairs are shown without one.
    Raises CounterpartError for an unknown channel or environment, a round that is closed or open elsewhere, missing
    pictures, and a cost above the round's ceiling. Nothing is published then.
    """
    _check_channel(channel, environment)
    round.refresh_from_db()
    if _is_open_on(round, channel, environment):
        return round
    missing = missing_pictures(round)
    _preflight(round, channel, [] if skip_missing else missing)
    with transaction.atomic():
        draft = Round.objects.filter(pk=round.pk, published_at=None, closed_at=None)
        won = draft.update(published_at=timezone.now(), channel=channel, environment=environment)
        round.refresh_from_db()
        if won:
            record("published", round, actor=actor, channel=channel, environment=environment, missing=len(missing))
            put(Outbox.Call.PUBLISH, round, round=round)
    return round


def close_round(round: Round, *, actor: str) -> Round:
    """Give out no more seats of an open round; who holds one may still submit. A closed round stays as it is.

    Raises CounterpartError for a round that was never published.
    """
    with transaction.atomic():
        running = Round.objects.filter(pk=round.pk, published_at__isnull=False, closed_at=None)
        won = running.update(closed_at=timezone.now())
        round.refresh_from_db()
        if round.state == "draft":
            raise CounterpartError(f"Round {round} was never published, so it cannot be closed.")
        if won:
            record("closed", round, actor=actor)
            put(Outbox.Call.CLOSE, round, round=round)
    return round


def join_link(round: Round) -> str:
    """Return the address that workers of the browser pool are given."""
    return f"{settings.SITE_URL}/judge/join/{round.join_key}/"


def published_cost(round: Round, channel: str) -> Decimal:
    """Return what the round costs on ``channel`` in US dollars, fees included, if every seat is paid once."""
    seats = Seat.objects.filter(hit__round=round).count()
    return round_cost(round.reward, assignments=seats, channel=channel)


def missing_pictures(round: Round) -> list[str]:
    """Return the keys of the images that the round's pairs show and that have no file."""
    shown = Item.objects.filter(hit__round=round)
    return list(Image.objects.lacking_file().filter(pk__in=shown.values("image")).values_list("key", flat=True))


def _check_channel(channel: str, environment: str) -> None:
    environments = channels.get(channel).environments
    if environment in (environments or ("",)):
        return
    known = f"choose one of: {some_of(environments)}" if environments else "leave it out"
    raise CounterpartError(f"Channel {channel!r} has no environment {environment!r}; {known}.")


def _is_open_on(round: Round, channel: str, environment: str) -> bool:
    """Whether the round is open just there. Raises CounterpartError if it is open elsewhere or closed."""
    if round.state == "draft":
        return False
    if round.state == "closed":
        raise CounterpartError(f"Round {round} was closed on {round.closed_at:%Y-%m-%d}; pack a new one.")
    if (round.channel, round.environment) != (channel, environment):
        raise CounterpartError(
            f"Round {round} is open on {round.channel} {round.environment}".rstrip() + " already; close it first."
        )
    return True


def _preflight(round: Round, channel: str, missing: list[str]) -> None:
    if missing:
        raise CounterpartError(
            f"{len(missing)} pictures of round {round} are missing: {some_of(missing)}. "
            "Import the collection again with --images, or pass --skip-missing to show those pairs without one."
        )
    cost = published_cost(round, channel)
    if not cost:
        raise CounterpartError(f"Round {round} has no seats to publish; pack it again.")
    if cost > round.ceiling:
        raise CounterpartError(
            f"Round {round} would cost ${cost} on {channel}, past its ceiling of ${round.ceiling}; "
            "pack it again with a higher --ceiling, a lower --reward or fewer pairs."
        )
