"""One run: the site under load, the cuts of a schedule, a check after each and another one at rest."""

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from django.core.management import call_command
from django.db import DatabaseError, OperationalError, close_old_connections, connection
from django.utils import timezone

from annotation.models import Assignment
from core.models import Job
from core.work.jobs import STALE_AFTER
from crowd.models import Outbox
from crowd.sync import sync_round
from crowd.tasks import reconcile
from dataset.models import Version
from hits.models import Item
from tests.chaos.crowd import Crowd
from tests.chaos.cuts import Cut, Killer, Machine, schedule
from tests.chaos.ground import make_rounds, publish, releases
from tests.chaos.invariants import violations
from tests.chaos.processes import Site

RELEASE_EVERY = 10  # cuts, first at the second one
LONGEST_REST = 600.0  # seconds for the site to repair everything


@dataclass
class Outcome:
    """The figures of one run."""

    engine: str
    seed: int
    cuts: list[Cut]
    unable: set[str]  # kinds of cuts that this machine or engine does not allow
    seconds: float = 0.0
    checking: float = 0.0  # of these seconds
    counts: Counter[str] = field(default_factory=Counter)
    figures: dict[str, int] = field(default_factory=dict)
    deaths: dict[str, int] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)

    @property
    def kinds(self) -> Counter[str]:
        return Counter(cut.kind for cut in self.cuts)

    def of(self, kind: str) -> int:
        """The number of violations of a kind, such as ``lost``."""
        return sum(line.startswith(f"{kind}:") for line in self.found)


def run(folder: Path, environment: dict[str, str], machine: Machine, *, kills: int, seed: int) -> Outcome:
    """Start the site in ``folder`` with an empty, migrated database, kill it ``kills`` times, and check."""
    database, broker = environment["DATABASE_URL"], environment["REDIS_URL"]
    browser, mturk = make_rounds(hits=60 + 5 * kills, posted=20 + kills)
    site = Site(folder, environment=environment, seed=seed)
    killer = Killer(site, machine, is_calling=_is_calling, database=database, broker=broker)
    outcome = Outcome(connection.vendor, seed, schedule(kills=kills, seed=seed, without=killer.unable), killer.unable)
    try:
        site.wait()
        publish(browser, mturk)
        controls = Item.objects.filter(control__isnull=False).values_list("pk", "control__polarity")
        crowd = Crowd(site.address, dict(controls))
        begun, jobs = time.monotonic(), releases(browser)
        with crowd.working(browser, mturk, workers=6, turkers=2, seed=seed):
            _wait_for_work(crowd)
            for cut in outcome.cuts:
                time.sleep(cut.pause)
                killer.strike(cut)
                site.watch()
                if cut.number % RELEASE_EVERY == 2:
                    next(jobs)
                checked = time.monotonic()
                _note(outcome, cut, violations(crowd.so_far()))
                outcome.checking += time.monotonic() - checked
            time.sleep(1)
        outcome.seconds = time.monotonic() - begun
        _come_to_rest(site, mturk)
        _note(outcome, None, violations(crowd.so_far(), at_rest=True))
    finally:
        site.stop()
    outcome.counts, outcome.deaths = crowd.count, site.deaths
    outcome.figures = {
        "submitted": Assignment.objects.filter(state__in=Assignment.SUBMITTED).count(),
        "sent": len(crowd.sent),
        "acknowledged": sum(one.acknowledged for one in crowd.sent),
        "releases": Version.objects.count(),
        "lost jobs": sum(Job.objects.values_list("attempts", flat=True)),
        "calls": Outbox.objects.count(),
    }
    return outcome


def _is_calling() -> bool:
    close_old_connections()
    with suppress(DatabaseError):
        return Outbox.objects.filter(state=Outbox.State.SENDING).exists()
    return False


def _wait_for_work(crowd: Crowd, *, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not any(one.acknowledged for one in list(crowd.sent)):
        if time.monotonic() > end:
            raise TimeoutError(f"Nothing was submitted: {dict(crowd.count)}")
        time.sleep(0.2)


def _note(outcome: Outcome, cut: Cut | None, lines: list[str]) -> None:
    where = f"after cut {cut.number} ({cut.kind})" if cut else "at rest"
    outcome.found += [f"{line} [{where}]" for line in lines if not any(one.startswith(line) for one in outcome.found)]


def _come_to_rest(site: Site, mturk: object) -> None:
    """Let the site repair itself: leases run out, jobs that were lost start again. Their clock is moved on instead of
    waiting for minutes."""
    site.wait()
    past = timezone.now() - STALE_AFTER - timedelta(seconds=1)
    Assignment.objects.filter(state=Assignment.State.LEASED, seat__isnull=False).update(deadline=past)
    end, moved = time.monotonic() + LONGEST_REST, 0.0
    while time.monotonic() < end:
        close_old_connections()
        if time.monotonic() - moved > 45:  # time for a job to end
            moved = time.monotonic()
            Job.objects.filter(state=Job.State.RUNNING).update(heartbeat_at=past)
            Outbox.objects.filter(state__in=("pending", "sending")).update(due_at=past)
        try:
            sync_round(mturk)
            reconcile()
        except OperationalError:
            continue
        unfinished = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING)).exists()
        if not unfinished and not Outbox.objects.filter(state__in=("pending", "sending")).exists():
            return
        time.sleep(1)


def migrate() -> None:
    call_command("migrate", verbosity=0)
