"""The door at a platform's emulator: workers use its site and our page in it, and the round is synced as they work."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
from django.db.models import Exists, Q

from annotation.models import Assignment, AssignmentQuerySet, WorkerIdentity
from annotation.work.answers import Answer
from core.errors import CounterpartError
from core.progress import Progress
from crowd.channels.base import ChannelError
from crowd.models import Posting, Visit
from crowd.sync import sync_round
from hits.models import Round, Seat
from simulation.doors.base import assignment_of, form_of
from simulation.doors.conduct import CONDUCTS, Filled, Task, drawn_conduct, is_sheet
from simulation.doors.mturk import MTurkSite, MTurkVisitor
from simulation.doors.prolific import ProlificSite, ProlificVisitor
from simulation.http_browser import Page
from simulation.profiles import Profile
from simulation.simulated_workers import Reviewer

SYNC_EVERY = 25  # turns: submissions are collected while others are at work, as a worker process does it
FRUITLESS = 2  # times that no worker finds a HIT, after which waiting ends
COUNTED = (
    "returned", "abandoned", "submitted twice", "without code", "on two devices", "refused", "turned away", "syncs",
)  # fmt: skip


Site = MTurkSite | ProlificSite
"""The emulator of a platform. ``profile``: how its workers behave by default; ``longest_turn``: how long a worker may
keep a HIT."""
SITES: dict[str, Callable[[Round], Site]] = {"mturk": MTurkSite, "prolific": ProlificSite}


def site_of(round: Round) -> Site:
    """Return the emulator that the round is posted on. Raises CounterpartError if it is on none that can be used."""
    if not round.rehearsal:
        raise CounterpartError(
            f"Round {round} is on {round.channel} {round.environment}, where people work for money. "
            "Simulate a crowd only on an emulator."
        )
    if round.channel not in SITES:
        raise CounterpartError(f"Round {round} is on {round.channel}, where no workers can be simulated.")
    try:
        return SITES[round.channel](round)
    except ChannelError as error:
        raise CounterpartError(str(error)) from error


class PlatformDoor:
    """A worker takes each HIT at most once, whatever its outcome, so that every rehearsal ends."""

    def __init__(
        self, round: Round, site: Site, profile: Profile, reviewer: Reviewer, *, seed: int, progress: Progress
    ) -> None:
        self.round = round
        self.profile = profile
        self.counts: Counter[str] = Counter()
        self.taken: set[str] = set()  # the platform's ids of the assignments that it took
        self._site = site
        self._reviewer = reviewer
        self._seed = seed
        self._progress = progress
        self._visitors: dict[str, MTurkVisitor | ProlificVisitor] = {}
        self._had: dict[int, set[int]] = {}
        self._hits = round.hits.count()
        self._begun = 0  # turns since the last sync
        self._fruitless = 0
        self._failures: list[str] = []

    @property
    def done(self) -> int:
        return len(self.taken)

    def take(self, person: int) -> "PlatformTurn | None":
        """Accept a HIT that the person has not had: from their list, or else by its address."""
        if self._begun == SYNC_EVERY:
            self._sync()
        visitor = self._visitor(person)
        had = self._had.setdefault(person, set())
        listed = visitor.offers() if len(had) < self._hits else {}
        if not listed:
            return None
        for posting in self._open_postings(had, first=listed):
            shown = posting.external_id in listed
            offer = listed[posting.external_id] if shown else visitor.offer_of(posting.external_id)
            if offer is not None and (task := visitor.accept(offer)):
                self._begun += 1
                turn = self._opened(task)
                # A posting of the whole round that turns a worker away has no HIT left for them.
                had |= {posting.hit_id or turn.hit_id} if posting.hit or turn.can_work else self._all_hits()
                return turn
        return None

    def wait(self, *, begun: int) -> bool:
        self._fruitless = 0 if begun else self._fruitless + 1
        changed = self._settle()
        return self._fruitless < FRUITLESS and (changed or not self._fruitless)

    def outcomes(self) -> Counter[str]:
        """Count what the platform took by the states of our assignments; "" for what was not collected yet. What was
        answered in a session that the platform has ended counts as well: it waits for a person."""
        # A platform gives the id of a returned one out again.
        listed = Visit.objects.listed().filter(posting__round=self.round, external_id__in=self.taken)
        stored = Assignment.objects.without_claims().filter(visit__in=listed)
        states = Counter[str](stored.values_list("state", flat=True))
        states[""] = len(self.taken) - states.total()
        states[Assignment.State.FLAGGED] += self._flagged().filter(visit__in=Visit.objects.gone()).count()
        return states

    def report(self) -> dict[str, object]:
        return {
            "not taken in yet": self.outcomes()[""],
            **{name: self.counts[name] for name in COUNTED},
            "hours forward": float(f"{self.counts['seconds forward'] / 3600:.1f}"),
            "failures": [{"failure": line} for line in self._failures],
        }

    def _all_hits(self) -> set[int]:
        return {*self.round.hits.values_list("pk", flat=True)}

    def _visitor(self, person: int) -> MTurkVisitor | ProlificVisitor:
        worker_id = self._site.worker_id(f"{self.round.name}-{self._seed}-{person}")
        if worker_id not in self._visitors:
            self._visitors[worker_id] = self._site.visit(worker_id)
        return self._visitors[worker_id]

    def _open_postings(self, had: set[int], *, first: Iterable[str]) -> list[Posting]:
        """Return the live postings with open seats, those ``first`` that the person's list shows: it shows one of each
        kind."""
        wanted = Seat.objects.filter(round=self.round, state=Seat.State.OPEN).values("hit")
        of_hits = Q(hit__in=wanted) & ~Q(hit__in=had)
        of_round = Q(hit=None, round=self.round) & Q(Exists(wanted))
        live = Posting.objects.filter(of_hits | of_round, state=Posting.State.LIVE)
        postings = live.select_related("hit").order_by("hit__number", "pk")
        return sorted(postings, key=lambda posting: posting.external_id not in first)

    def _opened(self, task: Task) -> "PlatformTurn":
        sheet = task.open()
        if not is_sheet(sheet):
            self.counts["turned away"] += 1
            task.leave(sheet)
        return PlatformTurn(self, task, sheet)

    def _settle(self) -> bool:
        """Sync, review, and let the time of abandoned HITs run out. Return whether that may have reopened a seat."""
        reopened = self._sync()
        if self._review_flagged():
            reopened += self._sync()
        abandoned = Posting.objects.filter(round=self.round, settled_at=None, pending__gt=0).exists()
        if abandoned:
            time = self._site.longest_turn + timedelta(seconds=1)
            self._site.forward(time)
            self.counts["seconds forward"] += int(time.total_seconds())
            reopened += self._sync()
        return bool(reopened) or abandoned

    def _review_flagged(self) -> int:
        """Have the crowd's flagged work reviewed; return how many assignments were decided."""
        flagged = list(self._flagged().select_related("hit").order_by("pk"))
        for assignment in flagged:
            nth = Assignment.objects.without_claims().filter(hit=assignment.hit, pk__lt=assignment.pk).count()
            rng = np.random.default_rng([self._seed, assignment.hit.number, nth, 1])
            self._reviewer.review(assignment, rng)
        return sum(assignment.state != Assignment.State.FLAGGED for assignment in flagged)

    def _flagged(self) -> AssignmentQuerySet:
        """Return the crowd's flagged work."""
        ids = [*self._visitors]
        crowd = WorkerIdentity.objects.filter(channel=self.round.channel, external_id__in=ids).values("worker")
        return Assignment.objects.filter(hit__round=self.round, worker__in=crowd, state=Assignment.State.FLAGGED)

    def _sync(self) -> int:
        """Sync the round with its platform; return how many seats were posted again."""
        self._begun = 0
        self.counts["syncs"] += 1
        synced = sync_round(self.round, progress=self._progress)
        self._failures = synced.failures
        return synced.asked_for


@dataclass(frozen=True)
class PlatformTurn:
    """An accepted HIT with our page open in it."""

    door: PlatformDoor
    task: Task
    sheet: Page

    @property
    def hit_id(self) -> int:
        return assignment_of(self.sheet).hit_id if self.can_work else 0

    @property
    def can_work(self) -> bool:
        return is_sheet(self.sheet)

    def finish(self, answers: Sequence[Answer], *, seconds: int, rng: np.random.Generator) -> bool:
        """End the turn by a randomly drawn conduct. The next sync shows which seats that reopened."""
        conduct = drawn_conduct(self.door.profile, rng)
        saves_first = bool(rng.random() < 0.5)
        others = [replace(answer, level=1, shortcoming="", wrong_way="") for answer in answers]
        assignment = assignment_of(self.sheet)
        fields, stale = (form_of(assignment, given, seconds=seconds) for given in (answers, others))
        ended = CONDUCTS[conduct](Filled(self.task, self.sheet, fields, stale, saves_first))
        self.door.counts.update({ended.counted: 1, "refused": ended.refused})
        if ended.taken:
            self.door.taken.add(self.task.assignment_id)
        return False
