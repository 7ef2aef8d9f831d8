"""The workers of a round whom a person should look at, with the reasons."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.models import Assignment, Pause
from annotation.work.worker_records import WorkerLine
from core.text import counted
from hits.models import Round

MOST_LOOKS = 8
LEAST_ANSWERED = 4  # controls from which on a low share of right ones is a reason
LOW_SHARE = 2 / 3


@dataclass(frozen=True)
class WorkerLook:
    """A worker's line, with a few words for each reason to look at them."""

    line: WorkerLine
    reasons: list[str]


def workers_to_look_at(round: Round, lines: Iterable[WorkerLine]) -> list[WorkerLook]:
    """Return the workers of the round with flagged work first, then those who fail controls, with two queries."""
    paused = set(Pause.objects.filter(round=round, lifted_at=None).values_list("worker__pseudonym", flat=True))
    flagged = Assignment.objects.filter(hit__round=round, state=Assignment.State.FLAGGED).exclude(signals=[])
    signals = dict(flagged.order_by("pk").values_list("worker__pseudonym", "signals"))
    looks = []
    for line in lines:
        reasons = [*_reasons(line), *(one["sentence"] for one in signals.get(line.pseudonym, []))]
        if line.pseudonym in paused:
            reasons.append("paused in this round")
        looks.append(WorkerLook(line, reasons))
    wanted = [look for look in looks if look.reasons]
    wanted.sort(key=lambda look: (-look.line.flagged, look.line.controls.weight, look.line.pseudonym))
    return wanted[:MOST_LOOKS]


def _reasons(line: WorkerLine) -> list[str]:
    reasons = []
    if line.flagged:
        reasons.append(f"{counted(line.flagged, 'HIT')} flagged")
    share = line.controls.share
    if share is not None and line.controls.answered >= LEAST_ANSWERED and share < LOW_SHARE:
        reasons.append(f"{line.controls.right} of {line.controls.answered} controls right")
    if line.excluded:
        reasons.append(f"votes of {counted(line.excluded, 'HIT')} excluded")
    return reasons
