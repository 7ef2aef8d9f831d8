"""What background jobs do with a round on its platform: publish, close, sync, audit and repair."""

from decimal import Decimal
from typing import Any

from django.db import transaction

from annotation.workers import mask_workers
from core.errors import CounterpartError
from core.events import record
from core.progress import Progress
from core.text import counted
from crowd.channels import listed_as, market_of
from crowd.differences import Difference, find_differences, repair
from crowd.funds import note_funds
from crowd.models import Audit, Outbox
from crowd.offers import Offer
from crowd.outbox import deliver_due, send_failed_again, send_waiting
from crowd.postings import overview_of
from crowd.publication import close_round, publish_round
from crowd.sync import sync_round
from hits.models import Round

MOST_ERRORS = 3  # shown in one line
MOST_DIFFERENCES = 500  # stored by one audit


def publish_on_platform(params: dict[str, Any], *, actor: str, progress: Progress) -> str:
    """Open the round and make all platform calls; return the outcome in a sentence. Running it again resumes.

    Raises CounterpartError as ``publish_round`` does, and if calls failed.
    """
    progress("preparing the postings", 0, None)
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
    send_waiting(round)
    deliver_due(round, progress=progress)
    note_funds(round)
    return _posted(round)


def close_on_platform(round: Round, *, actor: str, progress: Progress) -> str:
    """Close the round and end its postings; return the outcome in a sentence.

    Raises CounterpartError as ``close_round`` does, and if calls failed.
    """
    progress("closing the round", 0, None)
    close_round(round, actor=actor)
    deliver_due(round, progress=progress)
    seen = overview_of(round)
    left = counted(seen.postings["live"] + seen.postings["planned"], "posting")
    if failed := round.calls.filter(call=Outbox.Call.CLOSE, state=Outbox.State.FAILED).count():
        raise CounterpartError(
            f"Round {round} is closed, but {counted(failed, 'posting')} could not be ended. "
            "Retry the failed calls on the round's page."
        )
    return f"Round {round} is closed; {left} still to be ended."


def sync_on_platform(round: Round, *, progress: Progress) -> str:
    """Synchronize the round with its platform; return the outcome in a sentence.

    Raises CounterpartError for a round on no platform, and if nothing could be listed.
    """
    send_waiting(round)
    synced = sync_round(round, progress=progress)
    note_funds(round)
    if synced.found_nobody:
        raise CounterpartError(f"Nothing could be read from the platform. {mask_workers(synced.failures)[0]}")
    outcome = (
        f"{counted(synced.listed, 'posting')} read: {counted(synced.submitted, 'new submission')}, "
        f"{synced.taken_in:,} stored, {counted(synced.asked_for, 'seat')} posted again, "
        f"{counted(synced.calls_made, 'call')} made."
    )
    wrong = " ".join(mask_workers(synced.failures[:MOST_ERRORS]))
    return f"{outcome} {counted(len(synced.failures), 'error')}: {wrong}" if wrong else outcome


def audit_round(round: Round, *, actor: str, progress: Progress) -> str:
    """Compare the round with its platform and store the differences; nothing else changes.

    Raises CounterpartError as ``find_differences`` does.
    """
    return keep_audit(round, find_differences(round, progress=progress), actor=actor)


def repair_round(audit: Audit, *, actor: str, progress: Progress) -> str:
    """Repair the differences that ``audit`` lists and that still exist, then audit the round again.

    Raises CounterpartError as ``find_differences`` does.
    """
    round, listed = audit.round, [row for row in audit.differences if row["repairable"]]
    found = find_differences(round, progress=progress)
    agreed = [one for one in found if _stored(one) in listed]
    repaired = repair(round, agreed, actor=actor)
    deliver_due(round, progress=progress)
    left = keep_audit(round, find_differences(round, progress=progress), actor=actor, repaired=repaired)
    return f"{repaired:,} of {counted(len(listed), 'difference')} repaired. {left}"


def keep_audit(round: Round, found: list[Difference], *, actor: str, repaired: int | None = None) -> str:
    """Store an audit; return the outcome in a sentence."""
    rows = [_stored(one) for one in found[:MOST_DIFFERENCES]]
    with transaction.atomic():
        Audit.objects.create(round=round, by=actor, differences=rows, repaired=repaired)
        record("audited", round, actor=actor, differences=len(found))
    return f"{counted(len(found), 'difference')} found." if found else "No differences."


def _stored(difference: Difference) -> dict[str, Any]:
    """Return a difference as JSON values, without platform ids of workers."""
    figures = difference.as_figures()
    masked = dict(zip(figures, mask_workers([*figures.values()]), strict=True))
    return masked | {"repairable": difference.repair is not None}


def _posted(round: Round) -> str:
    seen, environment = overview_of(round), market_of(round.channel, round.environment)
    posted = (
        f"{seen.standing:,} of {sum(seen.postings.values()):,} {listed_as(round.channel)} are posted on {environment}."
    )
    errors = mask_workers([*round.calls.exclude(error="").exclude(state="done").values_list("error", flat=True)[:1]])
    first = f" First error: {errors[0]}" if errors else ""
    if seen.failed:
        raise CounterpartError(
            f"Round {round} is open. {posted} {counted(seen.failed, 'call')} failed: retry on the round's page.{first}"
        )
    waiting = f" {counted(seen.waiting, 'call')} waiting, retried automatically.{first}" if seen.waiting else ""
    return f"Round {round} is open: {posted}{waiting}"
