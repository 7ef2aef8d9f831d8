"""The workers of a round whom a person should look at, and why."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.work.worker_records import WorkerLine
from core.text import counted

SHOWN = 8
ANSWERED, SHARE = 4, 2 / 3  # controls from which on a share of right ones below this is told


@dataclass(frozen=True)
class WorkerLook:
    """A worker's line, with a few words for each reason to look at them."""

    line: WorkerLine
    reasons: list[str]


def workers_to_look_at(lines: Iterable[WorkerLine]) -> list[WorkerLook]:
    """Return the workers with flagged work first, then those who fail controls."""
    looks = [WorkerLook(line, _reasons(line)) for line in lines]
    wanted = [look for look in looks if look.reasons]
    wanted.sort(key=lambda look: (-look.line.flagged, look.line.controls.weight, look.line.pseudonym))
    return wanted[:SHOWN]


def _reasons(line: WorkerLine) -> list[str]:
    reasons = []
    if line.flagged:
        reasons.append(f"{counted(line.flagged, 'HIT')} flagged")
    share = line.controls.share
    if share is not None and line.controls.answered >= ANSWERED and share < SHARE:
        reasons.append(f"{line.controls.right} of {line.controls.answered} controls right")
    if line.excluded:
        reasons.append(f"votes of {counted(line.excluded, 'HIT')} excluded")
    return reasons
