"""Sync: read what a round's platform lists, store confirmed submissions, add HITs for disputed pairs, post open seats,
and make the calls due.

The platform's lists are the truth: what they confirm is stored here, whatever failed before.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Q

from annotation.models import Assignment, Draft, WorkerIdentity
from annotation.money.budget import locked
from annotation.people.workers import worker_for
from annotation.work.disputes import top_up
from annotation.work.grading import grade_waiting
from annotation.work.standstill import waits_for
from core import clock
from core.errors import CounterpartError, some_of
from core.events import record
from core.progress import Progress, silent
from core.text import counted
from core.work.committed_tasks import send_on_commit
from crowd import channels
from crowd.calls.delivery import mark_closed, mark_over
from crowd.calls.outbox import deliver_due
from crowd.calls.single_payments import settle_listed, unclear_payments
from crowd.channels.base import ChannelError, Listed, Listing
from crowd.models import Hint, Outbox, Posting, Sync, Visit, VisitQuerySet, visits_to_posting
from crowd.posting.halts import note_state
from crowd.posting.pauses import open_or_pause
from crowd.posting.postings import post_open_seats
from crowd.study_states import There
from crowd.visits.intake import advance, take_in_waiting
from crowd.visits.sessions import keep_sessions
from hits.models import Round

MOST_ERRORS = 5  # messages may name their HIT, so that there are as many errors as HITs
KEPT = timedelta(days=30)  # hints: events that platforms sent
MOST_UNREACHED = 3  # failed connections in a row before listing stops


@dataclass(frozen=True)
class Synced:
    """What one sync did: postings listed or not, new submissions, submissions stored, answer sets posted again, and
    calls made; and what is left: calls waiting or failed, one line for each error, and what the round waits for."""

    listed: int
    unlisted: int
    submitted: int
    taken_in: int
    asked_for: int
    calls_made: int
    calls_waiting: int
    calls_failed: int
    failures: list[str]
    waits_for: str

    @property
    def news(self) -> dict[str, int]:
        """The figures that a Sync row keeps."""
        return {name: getattr(self, name) for name in ("submitted", "taken_in", "asked_for")}

    @property
    def listed_nothing(self) -> bool:
        """Whether no posting could be listed."""
        return bool(self.unlisted) and not self.listed

    def as_figures(self) -> dict[str, object]:
        figures = {name.replace("_", " "): value for name, value in asdict(self).items() if name != "failures"}
        return figures | {"failures": [{"failure": line} for line in self.failures]}


@dataclass
class Collected:
    """What one listing found: postings listed and new submissions. ``troubles`` are the numbers of the HITs that could
    not be listed, by error; ``skipped`` counts the HITs left out after that."""

    postings: int = 0
    submitted: int = 0
    skipped: int = 0
    troubles: dict[str, list[int | None]] = field(default_factory=dict)

    @property
    def unlisted(self) -> int:
        """The number of postings that could not be listed."""
        return self.skipped + sum(map(len, self.troubles.values()))

    @property
    def failures(self) -> list[str]:
        """One line for each error, a few at most."""
        lines = [f"{_named(numbers)}: {error}" for error, numbers in self.troubles.items()]
        if left_out := sum(map(len, [*self.troubles.values()][MOST_ERRORS:])):
            lines[MOST_ERRORS:] = [f"{counted(left_out, 'more HIT could', 'more HITs could')} not be listed."]
        if self.skipped:
            lines.append(f"The other {counted(self.skipped, 'HIT was', 'HITs were')} skipped: sync again.")
        return lines


def sync_round(round: Round, *, at_most: int | None = None, progress: Progress = silent) -> Synced:
    """Sync a round with its platform. It may be repeated at any time. ``at_most``: how many postings to list, in turns.

    Raises CounterpartError for a round that is on no platform.
    """
    if not round.channel:
        raise CounterpartError(f"Round {round} is not published: publish it first.")
    if round.channel not in channels.platforms():
        raise CounterpartError(f"Round {round} is in the browser pool, which needs no sync.")
    # Submissions are stored and graded before seats are posted again: none that is filled is asked for a second time.
    collected = collect_round(round, at_most=at_most, progress=progress)
    taken_in = take_in_waiting(round, progress=progress)
    grade_waiting(round)
    top_up(round, actor="sync")
    asked_for = post_open_seats(round)
    settle_listed(round)
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
        waits_for=waits_for(round),
    )
    if any(synced.news.values()):
        with transaction.atomic():
            Sync.objects.create(round=round, **synced.news)
            record("synced", round, actor="sync", **synced.news)
    return synced


def rounds_to_sync() -> list[Round]:
    """Return the rounds whose platform may still list something new: submissions, or a payment that is unclear."""
    unfinished = Posting.objects.unfinished().filter(channel__in=channels.platforms())
    unclear = Q(pk__in=unclear_payments().values("round"))
    return list(Round.objects.filter(Q(postings__in=unfinished) | unclear).order_by().distinct())


def take_hint(channel: str, environment: str, *, external_id: str) -> bool:
    """Store an event, which says that a sync would find something, and sync the rounds of its account once that is
    committed. False: it was stored before."""
    try:
        with transaction.atomic():
            Hint.objects.create(channel=channel, environment=environment, external_id=external_id)
            unfinished = Posting.objects.unfinished().filter(channel=channel, environment=environment)
            for round_id in unfinished.order_by().values_list("round", flat=True).distinct():
                send_on_commit("crowd.tasks.sync_one", round_id)  # if that fails, a sync each minute finds the same
    except IntegrityError:
        return False
    return True


def purge_hints() -> int:
    """Delete the hints that no platform sends again. Return their number."""
    deleted, _ = Hint.objects.filter(at__lt=clock.now() - KEPT).delete()
    return deleted


def collect_round(round: Round, *, at_most: int | None = None, progress: Progress = silent) -> Collected:
    """List the unfinished postings of the round (up to ``at_most``, in turns), and store what is new.

    A posting that cannot be listed is named in ``failures``; the others are still listed, unless the platform cannot be
    reached at all.
    """
    postings = _to_list(round, at_most)
    collected = Collected()
    unreached = 0
    for done, posting in enumerate(postings, 1):
        progress("listing submissions", done - 1, len(postings))
        try:
            collected.submitted += _collect(posting)
            collected.postings += 1
            unreached = 0
        except ChannelError as error:
            collected.troubles.setdefault(str(error), []).append(posting.hit.number if posting.hit else None)
            unreached += not (error.reached or error.permanent or error.retry_after)
        if unreached == MOST_UNREACHED:
            collected.skipped = len(postings) - done
            break
    # Those that failed have had their turn too: they must not keep the others waiting.
    tried = postings[: len(postings) - collected.skipped]
    Posting.objects.filter(pk__in=[posting.pk for posting in tried]).update(tried_at=clock.now())
    return collected


@transaction.atomic
def keep(posting: Posting, listed: Listed) -> int:
    """Store one listed submission; return 1 if it is new, otherwise 0. If its worker or its answers contradict an
    earlier list, nothing is changed but its ``problem``, for a person to check."""
    locked(posting.round)
    of_this_id = Visit.objects.filter(**posting.market, external_id=listed.external_id)
    bound = of_this_id.listed().select_for_update(of=("self",)).select_related("assignment__hit__round").first()
    if bound is None:
        _confirm(posting, listed, of_this_id)
        return 1
    if problem := _contradiction(bound, listed):
        Assignment.objects.filter(pk=bound.assignment_id, problem="").update(problem=problem)
    else:
        advance(bound, listed)
    return 0


def _to_list(round: Round, at_most: int | None) -> list[Posting]:
    """Return the unfinished postings, at most ``at_most``: up to half of them where saved answers wait for the
    platform's list, then those whose last attempt is oldest."""
    unfinished = Posting.objects.unfinished().filter(round=round).select_related("hit", "round")
    posted = unfinished.filter(state__in=(Posting.State.LIVE, Posting.State.CLOSED))
    if at_most is None:
        return list(posted)
    in_turn = posted.order_by(F("tried_at").asc(nulls_first=True), "pk")
    saved = visits_to_posting().unconfirmed().exclude(assignment__receipt="")
    first = list(in_turn.filter(Exists(saved))[: at_most // 2])
    others = in_turn.exclude(pk__in=[posting.pk for posting in first])
    return first + list(others[: at_most - len(first)])


def _collect(posting: Posting) -> int:
    platform = channels.platform(posting.channel)
    listing = platform.collect(posting)
    if posting.hit:
        new = sum(keep(posting, listed) for listed in listing.assignments)
    else:
        new = keep_sessions(posting, listing.assignments)
        if posting.round.state != "closed":
            open_or_pause(posting, there=listing.there)
        elif listing.there is There.OPEN:  # the round is closed, but the place of an ended session is free again
            platform.close(posting, token="")
    _note(posting, listing)
    return new


def _named(numbers: Sequence[int | None]) -> str:
    if numbers == [None]:
        return "The posting"
    return f"HIT {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} HITs ({some_of(numbers)})"


def _confirm(posting: Posting, listed: Listed, of_this_id: VisitQuerySet) -> None:
    """Bind an assignment id to the worker who is listed with it, and so to what our page saved for the two."""
    worker = worker_for(**posting.market, external_id=listed.worker_id)
    at = listed.submitted_at or clock.now()
    visit = of_this_id.filter(worker=worker).select_related("assignment__hit__round").first()
    if visit is None:
        assignment = Assignment.objects.create(
            outside_key=listed.external_id, hit=posting.one_hit, worker=worker, leased_at=at, deadline=at
        )
        visit = posting.begin_visit(assignment)
    changes: dict[str, Any] = {"submitted_at": at}
    if visit.posting_id != posting.pk:
        # The visitor's address named another HIT than the platform lists; the drafts belong to the HIT of the address.
        Draft.objects.filter(assignment=visit.assignment).delete()
        changes |= {"hit": posting.one_hit, "receipt": "", "active_seconds": None}
    Assignment.objects.filter(pk=visit.assignment_id).update(**changes)
    Visit.objects.filter(pk=visit.pk).update(posting=posting, content=listed.content)
    advance(visit, listed)


def _contradiction(bound: Visit, listed: Listed) -> str:
    identities = WorkerIdentity.objects.filter(worker=bound.worker_id, channel=bound.channel)
    known = identities.values_list("external_id", flat=True)
    if known and listed.worker_id not in known:
        return "The platform lists it for another worker than before."
    if known and bound.content and listed.content and bound.content != listed.content:
        return "The platform lists another answer than before."
    return ""


@transaction.atomic
def _note(posting: Posting, listing: Listing) -> None:
    """Store the state of the posting. It is settled, and its unused money released in our books, only when the listings
    have agreed for SYNC_LAG_SECONDS that nothing more will be submitted: a listing may be out of date."""
    now = clock.now()
    note_state(posting, listing)
    seen: dict[str, Any] = {"pending": listing.pending, "expires_at": listing.expires_at, "freed": listing.freed}
    over_since = (posting.over_since or now) if listing.is_over else None
    Posting.objects.filter(pk=posting.pk).update(**seen, seen_at=now, over_since=over_since)
    if over_since is None or now - over_since < timedelta(seconds=settings.SYNC_LAG_SECONDS):
        return
    mark_closed(posting)
    mark_over(posting, unused=posting.unused)
