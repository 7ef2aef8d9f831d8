"""Intake: list what platforms say of a round's postings, and take confirmed submissions in.

A platform's lists are the truth, and every submission in them ends as an assignment with its judgments, whatever
happened on the way, so that nobody works unpaid and nothing answered is lost.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.answers import ANSWERS_FIELD, RECEIPT_FIELD, Answer, check_answer_set, decode_answers, drafted_answers
from annotation.budget import CeilingError
from annotation.grading import count_failures, flag
from annotation.leases import bind_seat, move
from annotation.models import Assignment, AssignmentQuerySet, Decision, Draft, Judgment, PlatformState, WorkerIdentity
from annotation.payments import mark_reward_paid, owe
from annotation.submissions import receipt_of, store_answers
from annotation.workers import give_consent, locked, worker_for
from core.errors import CounterpartError, some_of
from core.events import record
from core.progress import Progress, silent
from crowd import channels
from crowd.channels import ChannelError, Listed, Listing
from crowd.models import Posting
from crowd.settling import mark_closed, mark_over
from hits.models import Item, Round

logger = logging.getLogger(__name__)

State = Assignment.State

# A listing that lags behind takes no state back.
ONWARD = {
    PlatformState.UNCONFIRMED: (PlatformState.SUBMITTED, PlatformState.APPROVED, PlatformState.REJECTED),
    PlatformState.SUBMITTED: (PlatformState.APPROVED, PlatformState.REJECTED),
    PlatformState.REJECTED: (PlatformState.APPROVED,),
    PlatformState.APPROVED: (),
}
MOST_TOLD = 5  # kinds of error, which may be as many as HITs where the platform's messages name them
PATIENCE = 3  # failed connections in a row before the listing stops

REPEATED = "The worker had answered this HIT before: paid, and counted once."
LOST = "Confirmed by the platform, but no whole answer set came with it or was saved here. The work is to be paid."
FOREIGN = "The platform's copy carries another receipt than ours. Judged by the copy that was saved here."


@dataclass
class Collected:
    """What one listing found: postings listed, new submissions, states that changed. ``troubles`` are the numbers of
    the HITs that could not be listed, by their error; ``unasked`` counts those left out after that."""

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
        """One line for each kind of error, a few at most."""
        lines = [f"{_named(numbers)}: {error}" for error, numbers in self.troubles.items()]
        if left_out := sum(map(len, [*self.troubles.values()][MOST_TOLD:])):
            lines[MOST_TOLD:] = [f"{left_out} more HITs could not be listed."]
        return [*lines, f"The other {self.unasked} HITs were not asked about; sync again."] if self.unasked else lines


def collect_round(round: Round, *, progress: Progress = silent) -> Collected:
    """List every posting of the round from which something may still come, and keep what is found.

    One that cannot be listed is named in ``failures``; the others are still listed, unless nobody answers at all.
    """
    postings, collected, unreached = list(_to_be_listed(round)), Collected(), 0
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


@transaction.atomic
def keep(posting: Posting, listed: Listed) -> Collected:
    """Keep one listed submission, once. One that contradicts what was listed before, by its worker or its answer, is
    left as it is and gets a ``problem`` for a person to look at."""
    of_this_id = Assignment.objects.filter(
        channel=posting.channel, environment=posting.environment, external_id=listed.external_id
    )
    bound = of_this_id.listed().select_for_update().first()
    if bound is None:
        return _confirm(posting, listed, of_this_id)
    if problem := _contradiction(bound, listed):
        Assignment.objects.filter(pk=bound.pk, problem="").update(problem=problem)
        return Collected()
    return Collected(moved=_advance(bound, listed))


def take_in_waiting(round: Round | None = None, *, progress: Progress = silent) -> int:
    """Take in every submission (to one round) that is confirmed and not taken in. Returns how many.

    One that fails is logged and keeps waiting; the others are still taken in.
    """
    waiting = Assignment.objects.waiting().filter(problem="")
    waiting = waiting.filter(hit__round=round) if round else waiting
    keys, taken = list(waiting.order_by("submitted_at", "pk").values_list("pk", flat=True)), 0
    for done, key in enumerate(keys):
        progress("taking in what was submitted", done, len(keys))
        try:
            taken += take_in(key)
        except Exception:
            logger.exception("assignment %s could not be taken in", key)
    return taken


@transaction.atomic
def take_in(key: int) -> bool:
    """Submit the answers of a confirmed assignment. False: it is not confirmed, taken in already, or has a problem."""
    rows = Assignment.objects.select_for_update(of=("self",)).select_related("hit__round", "worker")
    assignment = rows.get(pk=key)
    if assignment.problem or not (assignment.is_claim and assignment.platform_state):
        return False
    worker = locked(assignment.worker_id)
    give_consent(worker)
    earlier = Assignment.objects.without_claims().filter(worker=worker, hit=assignment.hit_id)
    if earlier.exclude(state__in=Assignment.ABANDONED).exists():
        _pay_repeated(assignment)
    else:
        _submit(assignment)
    if assignment.platform_state == PlatformState.APPROVED:
        mark_reward_paid(assignment)
    return True


def _to_be_listed(round: Round) -> QuerySet[Posting]:
    posted = Posting.objects.unfinished().filter(hit__round=round)
    return posted.filter(state__in=(Posting.State.LIVE, Posting.State.CLOSED)).select_related("hit__round")


def _collect(posting: Posting) -> Collected:
    listing, found = channels.platform(posting.channel).collect(posting), Collected(postings=1)
    for listed in listing.assignments:
        found.add(keep(posting, listed))
    _note(posting, listing)
    return found


def _found_nobody(error: ChannelError) -> bool:
    """Whether the platform did not answer at all: then every other posting would wait as long."""
    return not (error.reached or error.permanent or error.retry_after)


def _named(numbers: Sequence[int]) -> str:
    return f"HIT {numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} HITs ({some_of(numbers)})"


def _confirm(posting: Posting, listed: Listed, of_this_id: AssignmentQuerySet) -> Collected:
    """Bind an assignment id to the worker who is listed with it, and so to what our page saved for the two."""
    worker = worker_for(channel=posting.channel, environment=posting.environment, external_id=listed.worker_id)
    assignment = of_this_id.filter(worker=worker).first() or Assignment.objects.create(
        channel=posting.channel,
        environment=posting.environment,
        external_id=listed.external_id,
        external_posting=posting.external_id,
        hit=posting.hit,
        worker=worker,
        leased_at=listed.submitted_at,
        deadline=listed.submitted_at,
    )
    changes: dict[str, Any] = {"content": listed.content, "submitted_at": listed.submitted_at}
    if assignment.external_posting != posting.external_id:
        # The visitor's address named another HIT than the one they worked on; what was saved belongs to that.
        Draft.objects.filter(assignment=assignment).delete()
        changes |= {"hit": posting.hit, "external_posting": posting.external_id, "receipt": "", "active_seconds": None}
    Assignment.objects.filter(pk=assignment.pk).update(**changes)
    _advance(assignment, listed)
    return Collected(submitted=1)


def _contradiction(bound: Assignment, listed: Listed) -> str:
    identities = WorkerIdentity.objects.filter(worker=bound.worker_id, channel=bound.channel)
    known = identities.values_list("external_id", flat=True)
    if known and listed.worker_id not in known:
        return "The platform lists it for another worker than before."
    if known and bound.content and listed.content and bound.content != listed.content:
        return "The platform lists another answer than before."
    return ""


def _advance(assignment: Assignment, listed: Listed) -> int:
    """Let the platform's state go on to what is listed, never back; returns how often it did."""
    Assignment.objects.filter(pk=assignment.pk).update(auto_approval_at=listed.auto_approval_at)
    if listed.status not in ONWARD[PlatformState(assignment.platform_state)]:
        return 0
    unchanged = Assignment.objects.filter(pk=assignment.pk, platform_state=assignment.platform_state)
    if not unchanged.update(platform_state=listed.status, decided_at=listed.decided_at):
        return 0
    record(f"{listed.status} on the platform", assignment, actor="sync")
    if listed.status == PlatformState.APPROVED and not assignment.is_claim:
        mark_reward_paid(assignment)
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
    mark_over(posting, unused=posting.unused)


def _submit(assignment: Assignment) -> None:
    items = {item.pk: item for item in assignment.hit.items.all()}
    answers, doubt = _answers_of(assignment, items)
    bind_seat(assignment)
    first = _without_repeated_pairs(assignment, answers, items)
    store_answers(assignment, first, items, assignment.active_seconds, at=assignment.submitted_at)
    if doubt:
        Assignment.objects.filter(pk=assignment.pk).update(problem=doubt)
        flag(assignment, control_failures=count_failures(assignment))


def _pay_repeated(assignment: Assignment) -> None:
    """Pay a worker whom the platform let answer a HIT twice: the second set is kept as it came, but not counted."""
    receipt = receipt_of(assignment)
    move(assignment, come_from=State.LEASED, to=State.EXCLUDED, actor="intake", receipt=receipt, problem=REPEATED)
    Decision.objects.create(assignment=assignment, votes_count=False, paid=True, reason=REPEATED)
    try:
        owe(assignment)
    except CeilingError as error:
        Assignment.objects.filter(pk=assignment.pk).update(problem=f"{REPEATED} {error}")


def _answers_of(assignment: Assignment, items: Mapping[int, Item]) -> tuple[Sequence[Answer], str]:
    """Return the answers of a confirmed submission, all or none, and what a person should look at, if anything.

    They are those saved with us, or else the platform's copy. Where both are there, their receipts must agree.
    """
    fields = channels.platform(assignment.channel).answer_fields(assignment.content)
    if assignment.receipt and (answers := _whole([*drafted_answers(assignment).values()], items, assignment)):
        agrees = fields.get(RECEIPT_FIELD, assignment.receipt) == assignment.receipt
        return answers, "" if agrees else FOREIGN
    if answers := _whole(_copied(fields, items), items, assignment):
        return answers, ""
    return [], LOST


def _copied(fields: Mapping[str, str], items: Mapping[int, Item]) -> list[Answer]:
    places = {item.place: pk for pk, item in items.items()}
    try:
        return decode_answers(fields.get(ANSWERS_FIELD, ""), places)
    except CounterpartError:
        return []


def _whole(answers: list[Answer], items: Mapping[int, Item], assignment: Assignment) -> list[Answer]:
    """Return the answers if they are exactly one valid one for each item; none otherwise."""
    try:
        check_answer_set(answers, items, reasons=assignment.hit.round.reasons)
    except CounterpartError:
        return []
    return answers


def _without_repeated_pairs(
    assignment: Assignment, answers: Sequence[Answer], items: Mapping[int, Item]
) -> Sequence[Answer]:
    """Leave out pairs that the worker has judged in another HIT: only the first answer of a worker to a pair counts.
    What is left out stays in the drafts, or in the platform's copy."""
    judged = set(Judgment.objects.filter(worker=assignment.worker_id).values_list("image_id", "caption_id"))
    pairs = {pk: (item.image_id, item.caption_id) for pk, item in items.items()}
    return [answer for answer in answers if pairs[answer.item_id] not in judged]
