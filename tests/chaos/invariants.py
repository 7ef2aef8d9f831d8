"""What must hold of the database whatever was killed. Each check returns a line for every violation.

Those of ``ALWAYS`` hold at every moment, those of ``AT_REST`` once the site has repaired what the kills left behind.
That two hold one seat, or one worker two seats of a HIT, the database itself refuses.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import Count, F, Q
from django.utils import timezone

from annotation.models import Assignment, Decision, Draft, Judgment, Payment
from annotation.money.ledger import balances
from annotation.work.grading import count_failures
from core.models import Event, Job
from crowd.models import Outbox
from dataset.models import Version
from dataset.releases.verification import verify_version
from hits.models import Item, Round, Seat
from tests.chaos.crowd import Sent
from tests.transactions import taken_back

State = Assignment.State
GRADED = (State.FLAGGED, State.ACCEPTED, State.EXCLUDED)


def violations(sent: Sequence[Sent], *, at_rest: bool = False) -> list[str]:
    """Check one state of the database. ``sent`` is a copy made before: what is acknowledged later may be missing."""
    with _unchanging():
        found = [line for check in (lost, altered) for line in check(sent, at_rest)]
        return found + [line for check in (ALWAYS + AT_REST if at_rest else ALWAYS) for line in check()]


@contextmanager
def _unchanging() -> Iterator[None]:
    """All queries see one state, and files may be read meanwhile: nothing is written."""
    is_first = not connection.in_atomic_block
    with taken_back():
        if connection.vendor == "postgresql" and is_first:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield


def lost(sent: Sequence[Sent], at_rest: bool) -> Iterator[str]:
    """Acknowledged submissions that are not stored. A platform's are stored by the next sync."""
    stored = set(Judgment.objects.values_list("assignment", flat=True))
    for one in sent:
        if one.acknowledged and (at_rest or not one.on_platform) and one.assignment not in stored:
            yield f"lost: assignment {one.assignment} was acknowledged and has no judgments"


def altered(sent: Sequence[Sent], at_rest: bool) -> Iterator[str]:
    """Judgments that are not what was sent, more or fewer."""
    stored: dict[int, dict[int, int]] = {}
    for assignment, item, level in Judgment.objects.values_list("assignment", "item", "level"):
        stored.setdefault(assignment, {})[item] = level
    known = {one.assignment: one.levels for one in sent}
    for assignment, levels in stored.items():
        if assignment in known and levels != known[assignment]:
            yield f"altered: assignment {assignment} has levels {levels}, not {known[assignment]}"


def partial() -> Iterator[str]:
    """Submitted work without all its judgments, and judgments of work that was not submitted."""
    wanted = dict(Item.objects.values_list("hit").annotate(n=Count("pk")))
    given = Counter(Judgment.objects.values_list("assignment", flat=True))
    for pk, hit, state in Assignment.objects.values_list("pk", "hit", "state"):
        expected = wanted[hit] if state in Assignment.SUBMITTED else 0
        if given[pk] != expected:
            yield f"partial: assignment {pk} is {state} with {given[pk]} of {expected} judgments"


def doubled() -> Iterator[str]:
    """A pair judged twice by one worker; a submission, reward or decision that was made twice."""
    pairs = Counter(Judgment.objects.values_list("assignment__worker", "item__image", "item__caption"))
    yield from (f"doubled: (worker, image, caption) {pair} was judged {n} times" for pair, n in pairs.items() if n > 1)
    submitted = Counter(Event.objects.filter(verb="submitted").values_list("subject", flat=True))
    yield from (f"doubled: {subject} was submitted {n} times" for subject, n in submitted.items() if n > 1)
    decided = Counter(Decision.objects.values_list("assignment", flat=True))
    yield from (f"doubled: assignment {pk} was decided {n} times" for pk, n in decided.items() if n > 1)


def too_many_votes() -> Iterator[str]:
    """A pair with more votes than its round wants."""
    votes = Judgment.objects.filter(assignment__state__in=Assignment.HOLDING, item__control=None)
    counted = votes.values_list("item", "item__hit__round__replication").annotate(n=Count("pk"))
    yield from (f"votes: item {item} has {n} of {most} votes" for item, most, n in counted if n > most)


def seats() -> Iterator[str]:
    """A seat that is offered while it is held, or taken without a holder."""
    held = set(Assignment.objects.filter(state__in=Assignment.HOLDING).values_list("seat", flat=True))
    for pk, state in Seat.objects.values_list("pk", "state"):
        if (state == Seat.State.OPEN) == (pk in held):
            yield f"seats: seat {pk} is {state} and {'held' if pk in held else 'not held'}"


def controls() -> Iterator[str]:
    """Graded work without the result of its controls."""
    ungraded = Assignment.objects.filter(state__in=GRADED, control_failures=None)
    yield from (f"controls: assignment {one.pk} is {one.state} without a result" for one in ungraded)


def recounted_controls() -> Iterator[str]:
    """Graded work whose result of the controls is not what its judgments say, or that was accepted in spite of it."""
    for one in Assignment.objects.filter(state__in=GRADED):
        right = count_failures(one)
        if one.control_failures != right or (one.state == State.ACCEPTED and right):
            yield f"controls: assignment {one.pk} is {one.state} with {one.control_failures} failures; it has {right}"


def money() -> Iterator[str]:
    """Accepted work without its one reward, a reward of other work, and balances that do not add up."""
    rewards = Counter(Payment.objects.filter(kind=Payment.Kind.REWARD).values_list("assignment", flat=True))
    accepted = set(Assignment.objects.filter(state=State.ACCEPTED).values_list("pk", flat=True))
    yield from (f"money: assignment {pk} is accepted with {rewards[pk]} rewards" for pk in accepted if rewards[pk] != 1)
    yield from (f"money: assignment {pk} is paid and not accepted" for pk in rewards.keys() - accepted)
    for round in Round.objects.all():
        accounts, earned = balances(round), Decimal(0)
        for amount in round.payments.values_list("amount", flat=True):
            earned += amount
        if sum(accounts.values()) or accounts["owed"] + accounts["paid"] < earned:
            yield f"money: the balance of {round} is {accounts}, and {earned} were earned"


def files() -> Iterator[str]:
    """Files of versions that are missing or have another checksum."""
    for version in Version.objects.all():
        for name, described in version.manifest["files"].items():
            path = f"{version.folder}/{name}"
            stored = default_storage.open(path).read() if default_storage.exists(path) else None
            if stored is None or sha256(stored).hexdigest() != described["sha256"]:
                yield f"files: {path} is {'missing' if stored is None else 'not what was released'}"


def versions() -> Iterator[str]:
    """Versions that do not follow from their judgments. The rounds of this run were not packed."""
    for version in Version.objects.all():
        checks = [check for check in verify_version(version) if check.name != "packing"]
        yield from (f"files: version {version}: {problem}" for check in checks for problem in check.problems)


def rows() -> Iterator[str]:
    """What SQLite's own check finds."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for pragma in ("integrity_check", "foreign_key_check"):
                answer = cursor.execute(f"PRAGMA {pragma}").fetchall()
                yield from (f"rows: {line}" for line in answer if line != ("ok",))


def leases() -> Iterator[str]:
    """Leases past their deadline, and submissions without a grade."""
    late = Assignment.objects.filter(state=State.LEASED, deadline__lt=timezone.now(), seat__isnull=False)
    yield from (f"leases: assignment {one.pk} ran out at {one.deadline}" for one in late)
    ungraded = Assignment.objects.filter(state=State.SUBMITTED)
    yield from (f"leases: assignment {one.pk} is submitted and not graded" for one in ungraded)
    drafts = Draft.objects.filter(assignment__state__in=Assignment.SUBMITTED)
    yield from (f"leases: a draft of assignment {one.assignment_id} is left" for one in drafts)


def clocks() -> Iterator[str]:
    """Leases that a wrong clock made too long and, where the database has a clock, work sent before it was taken."""
    now = timezone.now()
    too_long = Q(leased_at__gt=now) | Q(deadline__gt=now + timedelta(minutes=2 * settings.LEASE_MINUTES))
    for one in Assignment.objects.filter(too_long, state=State.LEASED, outside_key=""):
        yield f"clocks: assignment {one.pk} is leased from {one.leased_at} to {one.deadline}"
    if connection.vendor == "postgresql":
        for one in Assignment.objects.filter(submitted_at__lt=F("leased_at")):
            yield f"clocks: assignment {one.pk} was submitted at {one.submitted_at} and taken at {one.leased_at}"


def work() -> Iterator[str]:
    """Jobs that have not ended well, and calls to the platform that were not made."""
    yield from (f"work: job {one}: {one.message}" for one in Job.objects.exclude(state=Job.State.DONE))
    calls = Outbox.objects.exclude(state=Outbox.State.DONE)
    yield from (f"work: call {one.call} of {one.subject} is {one.state}: {one.error}" for one in calls)


Check = Callable[[], Iterator[str]]
ALWAYS: tuple[Check, ...] = (partial, doubled, too_many_votes, seats, controls, money, files)
AT_REST: tuple[Check, ...] = (recounted_controls, versions, rows, leases, clocks, work)
