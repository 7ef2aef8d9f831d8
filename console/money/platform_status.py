"""A round on its platform as its page shows it: postings, work, calls, money, and how its books compare."""

from typing import Any

from django.db.models import Q, QuerySet

from annotation.people.workers import with_masked
from core.models import Job
from core.work.jobs import LIVE
from crowd import channels, jobs
from crowd.calls.funds import noted_funds, still_to_fund
from crowd.channels import market_of
from crowd.models import Audit, Outbox
from crowd.posting.pauses import posting_of_whole
from crowd.posting.postings import overview_of, work_to_look_at
from hits.models import Round

FEW = 5
MOST_CALLS = 25


def is_on_platform(round: Round) -> bool:
    """Whether the round is published on a crowd platform."""
    return round.channel in channels.platforms()


def on_platform(round: Round) -> dict[str, Any] | None:
    """Return the status from our database, with a constant number of queries; None for rounds on no platform.

    ``whole`` is the open posting of the whole round, where the platform lists one; ``funds`` is the account's balance
    at the last check and ``to_fund`` what the round may still cost, in US dollars; ``audit`` the latest comparison of
    the books, and ``comparing`` the unfinished job that compares or repairs them.
    """
    if not is_on_platform(round):
        return None
    audit: Audit | None = round.audits.first()
    differences = audit.differences if audit else []
    compares = Job.objects.filter(task__in=(jobs.audit.name, jobs.repair.name), params__round=round.name)
    return {
        "environment": market_of(round.channel, round.environment),
        "whole": posting_of_whole(round) if round.state == "open" else None,
        "overview": overview_of(round),
        "last_sync": round.syncs.first(),
        "calls": with_masked(calls_of(round)[:MOST_CALLS], "error"),
        "problems": with_masked(work_to_look_at(round)[:FEW], "problem"),
        "funds": noted_funds(round),
        "to_fund": still_to_fund(round),
        "audit": audit,
        "repairable": [row for row in differences if row["repairable"]],
        "left": [row for row in differences if not row["repairable"]],
        "comparing": compares.filter(state__in=LIVE).first(),
    }


def calls_of(round: Round) -> QuerySet[Outbox]:
    """Return the calls that failed or wait, failed ones first, also those of the round's environment that belong to no
    single round."""
    of_no_round = Q(round=None, channel=round.channel, environment=round.environment)
    calls = Outbox.objects.filter(of_no_round | Q(round=round)).exclude(state=Outbox.State.DONE)
    return calls.order_by("state", "created_at")
