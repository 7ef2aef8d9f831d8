"""Bring a round and its platform together: what was submitted comes in, what is wanted goes out."""

from dataclasses import asdict, dataclass

from annotation.grading import grade_waiting
from core.errors import CounterpartError
from core.events import record
from core.progress import Progress, silent
from crowd import channels
from crowd.intake import collect_round, take_in_waiting
from crowd.models import Outbox, Posting, Sync
from crowd.outbox import deliver_due
from crowd.posting import post_open_seats
from hits.models import Round


@dataclass(frozen=True)
class Synced:
    """What one sync did: postings listed or not, submissions that were new, taken in, answer sets asked for anew, and
    calls made; and what still waits: calls not made yet or failed, and one line for each thing that went wrong."""

    listed: int
    unlisted: int
    submitted: int
    taken_in: int
    asked_for: int
    calls_made: int
    calls_waiting: int
    calls_failed: int
    failures: list[str]

    @property
    def news(self) -> dict[str, int]:
        """What is new by it."""
        return {name: getattr(self, name) for name in ("submitted", "taken_in", "asked_for")}

    @property
    def brought_anything(self) -> bool:
        return any(self.news.values())

    @property
    def found_nobody(self) -> bool:
        """Whether nothing could be listed at all."""
        return bool(self.unlisted) and not self.listed

    def as_figures(self) -> dict[str, object]:
        figures = {name.replace("_", " "): value for name, value in asdict(self).items() if name != "failures"}
        return figures | {"failures": [{"failure": line} for line in self.failures]}


def sync_round(round: Round, *, progress: Progress = silent) -> Synced:
    """Collect, take in, ask for what is missing, and make every call that waits. May be repeated at any time.

    Raises CounterpartError for a round that is on no platform.
    """
    if not round.channel:
        raise CounterpartError(f"Round {round} is not published; publish it first.")
    if not channels.get(round.channel).is_remote:
        raise CounterpartError(f"Round {round} is in the browser pool, where answers arrive by themselves.")
    collected = collect_round(round, progress=progress)
    taken_in = take_in_waiting(round, progress=progress)
    grade_waiting(round)
    asked_for = post_open_seats(round)
    made = deliver_due(round, progress=progress)
    calls = Outbox.objects.filter(round=round)
    failed = calls.filter(state=Outbox.State.FAILED)
    synced = Synced(
        listed=collected.postings,
        unlisted=collected.unlisted,
        submitted=collected.submitted,
        taken_in=taken_in,
        asked_for=asked_for,
        calls_made=made,
        calls_waiting=calls.filter(state__in=(Outbox.State.PENDING, Outbox.State.SENDING)).count(),
        calls_failed=failed.count(),
        failures=[*collected.failures, *failed.values_list("error", flat=True).distinct()],
    )
    if synced.brought_anything:
        Sync.objects.create(round=round, **synced.news)
        record("synced", round, actor="sync", **synced.news)
    return synced


def rounds_to_sync() -> list[Round]:
    """Return the rounds from whose platform something may still come."""
    remote = [name for name, channel in channels.CHANNELS.items() if channel.is_remote]
    unfinished = Posting.objects.unfinished().filter(channel__in=remote)
    return list(Round.objects.filter(hits__postings__in=unfinished).order_by().distinct())
