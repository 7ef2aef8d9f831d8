"""The jobs on a round that is on a platform: publish, sync, reconcile the books and repair them."""

from decimal import Decimal
from typing import Any

from django.db import transaction

from annotation.people.workers import mask_workers
from core.errors import CounterpartError
from core.events import record
from core.models import Job
from core.text import counted
from core.work.jobs import JobProgress, job
from crowd import differences
from crowd.calls.funds import note_funds
from crowd.calls.outbox import deliver_due, send_failed_again, send_waiting
from crowd.channels import listed_as, market_of, platforms
from crowd.differences import Difference, find_differences
from crowd.models import Audit
from crowd.offers import Offer
from crowd.posting.postings import overview_of
from crowd.posting.publication import publish_round
from crowd.posting.publish_parameters import AdmissionParameters
from crowd.sync import sync_round
from hits.models import Round

MOST_ERRORS = 3  # shown in one line
MOST_DIFFERENCES = 500  # stored by one comparison


@job("console.tasks.publish", needs=("hits.launch_round",), acts=True)
def publish(job: Job, progress: JobProgress) -> str:
    """Open the round, and on a platform make all calls. Running it again resumes.

    Raises CounterpartError as ``publish_round`` does, and if calls failed.
    """
    progress("preparing the postings", 0, None)
    params = job.params
    round = publish_round(
        Round.objects.named(params["round"]),
        channel=params["channel"],
        environment=params["environment"],
        offer=Offer.from_json(params["offer"]),
        admission=AdmissionParameters.from_json(params.get("admission", {})).admission(),
        skip_missing=params["skip_missing"],
        pilot=Round.objects.named(params["pilot"]) if params["pilot"] else None,
        expected_minutes=_decimal(params["expected_minutes"]),
        below_floor=params.get("below_floor", False),
        ceiling=_decimal(params.get("ceiling")),
        cost=_decimal(params.get("cost")),
        actor=job.actor,
    )
    if round.channel not in platforms():
        return f"Round {round} is open. Its page shows how workers join."
    send_failed_again(round, actor=job.actor)
    send_waiting(round)
    deliver_due(round, progress=progress)
    note_funds(round)
    return _posted(round)


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


@job("console.tasks.sync", needs=("hits.launch_round",))
def sync(job: Job, progress: JobProgress) -> str:
    """Synchronize the round with its platform.

    Raises CounterpartError for a round on no platform, and if nothing could be listed.
    """
    round = Round.objects.named(job.params["round"])
    send_waiting(round)
    synced = sync_round(round, progress=progress)
    note_funds(round)
    if synced.listed_nothing:
        raise CounterpartError(f"Nothing could be read from the platform. {mask_workers(synced.failures)[0]}")
    outcome = (
        f"{counted(synced.listed, 'posting')} read: {counted(synced.submitted, 'new submission')}, "
        f"{synced.taken_in:,} stored, {counted(synced.asked_for, 'seat')} posted again, "
        f"{counted(synced.calls_made, 'call')} made."
    )
    wrong = " ".join(mask_workers(synced.failures[:MOST_ERRORS]))
    return f"{outcome} {counted(len(synced.failures), 'error')}: {wrong}" if wrong else outcome


@job("console.tasks.audit", needs=("hits.launch_round",))
def audit(job: Job, progress: JobProgress) -> str:
    """Compare the round with its platform and store the differences; nothing else changes.

    Raises CounterpartError as ``find_differences`` does.
    """
    round = Round.objects.named(job.params["round"])
    return keep_audit(round, find_differences(round, progress=progress), actor=job.actor)


@job("console.tasks.repair", needs=("hits.launch_round",), acts=True)
def repair(job: Job, progress: JobProgress) -> str:
    """Repair the differences that a comparison lists and that still exist, then compare again.

    Raises CounterpartError as ``find_differences`` does.
    """
    audited = Audit.objects.select_related("round").get(pk=job.params["audit"])
    round = audited.round
    listed = [row for row in audited.differences if row["repairable"]]
    current = find_differences(round, progress=progress)
    agreed = [difference for difference in current if _stored(difference) in listed]
    repaired = differences.repair(round, agreed, actor=job.actor)
    deliver_due(round, progress=progress)
    left = keep_audit(round, find_differences(round, progress=progress), actor=job.actor, repaired=repaired)
    return f"{repaired:,} of {counted(len(listed), 'difference')} repaired. {left}"


def keep_audit(round: Round, current: list[Difference], *, actor: str, repaired: int | None = None) -> str:
    """Store a comparison of the books; return the outcome in a sentence."""
    rows = [_stored(difference) for difference in current[:MOST_DIFFERENCES]]
    with transaction.atomic():
        Audit.objects.create(round=round, by=actor, differences=rows, repaired=repaired)
        record("audited", round, actor=actor, differences=len(current))
    return f"{counted(len(current), 'difference')} found." if current else "No differences."


def _stored(difference: Difference) -> dict[str, Any]:
    """Return a difference as JSON values, without platform ids of workers."""
    figures = difference.as_figures()
    masked = dict(zip(figures, mask_workers([*figures.values()]), strict=True))
    return masked | {"repairable": difference.repair is not None}


def _posted(round: Round) -> str:
    seen = overview_of(round)
    environment = market_of(round.channel, round.environment)
    posted = (
        f"{seen.posted:,} of {sum(seen.postings.values()):,} {listed_as(round.channel)} are posted on {environment}."
    )
    errors = mask_workers([*round.calls.exclude(error="").exclude(state="done").values_list("error", flat=True)[:1]])
    first = f" First error: {errors[0]}" if errors else ""
    if seen.failed:
        raise CounterpartError(
            f"Round {round} is open. {posted} {counted(seen.failed, 'call')} failed: retry on the round's page.{first}"
        )
    waiting = f" {counted(seen.waiting, 'call')} waiting, retried automatically.{first}" if seen.waiting else ""
    return f"Round {round} is open: {posted}{waiting}"
