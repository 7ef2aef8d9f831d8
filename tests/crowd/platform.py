"""A rehearsal in one process: the emulator on a port, workers, and our pages through the test client."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from unittest.mock import patch
from urllib.parse import urlencode

import boto3
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from counterpart_emulators.market_server import MarketServer
from counterpart_emulators.mturk.emulator import Emulator
from counterpart_emulators.mturk.world import World
from crowd.models import Outbox, Posting
from hits.models import Round
from simulation.http_browser import Page, filled_in
from tests.factories import make_round

SESSION = boto3.session.Session()
FRAME = "/judge/at/mturk/emulator/"


@dataclass
class Rehearsal:
    """``emulator`` is MTurk's side; our side is reached by commands and pages."""

    emulator: Emulator
    workers: list[str] = field(default_factory=list)

    @property
    def world(self) -> World:
        return self.emulator.world

    def fault(self, **declared) -> None:
        """Have something go wrong on the platform from now on; see ``faults.kinds``."""
        self.emulator.plan.add(declared)

    def worker(self) -> str:
        """Register one more worker."""
        self.workers.append(self.world.register_worker())
        return self.workers[-1]

    def hits(self) -> list[str]:
        """The HITs on the platform, in the order of ours."""
        posted = Posting.objects.exclude(external_id="").order_by("hit__number", "pk")
        return list(posted.values_list("external_id", flat=True))

    def accept(self, hit_id: str, worker_id: str) -> str:
        return str(self.emulator.work.accept(hit_id, worker_id)["AssignmentId"])

    def submit(self, assignment_id: str, worker_id: str, fields: dict[str, str]) -> None:
        self.emulator.work.submit(assignment_id, worker_id, fields)

    def open_page(self, hit_id: str, assignment_id: str, worker_id: str) -> str:
        """Open our page in the frame; returns the address of the worker's turn."""
        claims = {"assignmentId": assignment_id, "hitId": hit_id, "workerId": worker_id}
        address = f"{FRAME}?{urlencode(claims | {'turkSubmitTo': self.emulator.url})}"
        return Client().get(address).headers["Location"]

    def save(self, address: str, *, level: int = 1, wrong_controls: bool = False) -> dict[str, str]:
        """Answer every pair and save with us; returns the form that the page would send to the platform."""
        client = Client()
        form = Page("http://testserver" + address, client.get(address).content.decode()).forms[0]
        levels = {name: str(level) for name in form.fields if name.startswith("level-")}
        levels |= golds(address, wrong=wrong_controls)
        saved = client.post(address, filled_in(form, levels | {"active_seconds": "70"}))
        sending = Page("http://testserver" + address, saved.content.decode()).forms[0]
        assert sending.action == f"{self.emulator.url}/mturk/externalSubmit"
        return filled_in(sending, {})

    def resend(self, address: str) -> dict[str, str]:
        """Come back to a turn that is saved; returns the form that the page offers to send."""
        page = Client().get(address).content.decode()
        return filled_in(Page("http://testserver" + address, page).forms[0], {})

    def work(self, hit_id: str, worker_id: str, **answers) -> str:
        """Accept a HIT, answer it on our page and hand it in on the platform; returns the AssignmentId."""
        assignment_id = self.accept(hit_id, worker_id)
        fields = self.save(self.open_page(hit_id, assignment_id, worker_id), **answers)
        self.submit(assignment_id, worker_id, fields)
        return assignment_id

    def later(self, **by: float) -> None:
        """Let time pass on the platform."""
        self.world.move_clock(by=timedelta(**by))

    def available(self) -> str:
        return str(self.world.call("GetAccountBalance", {})["AvailableBalance"])


def golds(address: str, *, wrong: bool) -> dict[str, str]:
    """The levels for the controls of the turn's HIT, all right or all wrong, by the names of the form's fields."""
    from annotation.judging.links import read_assignment_token
    from annotation.work.answers import places_of
    from hits.models import Item

    shown = places_of(read_assignment_token(address.rstrip("/").split("/")[-1]))
    controls = dict(
        Item.objects.filter(pk__in=shown.values(), control__isnull=False).values_list("pk", "control__polarity")
    )
    return {
        f"level-{place}": "1" if (controls[item] == "positive") != wrong else "4"
        for place, item in shown.items()
        if item in controls
    }


@pytest.fixture
def rehearsal(db, settings) -> Iterator[Rehearsal]:
    """MTurk's emulator, at the address that our variables name."""
    with rehearsing(settings) as made:
        yield made


@contextmanager
def rehearsing(settings) -> Iterator[Rehearsal]:
    """A new emulator, at the address that our variables name."""
    with Emulator(World(seed=1)) as emulator:
        settings.SYNC_LAG_SECONDS = 0
        # A session of its own for the client of every new emulator would read botocore's descriptions each time.
        with (
            patch.dict(os.environ, MTURK_EMULATOR_URL=emulator.url),
            patch.object(boto3.session, "Session", lambda: SESSION),
        ):
            yield Rehearsal(emulator)


@contextmanager
def taken_back_there(emulator: MarketServer) -> Iterator[None]:
    """Take back all that is done at an emulator, its faults and its clock too, as after a test."""
    clock = emulator.world.clock
    with emulator.world.looking() as state:
        kept, offset, stopped_at = deepcopy(vars(state)), clock.offset, clock.stopped_at
    yield
    emulator.plan.clear_all()
    clock.restore(offset=offset, stopped_at=stopped_at)
    with emulator.world.looking() as state:
        vars(state).update(kept)


def published(*, hits: int = 2, commit, **options) -> Round:
    """A small round on the emulator, every call made."""
    made = make_round(hits=hits, published=False, **options)
    with commit(execute=True):
        call_command("publish", made.name, channel="mturk", environment="emulator")
    made.refresh_from_db()
    return made


def sync(made: Round, commit) -> None:
    """Run the command, and then whatever it put on the queue."""
    Outbox.objects.update(due_at="2026-01-01T00:00Z")
    with commit(execute=True):
        call_command("sync", made.name)


def quiet_sync(made: Round, commit) -> None:
    """Sync, whatever the platform answers."""
    with suppress(CommandError):
        sync(made, commit)
