"""Records of workers: their work, their answers to controls and their earnings, in one round or in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, Q, QuerySet, Sum

from annotation.models import Assignment, Exclusion, Judgment, Pause, Payment, Worker
from annotation.work.control_records import Tally, tallies_of
from annotation.work.judgments import answers_by, answers_to
from hits.models import Control, Round
from hits.prices import cents


@dataclass(frozen=True)
class WorkerLine:
    """A worker's work; ``seconds`` is the mean active time of an accepted assignment. ``controls.weight`` says how
    reliable they are."""

    pseudonym: str
    simulated: bool
    submitted: int
    accepted: int
    flagged: int
    excluded: int
    seconds: float | None
    controls: Tally


@dataclass(frozen=True)
class InRound:
    """A worker's work in one round; ``owed`` and ``paid`` are US dollars without platform fees. ``is_open``:
    the round is; ``pause``: the one that holds there."""

    round: str
    submitted: int
    accepted: int
    flagged: int
    excluded: int
    owed: Decimal
    paid: Decimal
    is_open: bool
    pause: Pause | None


COUNTS = {
    state.value: Count("pk", filter=Q(state=state))
    for state in (Assignment.State.ACCEPTED, Assignment.State.FLAGGED, Assignment.State.EXCLUDED)
}
"""The numbers of assignments, as ``annotate`` takes them."""
SORTS = {
    "worker": lambda line: line.pseudonym,
    "submitted": lambda line: -line.submitted,
    "accepted": lambda line: -line.accepted,
    "flagged": lambda line: -line.flagged,
    "excluded": lambda line: -line.excluded,
    "time": lambda line: (line.seconds is None, line.seconds),
    "controls": lambda line: (line.controls.share is None, line.controls.share),
    "quality": lambda line: (line.controls.answered == 0, line.controls.weight, -line.controls.answered),
}
"""Orders of workers: the most work first, then the fastest and the least reliable."""


def workers_of(round: Round, *, sort: str = "submitted") -> list[WorkerLine]:
    """Return the workers of a round, with two queries. Raises KeyError unless ``sort`` is in SORTS."""
    lines = _workers(
        Assignment.objects.with_hit().filter(hit__round=round, submitted_at__isnull=False),
        answers_to(Control.objects.filter(round=round)),
    )
    return sorted(sorted(lines, key=SORTS["worker"]), key=SORTS[sort])


def totals_of(lines: Sequence[WorkerLine]) -> WorkerLine:
    """Return the sums of workers' lines as a line; ``seconds`` is the mean over all their accepted assignments."""
    timed = [(line.seconds * line.accepted, line.accepted) for line in lines if line.seconds is not None]
    accepted = sum(n for _, n in timed)
    counts = ("submitted", "accepted", "flagged", "excluded")
    return WorkerLine(
        pseudonym="",
        simulated=False,
        **{name: sum(getattr(line, name) for line in lines) for name in counts},
        seconds=sum(seconds for seconds, _ in timed) / accepted if accepted else None,
        controls=Tally(sum(line.controls.answered for line in lines), sum(line.controls.right for line in lines)),
    )


def record_of(worker: Worker, round: Round | None = None) -> WorkerLine:
    """Return a worker's work in one round, or in all rounds."""
    submitted = Assignment.objects.with_hit().filter(worker=worker, submitted_at__isnull=False)
    judgments = answers_by([worker])
    if round:
        submitted = submitted.filter(hit__round=round)
        judgments = judgments.filter(assignment__hit__round=round)
    lines = _workers(submitted, judgments)
    return lines[0] if lines else WorkerLine(worker.pseudonym, worker.simulated, 0, 0, 0, 0, None, Tally())


def rounds_of(worker: Worker) -> list[InRound]:
    """Return a worker's work and earnings in each round, with four queries."""
    money = _money_of(worker)
    nothing = (Decimal(0), Decimal(0))
    work = Assignment.objects.without_claims().filter(worker=worker).order_by().values_list("hit__round")
    counts = {key: numbers for key, *numbers in work.annotate(submitted=Count("submitted_at"), **COUNTS)}
    pauses = {pause.round_id: pause for pause in worker.pauses.filter(lifted_at=None)}
    rounds = Round.objects.filter(pk__in={*counts, *pauses}).order_by("name")
    return [
        InRound(
            round.name,
            *counts.get(round.pk, (0, 0, 0, 0)),
            *money.get(round.name, nothing),
            round.state == "open",
            pauses.get(round.pk),
        )  # type: ignore[call-arg]
        for round in rounds
    ]


def current_exclusion(worker: Worker) -> Exclusion | None:
    """Return the exclusion in force, or None."""
    return worker.exclusions.filter(lifted_at=None).first()


def _workers(submitted: QuerySet[Assignment], judgments: QuerySet[Judgment]) -> list[WorkerLine]:
    work = submitted.order_by().values("worker", "worker__pseudonym", "worker__simulated")
    seconds = Avg("active_seconds", filter=Q(state=Assignment.State.ACCEPTED))
    rows: list[Any] = list(work.annotate(submitted=Count("pk"), seconds=seconds, **COUNTS))
    controls = tallies_of(judgments) if rows else {}
    return [
        WorkerLine(
            pseudonym=row["worker__pseudonym"],
            simulated=row["worker__simulated"],
            controls=controls.get(row["worker"], Tally()),
            **{name: row[name] for name in ("submitted", "accepted", "flagged", "excluded", "seconds")},
        )
        for row in rows
    ]


def _money_of(worker: Worker) -> dict[str, tuple[Decimal, Decimal]]:
    """Return the dollars that a worker is owed and was paid, by round name."""
    owed = Sum("amount", filter=Q(state=Payment.State.OWED))
    paid = Sum("amount", filter=Q(state=Payment.State.PAID))
    rows = Payment.objects.filter(assignment__worker=worker).order_by().values("round__name")
    return {
        row["round__name"]: (cents(row["owed"] or Decimal(0)), cents(row["paid"] or Decimal(0)))
        for row in rows.annotate(owed=owed, paid=paid)
    }
