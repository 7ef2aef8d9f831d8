"""Two web hosts and two workers, one of them killed: rounds on both platforms are paid while a search takes hours."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from annotation.models import Judgment, Payment
from annotation.money.ledger import balances
from core.models import Job
from core.work.jobs import open_job
from crowd.differences import find_differences
from crowd.models import Outbox
from hits.models import Round
from simulation.doors.base import assignment_of
from simulation.doors.mturk import MTurkSite
from simulation.doors.prolific import ProlificSite
from tests.annotation.answering import as_form, right_answers
from tests.chaos.processes import PYTHON, Process, answers
from tests.crowd.platform_books import books_of
from tests.factories import make_collection, make_round
from tests.ports import reserved_port

pytestmark = [pytest.mark.slow, pytest.mark.service, pytest.mark.django_db(transaction=True)]

HITS = 12  # of each round
PEOPLE = 2  # at once, on each platform
PATIENCE = 120  # seconds, far more than is needed
LONGEST_WAIT = 5.0  # seconds that a sync may wait for a worker
WEB = [*PYTHON, "gunicorn", "--config", "config/gunicorn.py", "--reuse-port", "--log-level", "warning", "--bind"]
CELERY = [*PYTHON, "celery", "-A", "config"]


@dataclass
class Hosts:
    """Processes that share a database, a broker and a storage, as on several computers."""

    folder: Path
    environment: dict[str, str]
    processes: dict[str, Process] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return self.environment["SITE_URL"]

    def start(self, name: str, command: list[str]) -> None:
        own = {"VAR_DIR": str(self.folder / name)}
        log = self.folder / f"{name}.log"
        self.processes[name] = Process(name, command, environment=self.environment | own, log=log)

    def start_site(self, name: str) -> None:
        self.start(name, [*WEB, urlsplit(self.address).netloc])

    def start_worker(self, name: str, *, queues: str, processes: int) -> None:
        options = ["-Q", queues, "--concurrency", str(processes), "--hostname", f"{name}@here"]
        self.start(name, [*CELERY, "worker", "-I", "tests.waiting_jobs", *options])

    def start_clock(self) -> None:
        self.start("clock", [*CELERY, "beat", "--pidfile=", "--schedule", str(self.folder / "beat")])

    def stop(self) -> None:
        for process in self.processes.values():
            process.stop(signal.SIGKILL)


def wait_until(holds: Callable[[], object], *, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"{what}: never"
        time.sleep(0.1)


@pytest.fixture
def hosts(settings, tmp_path) -> Iterator[Hosts]:
    if connection.vendor != "postgresql" or not settings.REDIS_URL:
        pytest.skip("needs PostgreSQL and Redis")
    settings.CELERY_TASK_ALWAYS_EAGER = False
    with reserved_port() as port:
        settings.SITE_URL = f"http://127.0.0.1:{port}"
        environment = {
            "DATABASE_URL": f"{os.environ['DATABASE_URL'].rsplit('/', 1)[0]}/{connection.settings_dict['NAME']}",
            "SITE_URL": settings.SITE_URL,
            "REDIS_PREFIX": settings.REDIS_PREFIX,
            "SECRET_KEY": settings.SECRET_KEY,
            "MEDIA_ROOT": str(settings.MEDIA_ROOT),
            "RECONCILE_SECONDS": "3",
            "SYNC_SECONDS": "2",
            "SYNC_LAG_SECONDS": "0",
            "OMP_NUM_THREADS": "1",
            "WAITS": str(tmp_path / "waits"),
        }
        made = Hosts(tmp_path, os.environ | environment)
        try:
            yield made
        finally:
            made.stop()
    server = redis.from_url(settings.REDIS_URL)
    for key in server.scan_iter(f"{settings.REDIS_PREFIX}*"):
        server.delete(key)


def publish(name: str, *, channel: str) -> Round:
    made = make_round(make_collection(name, images=HITS * 4 + 2, pictures=True), name, hits=HITS, published=False)
    Round.objects.filter(pk=made.pk).update(reward=Decimal("2.00"))
    call_command("publish", name, channel=channel, environment="emulator", expected_minutes=Decimal(8))
    # A worker whose sync comes first posts in place of the command.
    wait_until(lambda: not Outbox.objects.exclude(state=Outbox.State.DONE).exists(), what="the round is posted")
    made.refresh_from_db()
    return made


def work(site: MTurkSite | ProlificSite, name: str) -> None:
    """One person signs in, takes a HIT, unless another one is first, and submits the right answers."""
    try:
        visitor = site.visit(site.worker_id(name))
        task = None
        while task is None:
            task = visitor.accept(next(iter(visitor.offers().values())))
        sheet = task.open()
        assignment = assignment_of(sheet)
        fields = as_form(assignment, right_answers(assignment)) | {"active_seconds": "70"}
        assert task.submit(task.save(sheet, fields))
    finally:
        connection.close()


def paid(made: Round) -> int:
    return Payment.objects.filter(round=made, state=Payment.State.PAID).count()


def forget_the_killed_worker(*rounds: Round) -> None:
    """Let five minutes pass: after them its sync and its calls count as lost."""
    for made in rounds:
        cache.delete(f"annotation.sync.{made.pk}")
    past = timezone.now() - timedelta(seconds=1)
    Outbox.objects.filter(state__in=(Outbox.State.PENDING, Outbox.State.SENDING)).update(due_at=past)


def check(made: Round, *, spent: Decimal) -> None:
    """Every HIT was judged once, everybody was paid once, and our books are the platform's."""
    books = balances(made)
    assert (sum(books.values()), books["held"], books["owed"], books["planned"]) == (0, 0, 0, 0)
    assert books["paid"] + books["fees"] == spent
    assert Counter(Payment.objects.filter(round=made).values_list("state", "amount")) == {("paid", made.reward): HITS}
    sets = Counter(Judgment.objects.filter(assignment__hit__round=made).values_list("assignment__hit", flat=True))
    assert sorted(sets.values()) == [4] * HITS
    assert find_differences(made) == []


def open_search(tmp_path: Path) -> Job:
    """Open a job that searches until ``found`` is there."""
    return open_job("Search", "mitl.tasks.wait", {"until": str(tmp_path / "found")})


def state_of(job: Job) -> str:
    job.refresh_from_db()
    return job.state


def test_payments_wait_neither_for_a_search_nor_for_a_worker_that_was_killed(rehearsal, prolific, hosts, tmp_path):
    hosts.start_site("web-1")
    hosts.start_site("web-2")
    hosts.start_worker("worker-1", queues="default,crowd", processes=2)
    hosts.start_worker("worker-2", queues="default,crowd", processes=2)
    hosts.start_worker("retrieval", queues="retrieval", processes=1)
    hosts.start_clock()
    search, behind = open_search(tmp_path), open_search(tmp_path)
    wait_until(lambda: answers(f"{hosts.address}/readyz"), what="the site answers")
    wait_until(lambda: state_of(search) == Job.State.RUNNING, what="the search runs")
    farm, park = publish("farm", channel="mturk"), publish("park", channel="prolific")
    places = {farm: MTurkSite(farm), park: ProlificSite(park)}

    with ThreadPoolExecutor(2 * PEOPLE) as people:
        turns = [people.submit(work, places[made], f"{made} {n}") for n in range(HITS) for made in places]
        wait_until(lambda: paid(farm) + paid(park) > HITS // 2, what="some are paid")
        hosts.processes["worker-1"].stop(signal.SIGKILL)
        forget_the_killed_worker(farm, park)
        for turn in turns:
            turn.result()
    wait_until(lambda: paid(farm) == paid(park) == HITS, what="everybody is paid")
    wait_until(lambda: not Outbox.objects.exclude(state=Outbox.State.DONE).exists(), what="all calls are made")

    waits = [float(line) for line in (tmp_path / "waits").read_text().splitlines()]
    print(f"{len(waits)} syncs waited for {max(waits):.2f} s at most")
    late = [seconds for seconds in waits if seconds > LONGEST_WAIT]
    assert len(late) <= len(waits) // 4  # as the machine may be busy with other tests
    assert [state_of(job) for job in (search, behind)] == [Job.State.RUNNING, Job.State.QUEUED]
    check(farm, spent=books_of(rehearsal).total)
    check(park, spent=prolific.spent())

    hosts.processes["retrieval"].terminate(seconds=PATIENCE)
    assert [state_of(job) for job in (search, behind)] == [Job.State.QUEUED, Job.State.QUEUED]
    assert search.attempts == 0
