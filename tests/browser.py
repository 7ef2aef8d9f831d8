"""A real Chromium for tests marked ``browser``. Without one they fail, unless ALLOW_NO_BROWSER=1 says to skip them."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock, Timer
from time import monotonic, sleep
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.core.signals import request_finished, request_started
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    FrameLocator,
    Locator,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

PATIENCE = 20_000  # milliseconds; a machine may have much else to do
expect.set_options(timeout=PATIENCE)
VIOLATIONS = """(options) => axe.run({resultTypes: ["violations"], ...options}).then((found) =>
    found.violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html}`)))"""


OURS = f"--started-by={os.getpid()}"
LONGEST = 400  # seconds; one test opens every page


class Browsers:
    """Browsers of the whole run, by program and arguments; every test gets a profile of its own in one."""

    def __init__(self, playwright: Playwright) -> None:
        self._playwright = playwright
        self._running: dict[tuple[str | None, ...], Browser] = {}

    def get(self, program: str, *arguments: str) -> Browser:
        """The browser, started when it is first asked for, and again when it has ended."""
        path = shutil.which(program)
        browser = self._running.get((path, *arguments))
        if browser is None or not browser.is_connected():
            browser = self._start(path, arguments)
            self._running[path, *arguments] = browser
        return browser

    def _start(self, path: str | None, arguments: tuple[str, ...]) -> Browser:
        try:
            return self._playwright.chromium.launch(executable_path=path, args=["--no-sandbox", OURS, *arguments])
        except Error as error:
            if os.environ.get("ALLOW_NO_BROWSER") == "1":
                pytest.skip("no Chromium here, and ALLOW_NO_BROWSER=1")
            raise RuntimeError("No Chromium could be started; install it, or set ALLOW_NO_BROWSER=1.") from error

    def persistent(self, profile: Path, **options: Any) -> BrowserContext:
        """A browser of its own, which keeps its profile in a folder."""
        path = shutil.which("chromium")
        return self._playwright.chromium.launch_persistent_context(profile, executable_path=path, **options)

    def close(self) -> None:
        for browser in self._running.values():
            browser.close()


@pytest.fixture(scope="session")
def browsers() -> Iterator[Browsers]:
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread; the tests' own queries beside it are safe.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browsers = Browsers(playwright)
        yield browsers
        browsers.close()


@pytest.fixture
def in_time() -> Iterator[None]:
    """End the browsers of this process when a test takes too long. Some of Playwright's calls have no timeout; they
    fail when their browser ends, and name the line of the test that waited."""
    timer = Timer(LONGEST, subprocess.run, (["pkill", "-KILL", "-f", "--", OURS],))
    timer.start()
    yield
    timer.cancel()


@pytest.fixture
def chromium(browsers, in_time) -> Browser:
    """Without windows, as Playwright starts its own: it takes a third of the work to open a page."""
    return browsers.get("chromium-headless-shell" if shutil.which("chromium-headless-shell") else "chromium")


@pytest.fixture
def whole_chromium(browsers, in_time) -> Browser:
    """The browser as people have it: what a page sends as it closes gets out while it is offline."""
    return browsers.get("chromium")


class Underway:
    """How many requests the test's own server is working on."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = Lock()
        request_started.connect(self._started)
        request_finished.connect(self._finished)

    def _started(self, **_: object) -> None:
        with self._lock:
            self.count += 1

    def _finished(self, **_: object) -> None:
        with self._lock:
            self.count -= 1

    def settle(self) -> None:
        """Wait until nothing has been underway for a moment: the database is emptied after each test."""
        idle_since = started = monotonic()
        while monotonic() - idle_since < 0.05 and monotonic() - started < 5:
            sleep(0.01)
            if self.count > 0:
                idle_since = monotonic()


@pytest.fixture
def open_page(chromium, live_server):
    """Open pages of the site, each in a profile of its own, with any of Playwright's context options."""
    underway = Underway()
    contexts = []

    def open_one(**options: object) -> Page:
        contexts.append(chromium.new_context(base_url=live_server.url, reduced_motion="reduce", **options))
        contexts[-1].set_default_timeout(PATIENCE)
        return contexts[-1].new_page()

    yield open_one
    for context in contexts:
        context.close()
    underway.settle()


@pytest.fixture
def page(open_page) -> Page:
    """A desktop browser's page."""
    return open_page(viewport={"width": 1280, "height": 800})


@pytest.fixture
def phone(open_page) -> Page:
    return open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


def wait_for_pictures(sheet: Page | FrameLocator) -> None:
    """Wait until the pictures on the screen of a judging page are there or have failed: no level is taken before."""
    wait_for_all(sheet.locator(".deck .pair:not([hidden]) .picture img"), "image.complete")


def wait_for_all(images: Locator, condition: str) -> None:
    """Wait until a condition in JavaScript holds for each ``image``. Asked again and again from here: a promise in the
    page would have to end itself, and the page's timers may be those of a test."""
    deadline = monotonic() + PATIENCE / 1000
    while not images.evaluate_all(f"(images) => images.every((image) => {condition})"):
        assert monotonic() < deadline, f"not all pictures are there: {condition}"
        sleep(0.02)


def press(page: Page, keys: Iterable[str], *, sheet: FrameLocator | None = None) -> None:
    """Press keys of a judging page (``sheet`` in its frame), each once the pictures that it answers for are there."""
    for key in keys:
        wait_for_pictures(sheet or page)
        page.keyboard.press(key)


def barriers(page: Page, *rules: str) -> list[str]:
    """What keeps people with disabilities out of the page, by all of axe's rules or these. Wait for what a click leads
    to before."""
    page.wait_for_load_state()
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return page.evaluate(VIOLATIONS, {"runOnly": rules} if rules else {})


def barriers_in_light_and_dark(page: Page) -> list[str]:
    """The barriers of a light page, and of its colours when it is dark: nothing else of it differs then."""
    found = barriers(page)
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {one}" for one in barriers(page, "color-contrast")]
    page.emulate_media(color_scheme="light")
    return found


def accessible(page: Page) -> None:
    assert barriers(page) == []


def faults_of(page: Page) -> list[str]:
    """What the page's scripts and the content policy complain of from here on."""
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    return faults


def width_on_a_phone(page: Page) -> int:
    """How wide the page is in a window of 390 pixels, which it has from here on."""
    page.set_viewport_size({"width": 390, "height": 844})
    return page.evaluate("document.documentElement.scrollWidth")


def go_offline(page: Page, sheet: Page | FrameLocator | None = None) -> None:
    """Cut the connection of a judging page once all pictures are there: a pair whose picture is missing takes no
    level."""
    wait_for_all((sheet or page).locator(".deck .picture img"), "image.complete && image.naturalWidth")
    page.context.set_offline(True)
