"""A whole round of people in real browsers at the emulator's site, our page in its frame, and our commands.

What a browser does with the page in a frame, one thing after the other, is tested in tests/crowd/test_frame_browser.py.
"""

from dataclasses import dataclass
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from playwright.sync_api import BrowserContext, FrameLocator, Page, expect

from annotation.judging.links import read_assignment_token
from annotation.models import Assignment
from annotation.review.decisions import decide
from hits.models import Round
from tests.annotation.answering import shown
from tests.browser import PATIENCE, Underway, press
from tests.crowd.platform_books import check_both_sides, check_judgments
from tests.factories import make_round

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESKTOP = {"viewport": {"width": 1280, "height": 1100}}
RIGHT, WRONG = "1114", "1141"  # keys for two candidates, a positive and a negative control, in the order of the HIT


@dataclass
class Bot:
    """One worker in a profile of their own; ``page`` is their only tab."""

    context: BrowserContext
    site: str
    page: Page

    @property
    def work(self) -> FrameLocator:
        """Our page in the frame."""
        return self.page.frame_locator("iframe")

    def begin(self) -> "Bot":
        """Register, and accept a HIT."""
        self.page.goto(f"{self.site}/worker/")
        self.page.get_by_role("button", name="Register and sign in").click()
        self.page.get_by_role("button", name="Accept and work").first.click()
        expect(self.work.locator("#place")).to_have_text("1 of 4")
        return self

    def answer(self, keys: str) -> None:
        """Judge by key, once a click has given the frame the focus, and wait until it is kept."""
        address = next(frame.url for frame in self.page.frames if "/judge/at/" in frame.url)
        assignment = read_assignment_token(address.rstrip("/").split("/")[-1])
        self.work.locator("#place").click()
        press(self.page, "".join(keys[item.place - 1] for item in shown(assignment)), sheet=self.work)
        expect(self.work.locator("#saved")).to_have_text("saved")

    def give_back(self) -> None:
        self.page.get_by_role("button", name="Return", exact=True).click()
        expect(self.page.get_by_role("status")).to_contain_text("Returned.")

    def do(self, keys: str = RIGHT, *, clicks: int = 1) -> None:
        """A whole HIT, from signing in until the platform's own page has moved on."""
        self.begin()
        self.answer(keys)
        self.work.get_by_role("button", name="Submit 4 answers").click(click_count=clicks)
        expect(self.page.get_by_role("status")).to_contain_text("Submitted. The requester can see your answers now.")


@pytest.fixture
def bot(chromium, there):
    """Make workers, each in a profile of their own."""
    underway, contexts = Underway(), []

    def make() -> Bot:
        contexts.append(chromium.new_context(reduced_motion="reduce", **DESKTOP))
        contexts[-1].set_default_timeout(PATIENCE)
        return Bot(contexts[-1], there.emulator.url, contexts[-1].new_page())

    yield make
    for context in contexts:
        context.close()
    underway.settle()


def sync(made: Round) -> None:
    call_command("sync", made.name, stdout=StringIO())


def test_a_crowd_of_every_kind_ends_a_round_with_balanced_books(bot, there):
    made = make_round(published=False, hits=4)
    call_command("publish", made.name, channel="mturk", environment="emulator", stdout=StringIO())
    made.refresh_from_db()
    bot().do(RIGHT)
    bot().do(RIGHT, clicks=2)
    bot().do(WRONG)
    bot().begin().give_back()
    bot().begin().page.close()
    sync(made)
    person = User.objects.create_user("robin")
    decide(Assignment.objects.get(state="flagged"), votes_count=False, paid=True, reason="Careless.", by=person)
    there.later(minutes=61)
    sync(made)
    bot().do(RIGHT)
    bot().do(RIGHT)
    sync(made)
    call_command("close", made.name, stdout=StringIO())
    sync(made)
    theirs = check_both_sides(made, there)
    check_judgments(made)
    assert theirs.statuses == {"Approved": 5, "Returned": 1, "Abandoned": 1}
    assert Assignment.objects.filter(state="accepted").count() == 4
    assert Assignment.objects.exclude(problem="").count() == 0
