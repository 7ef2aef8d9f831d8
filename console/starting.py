"""Start a job for a round from a button that may be pressed twice."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from core.jobs import LIVE, open_job
from core.models import Job
from hits.models import Round


def start_once(title: str, task: str, round: Round, *, by: User, **params: Any) -> Job:
    """Open a job for the round, or return the one of its kind that is under way."""
    with transaction.atomic():
        # Two presses stand in line here, so that the second one finds the first one's job.
        Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        live = Job.objects.filter(task=task, params__round=round.name, state__in=LIVE).first()
        return live or open_job(title, task, {"round": round.name, **params}, by=by)
