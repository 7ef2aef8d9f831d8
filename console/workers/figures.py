"""Figures of a worker's page: platforms, assignments with signals, and annotators that they seem to follow."""

from dataclasses import dataclass
from typing import Any

from annotation.models import Assignment, Worker
from annotation.people.workers import mask_workers
from console.charts.measured_charts import stored_rows
from crowd.channels import CHANNELS, market_of
from crowd.models import Message
from evaluation.analyses.mimicry_analysis import FLAGGED
from hits.models import Round


@dataclass(frozen=True)
class SentMessage:
    """A message to a worker, and why it was not delivered (empty if it was)."""

    message: Message
    failure: str


def origins_of(worker: Worker) -> list[str]:
    """Name the environments that a worker came from; for simulated workers, the name of their channel."""
    known = worker.identities.order_by("pk").values_list("channel", "environment")
    return [str(market_of(*place)) if place[0] in CHANNELS else place[0] for place in dict.fromkeys(known)]


def messages_to(worker: Worker) -> list[SentMessage]:
    """Return the messages to a worker, newest first."""
    rows = list(worker.messages.order_by("-pk")[:50])
    failures = mask_workers([row.failure for row in rows])
    return [SentMessage(row, failure) for row, failure in zip(rows, failures, strict=True)]


def signalled_of(worker: Worker, round_: Round | None) -> list[Assignment]:
    """Return the worker's latest assignments, in one round or all, that signals asked a person to look at."""
    theirs = Assignment.objects.filter(worker=worker).exclude(signals=[]).select_related("hit__round")
    return list((theirs.filter(hit__round=round_) if round_ else theirs).order_by("-pk")[:20])


def flags_of(worker: Worker) -> list[dict[str, Any]]:
    """Return the worker's row and its ``round`` of each chart of mimicry that flags them, as jobs made it last."""
    rounds = Round.objects.filter(hits__assignments__worker=worker).distinct().order_by("name")
    return [
        {**row, "round": round_}
        for round_ in rounds
        for row in stored_rows(round_, "mimicry")
        if row["worker"] == worker.pseudonym and row["result"] == FLAGGED
    ]
