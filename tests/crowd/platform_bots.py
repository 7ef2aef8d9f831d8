"""Workers in a real Chromium: at the emulator's site, with our judging page in its frame."""

from dataclasses import dataclass

from playwright.sync_api import BrowserContext, FrameLocator, Page, expect

from annotation.judging.links import read_assignment_token
from tests.annotation.answering import shown
from tests.browser import press

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

    def register(self) -> None:
        self.page.goto(f"{self.site}/worker/")
        self.page.get_by_role("button", name="Register and sign in").click()

    def accept(self) -> None:
        self.page.get_by_role("button", name="Accept and work").first.click()
        expect(self.work.locator("#place")).to_have_text("1 of 4")

    def answer(self, keys: str) -> None:
        """Judge by key, once a click has given the frame the focus, and wait until it is kept."""
        self.work.locator("#place").click()
        press(self.page, self.in_shown_order(keys) if len(keys) == len(RIGHT) else keys, sheet=self.work)
        expect(self.work.locator("#saved")).to_have_text("saved")

    def in_shown_order(self, keys: str) -> str:
        address = next(frame.url for frame in self.page.frames if "/judge/at/" in frame.url)
        assignment = read_assignment_token(address.rstrip("/").split("/")[-1])
        return "".join(keys[item.place - 1] for item in shown(assignment))

    def submit(self, *, clicks: int = 1) -> None:
        self.work.get_by_role("button", name="Submit 4 answers").click(click_count=clicks)

    def arrived(self) -> None:
        """The platform has it, and its own page has moved on."""
        expect(self.page.get_by_role("status")).to_contain_text("Submitted. The requester can see your answers now.")

    def give_back(self) -> None:
        self.page.get_by_role("button", name="Return", exact=True).click()
        expect(self.page.get_by_role("status")).to_contain_text("Returned.")

    def come_back(self) -> None:
        """Open the site in a new tab, and go on with the HIT in hand."""
        self.page = self.context.new_page()
        self.page.goto(f"{self.site}/worker/")
        self.page.get_by_role("link", name="Continue").click()

    def begin(self) -> "Bot":
        self.register()
        self.accept()
        return self

    def do(self, keys: str = RIGHT, *, clicks: int = 1) -> None:
        """A whole HIT, from signing in to the platform's thanks."""
        self.begin()
        self.answer(keys)
        self.submit(clicks=clicks)
        self.arrived()
