"""The crowd: workers who judge over HTTP and repeat whatever fails, and the record of what they sent and what was
acknowledged."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import TypeVar
from urllib.parse import urlsplit

from django.db import DatabaseError, connection

from annotation.models import Assignment
from annotation.work.answers import places_of
from core.errors import CounterpartError
from hits.models import Round
from simulation.doors.base import assignment_of, hit_page, view_of
from simulation.doors.mturk import MTurkSite
from simulation.http_browser import Browser, Page

RIGHT = {"positive": 1, "negative": 4}
CAREFUL = 0.85  # share of HITs whose controls are answered right
TWICE = 0.15  # share of submissions that are sent twice at once
LEAVES = 0.05  # share of HITs that are left
HITS_EACH = 12  # of one worker, before the next one comes
REFUSALS = (400, 403, 404, 409, 410, 413, 422, 429)  # pages that say so; everything else is tried again
TRIES = 120
Result = TypeVar("Result")


@dataclass
class Sent:
    """What one worker submitted: the level of each item. ``acknowledged``: the site or the platform took it."""

    assignment: int
    levels: dict[int, int]
    on_platform: bool = False
    acknowledged: bool = False


@dataclass
class Crowd:
    """``polarity`` is that of every control, by its item. ``count`` counts requests that failed by why, and acts."""

    site: str
    polarity: dict[int, str]
    sent: list[Sent] = field(default_factory=list)
    count: Counter[str] = field(default_factory=Counter)
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def working(self, browser: Round, mturk: Round, *, workers: int, turkers: int, seed: int) -> Iterator[None]:
        """Let them work until the block ends."""
        with ThreadPoolExecutor(workers + turkers) as threads:
            for number in range(workers):
                threads.submit(self._go_on, partial(self._judge, browser), Random(f"{seed} worker {number}"))
            for number in range(turkers):
                turn = partial(self._turk, mturk, f"{seed}-{number}")
                threads.submit(self._go_on, turn, Random(f"{seed} turker {number}"))
            try:
                yield
            finally:
                self._stop.set()

    def so_far(self) -> list[Sent]:
        """Return a copy that later answers do not change."""
        return [replace(one) for one in list(self.sent)]

    def _go_on(self, come: Callable[[Random], None], rng: Random) -> None:
        while not self._stop.is_set():
            try:
                come(rng)
            except StoppedError:
                pass
            except Exception as error:  # a bug of this crowd would otherwise be silence
                self.count[f"unexpected: {type(error).__name__}: {error}"[:200]] += 1
            finally:
                connection.close()
            self._stop.wait(rng.uniform(0.1, 0.5))

    def _judge(self, round: Round, rng: Random) -> None:
        """One worker joins the browser pool and judges some HITs."""
        browser = Browser()
        join = self._patiently(lambda: browser.fetch(f"{self.site}/judge/join/{round.join_key}/"))
        consent = next(form for form in join.forms if "consent" in form.fields)
        home = self._patiently(lambda: browser.send(consent, {"consent": "yes"}, refusals=REFUSALS))
        for _ in range(HITS_EACH):
            page = hit_page(self._patiently(lambda: browser.send(home.form_to("/take/"), refusals=REFUSALS)))
            if page.status in REFUSALS or view_of(page).view_name != "judging:task":
                self.count["no HIT"] += 1
                return
            if rng.random() >= LEAVES:
                self._submit(browser, page, rng)
            self._stop.wait(rng.uniform(0.1, 0.8))

    def _submit(self, browser: Browser, page: Page, rng: Random) -> None:
        assignment = self._patiently(lambda: assignment_of(page))
        sent, fields = self._answers(assignment, rng)
        form = page.form_to(urlsplit(page.url).path)
        self.sent.append(sent)

        def submit(_: object = None) -> bool:
            shown = self._patiently(lambda: browser.send(form, fields, refusals=REFUSALS))
            return shown.status not in REFUSALS and view_of(shown).view_name == "judging:receipt"

        if rng.random() < TWICE:
            with ThreadPoolExecutor(2) as tabs:
                sent.acknowledged = any(list(tabs.map(submit, range(2))))
        else:
            sent.acknowledged = submit()
        self.count["acknowledged" if sent.acknowledged else "refused"] += 1

    def _turk(self, round: Round, name: str, rng: Random) -> None:
        """One worker of the emulated platform accepts a HIT and submits it there, through our page in the frame."""
        place = MTurkSite(round)
        visitor = self._patiently(lambda: place.visit(place.worker_id(f"{name}-{rng.random()}")))
        for _ in range(HITS_EACH):
            offers = self._patiently(visitor.offers)
            task = self._patiently(partial(visitor.accept, rng.choice([*offers.values()]))) if offers else None
            if task is None:
                self.count["no HIT on the platform"] += 1
                self._stop.wait(1)
                return
            sheet = self._patiently(task.open)
            if sheet.status in REFUSALS:
                self.count["turned away in the frame"] += 1
                continue
            assignment = self._patiently(partial(assignment_of, sheet))
            sent, fields = self._answers(assignment, rng)
            sent.on_platform = True
            self.sent.append(sent)
            saved = self._patiently(partial(task.save, sheet, fields))
            sent.acknowledged = self._patiently(partial(task.submit, saved))
            self.count["acknowledged on the platform" if sent.acknowledged else "refused on the platform"] += 1
            self._stop.wait(rng.uniform(0.2, 1))

    def _answers(self, assignment: Assignment, rng: Random) -> tuple[Sent, dict[str, str]]:
        places = self._patiently(lambda: places_of(assignment))
        careful = rng.random() < CAREFUL
        levels = {
            item: RIGHT[self.polarity[item]] if careful and item in self.polarity else rng.randint(1, 4)
            for item in places.values()
        }
        fields = {f"level-{place}": str(levels[item]) for place, item in places.items()}
        return Sent(assignment.pk, levels), fields | {"active_seconds": "60"}

    def _patiently(self, call: Callable[[], Result]) -> Result:
        """Repeat ``call`` until it succeeds, as people do who reload a page, for about a minute at least."""
        for _ in range(TRIES):
            try:
                return call()
            except (CounterpartError, DatabaseError) as error:
                self.count["HTTP 500" if "answered 500" in str(error) else "errors retried"] += 1
                connection.close()
            if self._stop.wait(0.5):
                raise StoppedError
        self.count["gave up"] += 1
        raise StoppedError


class StoppedError(Exception):
    """The run is over, or nothing helps; what was being sent stays unacknowledged."""
