"""Bring our rows to what the platform says of a round's postings. Its lists are the truth; nothing listed is lost."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.models import WorkerIdentity
from annotation.payments import mark_reward_paid
from annotation.workers import worker_for
from core.errors import some_of
from core.events import record
from core.progress import Progress, silent
from crowd import channels
from crowd.channels import ChannelError, Listed, Listing
from crowd.models import PlatformAssignment, Posting
from crowd.settling import mark_closed, mark_over
from hits.models import Round

State, Status = Posting.State, PlatformAssignment.Status

# What may follow what: a listing that lags behind takes nothing back.
ONWARD = {
    Status.CLAIMED: (Status.SUBMITTED, Status.APPROVED, Status.REJECTED),
    Status.SUBMITTED: (Status.APPROVED, Status.REJECTED),
    Status.REJECTED: (Status.APPROVED,),
    Status.APPROVED: (),
}


MOST_TOLD = 5  # kinds of trouble, which may be as many as HITs where the platform's words name them
PATIENCE = 3  # connections that fail one after the other, before a sweep ends for now


@dataclass
class Collected:
    """What one sweep found: postings listed, submissions seen for the first time, statuses that went on. ``troubles``
    are the numbers of the HITs that could not be listed, by what kept them from it; ``unasked`` those left out then."""

    postings: int = 0
    submitted: int = 0
    moved: int = 0
    unasked: int = 0
    troubles: dict[str, list[int]] = field(default_factory=dict)

    def add(self, found: "Collected") -> None:
        """Count what was found at one more posting."""
        self.postings += found.postings
        self.submitted += found.submitted
        self.moved += found.moved

    @property
    def unlisted(self) -> int:
        """How many postings could not be listed."""
        return self.unasked + sum(map(len, self.troubles.values()))

    @property
    def failures(self) -> list[str]:
        """One line for each kind of trouble, a few at most."""
        lines = [f"{_named(numbers)}: {error}" for error, numbers in self.troubles.items()]
        if untold := sum(map(len, [*self.troubles.values()][MOST_TOLD:])):
            lines[MOST_TOLD:] = [f"{untold} more HITs could not be listed."]
        return [*lines, f"The other {self.unasked} HITs were not asked about; sync again."] if self.unasked else lines


def collect_round(round: Round, *, progress: Progress = silent) -> Collected:
    """List every posting of the round from which something may still come, and keep what is found.

    One that cannot be listed is told in ``failures``; the others are listed all the same, unless nobody answers at all.
    """
    postings, collected, unreached = list(to_be_listed(round)), Collected(), 0
    for done, posting in enumerate(postings, 1):
        progress("listing what was submitted", done - 1, len(postings))
        try:
            collected.add(_collect(posting))
            unreached = 0
        except ChannelError as error:
            collected.troubles.setdefault(str(error), []).append(posting.hit.number)
            unreached += _found_nobody(error)
        if unreached == PATIENCE:
            collected.unasked = len(postings) - done
            break
    return collected


def to_be_listed(round: Round) -> QuerySet[Posting]:
    """The round's postings that are not settled, or of which the platform has not decided all work yet."""
    undecided = Q(assignments__status=Status.SUBMITTED)
    posted = Posting.objects.filter(hit__round=round, state__in=(State.LIVE, State.CLOSED))
    return posted.filter(Q(settled_at=None) | undecided).select_related("hit__round").distinct()


def _collect(posting: Posting) -> Collected:
    listing, found = channels.platform(posting.channel).collect(posting), Collected(postings=1)
    for listed in listing.assignments:
        found.add(keep(posting, listed))
    _note(posting, listing)
    return found


def _found_nobody(error: ChannelError) -> bool:
    """Whether the platform was not there, rather than unwilling: then every other posting would wait as long."""
    return not (error.reached or error.permanent or error.retry_after)


def _named(numbers: Sequence[int]) -> str:
    return f"HIT {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} HITs ({some_of(numbers)})"


@transaction.atomic
def keep(posting: Posting, listed: Listed) -> Collected:
    """Keep one listed submission, once. One that contradicts what was listed before, by its worker or its answer, is
    left as it is and gets a ``problem`` for a person to look at."""
    where = {"channel": posting.channel, "environment": posting.environment, "external_id": listed.external_id}
    bound = PlatformAssignment.objects.select_for_update().filter(**where).exclude(status="").first()
    if bound is None:
        return _confirm(posting, listed, where)
    if problem := _contradiction(bound, listed):
        PlatformAssignment.objects.filter(pk=bound.pk, problem="").update(problem=problem)
        return Collected()
    return Collected(moved=_move(bound, listed))


def _confirm(posting: Posting, listed: Listed, where: dict[str, str]) -> Collected:
    """Bind an assignment id to the worker who is listed with it, and with that what our page saved for the two."""
    worker = worker_for(channel=posting.channel, environment=posting.environment, external_id=listed.worker_id)
    row, _ = PlatformAssignment.objects.get_or_create(worker=worker, **where, defaults={"posting": posting})
    if row.posting_id != posting.pk:
        # The visitor's address named another HIT than the one they worked on; what was saved belongs to that.
        PlatformAssignment.objects.filter(pk=row.pk).update(posting=posting, answers={}, saved_at=None, receipt="")
    PlatformAssignment.objects.filter(pk=row.pk).update(content=listed.content, submitted_at=listed.submitted_at)
    _move(row, listed)
    return Collected(submitted=1)


def _contradiction(bound: PlatformAssignment, listed: Listed) -> str:
    identities = WorkerIdentity.objects.filter(worker=bound.worker, channel=bound.channel)
    known = identities.values_list("external_id", flat=True)
    if known and listed.worker_id not in known:
        return "The platform lists it for another worker than before."
    if known and bound.content and listed.content and bound.content != listed.content:
        return "The platform lists another answer than before."
    return ""


def _move(row: PlatformAssignment, listed: Listed) -> int:
    """Let the status go on to what is listed, never back; returns how often it did."""
    now = {"seen_at": timezone.now(), "auto_approval_at": listed.auto_approval_at}
    PlatformAssignment.objects.filter(pk=row.pk).update(**now)
    if listed.status not in ONWARD[Status(row.status)]:
        return 0
    moved = PlatformAssignment.objects.filter(pk=row.pk, status=row.status)
    if not moved.update(status=listed.status, decided_at=listed.decided_at):
        return 0
    record(f"{listed.status} on the platform", row, actor="sync")
    if listed.status == Status.APPROVED and row.assignment:
        mark_reward_paid(row.assignment)
    return 1


@transaction.atomic
def _note(posting: Posting, listing: Listing) -> None:
    """Keep what the listing says of the posting itself. It is settled once listings have agreed for long enough that
    nothing more will come, as one of them may lag behind."""
    now = timezone.now()
    seen: dict[str, Any] = {"status": listing.status, "pending": listing.pending, "expires_at": listing.expires_at}
    over_since = (posting.over_since or now) if listing.is_over else None
    Posting.objects.filter(pk=posting.pk).update(**seen, seen_at=now, over_since=over_since)
    if over_since is None or now - over_since < timedelta(seconds=settings.SYNC_LAG_SECONDS):
        return
    mark_closed(posting)
    mark_over(posting, unused=posting.posted_assignments - posting.assignments.exclude(status="").count())
