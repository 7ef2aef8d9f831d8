"""Prolific's emulator for a test: participants who come, answer, finish, return or run out of time."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import cycle
from typing import Literal
from unittest.mock import patch
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import Assignment, Judgment, Payment
from annotation.money.ledger import balances
from counterpart_emulators.prolific.emulator import Emulator
from counterpart_emulators.prolific.world import World
from counterpart_emulators.world_clock import Clock
from crowd.calls.single_payments import unclear_payments
from crowd.models import Outbox, Posting
from hits.models import Round
from tests.annotation.answering import as_form, right_answers
from tests.crowd.platform import quiet_sync
from tests.factories import make_round

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
FUNDS = Decimal("10000.00")
CALL_FAULTS = [{"kind": "drop"}, {"kind": "reset"}, {"kind": "throttle", "rate": 0, "burst": 1}]
FAILURES = [
    {"kind": "status", "status": 503, "body": "json"},
    {"kind": "status", "status": 502, "body": "html"},
    {"kind": "status", "status": 500, "body": "message"},
]


def faults_of(*operations: str) -> list[tuple[str, dict]]:
    """Every kind of fault of these calls. What fails with a status has one of three bodies, of which each operation
    meets one. Of a call that only reads, a lost reply is as a lost request."""
    failures = zip(operations, cycle(FAILURES), strict=False)
    return [
        (operation, fault)
        for operation, failure in failures
        for fault in (*CALL_FAULTS, failure)
        if fault["kind"] != "drop" or not operation.startswith(("list_", "show_"))
    ]


@dataclass
class Rehearsal:
    """The emulator, and what people do at its site."""

    emulator: Emulator
    browsers: dict[str, Client] = field(default_factory=dict)

    @property
    def world(self) -> World:
        return self.emulator.world

    def fault(self, **declared) -> None:
        self.emulator.plan.add(declared)

    def later(self, **by: float) -> None:
        self.world.move_clock(by=timedelta(**by), running=self.world.clock.running)

    def study(self):
        with self.world.looking() as state:
            return next(reversed(state.studies.values()))

    def studies(self) -> list:
        with self.world.looking() as state:
            return list(state.studies.values())

    def spent(self) -> Decimal:
        with self.world.looking() as state:
            return FUNDS - state.ledger.available

    def bonuses(self) -> list[Decimal]:
        with self.world.looking() as state:
            return [amount for row in state.submissions.values() for amount in row.bonuses]

    def status(self, submission: str) -> str:
        with self.world.looking() as state:
            return state.submissions[submission].status

    def statuses(self) -> list[str]:
        with self.world.looking() as state:
            return sorted(row.status for row in state.submissions.values())

    def reserve(self, person: str = "") -> tuple[str, str]:
        """Take a place; the submission and the participant."""
        person = person or self.world.register()
        done = self.world.act("reserve", study_id=self.study().id, participant_id=person)
        return done["submission_id"], person

    def start(self, submission: str, person: str) -> str:
        """Open the study; our address."""
        done = self.world.act("start", submission_id=submission, participant_id=person)
        parts = urlsplit(done["url"])
        return f"{parts.path}?{parts.query}"

    def complete(self, submission: str, person: str, code: str) -> None:
        self.world.act("complete", submission_id=submission, participant_id=person, code=code)

    def give_back(self, submission: str, person: str) -> None:
        self.world.act("return", submission_id=submission, participant_id=person)

    def browser(self, person: str) -> Client:
        return self.browsers.setdefault(person, Client())

    def come(self, address: str, person: str, answer: str = "yes"):
        """Follow the address that Prolific opens, and answer the consent page; the page that follows."""
        browser = self.browser(person)
        entry = browser.get(address)
        assert entry.status_code == 303, entry.text
        page = browser.get(entry.url)
        sheet = re.search(r'name="sheet" value="(\d+)"', page.text)
        return browser.post(entry.url, {"consent": answer, "sheet": sheet[1]}) if sheet else page

    def open(self, person: str = "") -> tuple[str, str, str]:
        """Take a place and open its HIT; the submission, the participant and the address of the sheet."""
        submission, person = self.reserve(person)
        page = self.come(self.start(submission, person), person)
        assert page.status_code == 303, page.text
        return submission, person, page.url

    def answer(self, submission: str, person: str, sheet: str, *, wrong: bool = False) -> str:
        """Submit every answer; the completion code."""
        assignment = Assignment.objects.get(outside_key=submission)
        answers = right_answers(assignment)
        form = {name: "1" for name in as_form(assignment, answers)} if wrong else as_form(assignment, answers)
        page = self.browser(person).post(sheet, form)
        return code_in(page.text)

    def work(self, person: str = "", *, wrong: bool = False) -> Assignment:
        """Do it all, from the place to the code."""
        submission, person, sheet = self.open(person)
        self.complete(submission, person, self.answer(submission, person, sheet, wrong=wrong))
        return Assignment.objects.get(outside_key=submission)


def code_in(page: str) -> str:
    found = re.search(r'name="cc" value="(\w+)"', page)
    assert found, page
    return found[1]


@pytest.fixture
def rehearsal(db, settings) -> Iterator[Rehearsal]:
    with rehearsing(settings) as made:
        yield made


@contextmanager
def rehearsing(settings, *, currency: Literal["USD", "GBP"] = "USD") -> Iterator[Rehearsal]:
    """A new emulator with a stopped clock, at the address that our variables name."""
    settings.SYNC_LAG_SECONDS = 0
    with (
        Emulator(World(seed=1, currency=currency, clock=Clock(lambda: NOON))) as emulator,
        patch.dict(os.environ, PROLIFIC_EMULATOR_URL=emulator.url, PROLIFIC_ENVIRONMENTS="emulator"),
    ):
        yield Rehearsal(emulator)


def published(*, hits: int = 2, commit, reward: str = "2.00", **options) -> Round:
    """A small round on the emulator, every call made."""
    with commit(execute=True):
        made = publish(hits, reward=reward, **options)
    made.refresh_from_db()
    return made


def publish(hits: int = 1, *, reward: str = "2.00", **options) -> Round:
    """The same where transactions really end, which makes the calls."""
    made = make_round(hits=hits, published=False, reward=reward, **options)
    call_command("publish", made.name, channel="prolific", environment="emulator", expected_minutes=Decimal(8))
    made.refresh_from_db()
    return made


def rest(made: Round, there: Rehearsal, commit, times: int = 3) -> None:
    """Let the time pass after which bonuses are listed and lost calls are taken up, and sync."""
    for _ in range(times):
        there.later(minutes=2)
        quiet_sync(made, commit)


def rest_until_clear(made: Round, there: Rehearsal, commit) -> None:
    """Rest until the bonus is paid or is left to a person, and once more."""
    for _ in range(10):
        rest(made, there, commit, times=1)
        if Payment.objects.filter(kind="bonus", state="paid").exists() or unclear_payments().exists():
            break
    rest(made, there, commit, times=1)


def work(there: Rehearsal, commit, times: int = 1) -> None:
    """Have new participants take a HIT each and finish it."""
    with commit(execute=True):
        for _ in range(times):
            there.work()


def check_books(made: Round, there: Rehearsal) -> None:
    """Hold our books and Prolific's against each other."""
    books = balances(made)
    assert sum(books.values()) == 0
    assert books["paid"] + books["fees"] + books["held"] == there.spent()


def check_done(made: Round, there: Rehearsal, *, hits: int) -> None:
    """One study, every answer stored once, everybody paid once, and books that agree with Prolific's."""
    assert len(there.studies()) == 1
    assert (Posting.objects.get().external_id, there.study().places) == (there.study().id, hits)
    assert sorted(Counter(Judgment.objects.values_list("assignment", flat=True)).values()) == [4] * hits
    assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * hits
    assert there.statuses() == ["APPROVED"] * hits
    check_books(made, there)
    assert not Outbox.objects.exclude(state="done").exists()
