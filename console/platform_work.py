"""What jobs do with a round on its platform: publish it, bring the two together, hold them against each other."""

from decimal import Decimal
from typing import Any

from django.db import transaction

from annotation.masking import mask_workers
from console.counting import counted
from core.errors import CounterpartError
from core.events import record
from core.progress import Progress
from crowd.channels.markets import market_of
from crowd.differences import Difference, find_differences, mend
from crowd.funds import note_funds
from crowd.models import Audit, Outbox
from crowd.offers import Offer
from crowd.outbox import deliver_due, send_failed_again
from crowd.overview import overview_of
from crowd.publishing import close_round, publish_round
from crowd.syncing import sync_round
from hits.models import Round

MOST_TOLD = 3  # things that went wrong, told in one line
MOST_KEPT = 500  # differences that one audit keeps


def publish_on_platform(params: dict[str, Any], *, actor: str, progress: Progress) -> str:
    """Open the round, then make every call; returns what stands there. Repeating it goes on where it stopped.

    Raises CounterpartError as ``publish_round`` does, and where calls failed.
    """
    progress("writing down what is to be posted", 0, None)
    minutes, offer = params["expected_minutes"], params["offer"]
    round = publish_round(
        Round.objects.named(params["round"]),
        channel=params["channel"],
        environment=params["environment"],
        offer=Offer(**offer | {"countries": tuple(offer["countries"])}),
        skip_missing=params["skip_missing"],
        pilot=Round.objects.named(params["pilot"]) if params["pilot"] else None,
        expected_minutes=None if minutes is None else Decimal(minutes),
        actor=actor,
    )
    send_failed_again(round, actor=actor)
    deliver_due(round, progress=progress)
    note_funds(round)
    return _posted(round)


def close_on_platform(round: Round, *, actor: str, progress: Progress) -> str:
    """Close the round and take its HITs off the market; returns what still stands there. Raises CounterpartError as
    ``close_round`` does, and where calls failed."""
    progress("closing the round", 0, None)
    close_round(round, actor=actor)
    deliver_due(round, progress=progress)
    stands = overview_of(round)
    left = counted(stands.postings["live"] + stands.postings["planned"], "HIT")
    if failed := round.calls.filter(call=Outbox.Call.CLOSE, state=Outbox.State.FAILED).count():
        told = f"Round {round} is closed, but {counted(failed, 'HIT')} could not be taken off the market"
        raise CounterpartError(f"{told}; send the failed calls again on its page.")
    return f"Round {round} is closed; {left} still to be taken off the market."


def sync_on_platform(round: Round, *, progress: Progress) -> str:
    """Bring the round and its platform together; returns what that brought.

    Raises CounterpartError for a round on no platform, and where nothing could be listed.
    """
    synced = sync_round(round, progress=progress)
    note_funds(round)
    if synced.found_nobody:
        raise CounterpartError(f"Nothing could be read. {mask_workers(synced.failures)[0]}")
    told = (
        f"{counted(synced.listed, 'HIT was', 'HITs were')} read: {counted(synced.submitted, 'new submission')}, "
        f"{synced.taken_in:,} taken in, {counted(synced.asked_for, 'answer set')} asked for anew, "
        f"{counted(synced.calls_made, 'call')} made."
    )
    wrong = " ".join(mask_workers(synced.failures[:MOST_TOLD]))
    return f"{told} {counted(len(synced.failures), 'thing')} went wrong: {wrong}" if wrong else told


def audit_round(round: Round, *, actor: str, progress: Progress) -> str:
    """Compare the round with its platform, and keep what differs; nothing else changes.

    Raises CounterpartError as ``find_differences`` does.
    """
    return keep_audit(round, find_differences(round, progress=progress), actor=actor)


def repair_round(audit: Audit, *, actor: str, progress: Progress) -> str:
    """Repair the differences that ``audit`` lists and that still exist; then audit the round again.

    Raises CounterpartError as ``find_differences`` does.
    """
    round, told = audit.round, [_bare(row) for row in audit.differences if row["mends"]]
    found = find_differences(round, progress=progress)
    agreed = [one for one in found if _figures(one) in told]
    mended = mend(round, agreed, actor=actor)
    deliver_due(round, progress=progress)
    left = keep_audit(round, find_differences(round, progress=progress), actor=actor, repaired=mended)
    return f"{mended:,} of {counted(len(told), 'difference')} mended. {left}"


def keep_audit(round: Round, found: list[Difference], *, actor: str, repaired: int | None = None) -> str:
    """Store an audit; return its outcome in a sentence."""
    rows = [_figures(one) | {"mends": one.mend is not None} for one in found[:MOST_KEPT]]
    with transaction.atomic():
        Audit.objects.create(round=round, by=actor, differences=rows, repaired=repaired)
        record("audited", round, actor=actor, differences=len(found))
    return f"{counted(len(found), 'difference')} to the platform." if found else "Both sides agree."


def _figures(difference: Difference) -> dict[str, str]:
    """The words of a difference, no worker's platform id among them."""
    figures = difference.as_figures()
    return dict(zip(figures, mask_workers([*figures.values()]), strict=True))


def _bare(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "mends"}


def _posted(round: Round) -> str:
    stands, market = overview_of(round), market_of(round.channel, round.environment)
    told = f"{stands.standing:,} of {sum(stands.postings.values()):,} HITs stand on {market}."
    errors = mask_workers([*round.calls.exclude(error="").exclude(state="done").values_list("error", flat=True)[:1]])
    why = f" The first error: {errors[0]}" if errors else ""
    if stands.failed:
        raise CounterpartError(
            f"Round {round} is open and {told} {counted(stands.failed, 'call')} failed; send again on its page.{why}"
        )
    waits = (
        f" {counted(stands.waiting, 'call')} still to be made, which happens by itself.{why}" if stands.waiting else ""
    )
    return f"Round {round} is open: {told}{waits}"
