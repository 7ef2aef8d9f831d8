"""Answers wait in the browser for each other: what a HIT costs in requests, and what is kept whatever ends the page."""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import pytest
from playwright.sync_api import Error, Page, Response, expect

from annotation.models import Assignment, Draft
from tests.annotation.answering import address, levels_by_place
from tests.annotation.judging.browsing import at, look_away, saved, stored, take
from tests.browser import press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WAIT = 60_000  # milliseconds that an answer waits for others, at most
NO_STORAGE = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('blocked'); }})"
FULL = "() => { Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }; }"
HIDDEN = """() => {
    Object.defineProperty(document, 'hidden', {value: true});
    document.dispatchEvent(new Event('visibilitychange'));
    dispatchEvent(new Event('pagehide'));
}"""


@pytest.fixture
def chromium(whole_chromium):
    return whole_chromium


def drafted() -> dict[int, int]:
    return levels_by_place(Draft.objects.all())


def answered(page: Page) -> list[str]:
    """What the server answers the page from now on, without pictures and files: "POST draft"."""
    kinds = []

    def note(response: Response) -> None:
        name = response.url.rstrip("/").rpartition("/")[2]
        if "/judge/task/" in response.url and not response.from_service_worker:
            kinds.append(f"{response.request.method} {name if name in ('draft', 'receipt') else 'task'}")

    page.on("response", note)
    return kinds


def reopened(page: Page) -> Page:
    again = page.context.new_page()
    again.goto(address("task", Assignment.objects.get()))
    return again


def test_a_hit_of_18_answers_at_ten_seconds_each_takes_five_requests(page, full):
    kinds = answered(page)
    take(page, full)
    for place in range(1, 19):
        at(page, f"{place} of 18")
        if place > 1:
            page.clock.fast_forward(10_000)
        press(page, "1")
    page.get_by_role("button", name="Submit 18 answers").click()
    page.wait_for_url("**/receipt/")
    assert stored() == dict.fromkeys(range(1, 19), 1)
    assert kinds == ["GET task", "POST draft", "POST draft", "POST task", "GET receipt"]


def test_an_answer_waits_for_a_minute_at_most(page, made):
    kinds = answered(page)
    take(page, made)
    press(page, "12")
    expect(page.locator("#saved")).to_have_text("kept on this device")
    page.clock.fast_forward(WAIT / 2)
    assert "POST draft" not in kinds
    page.clock.fast_forward(WAIT)
    expect(page.locator("#saved")).to_have_text("saved")
    assert drafted() == {1: 1, 2: 2}
    assert kinds.count("POST draft") == 1


@pytest.mark.parametrize("arrives", [True, False], ids=["is saved", "is lost on the way"])
def test_what_a_closed_tab_had_not_saved_comes_back(page, made, arrives):
    take(page, made)
    if not arrives:
        page.route("**/draft/", lambda route: route.abort())
    press(page, "13")
    other = page.context.new_page()
    page.close(run_before_unload=True)
    other.goto(address("task", Assignment.objects.get()))
    expect(other.locator("#pair-2 [value='3']")).to_be_checked()
    saved(other)
    assert drafted() == {1: 1, 2: 3}


def test_what_a_page_had_not_saved_when_it_crashed_comes_back(page, made):
    take(page, made)
    press(page, "13")
    with suppress(Error):
        page.goto("chrome://crash")
    assert drafted() == {}
    again = reopened(page)
    expect(again.locator("#pair-2 [value='3']")).to_be_checked()
    saved(again)
    assert drafted() == {1: 1, 2: 3}


@pytest.fixture
def start(browsers, live_server, tmp_path) -> Callable[[], Page]:
    """Start a browser of its own with the profile ``tmp_path``."""

    def launch() -> Page:
        for lock in tmp_path.glob("Singleton*"):  # of a browser that was killed
            lock.unlink()
        options = {"base_url": live_server.url, "reduced_motion": "reduce", "args": ["--no-sandbox"]}
        return browsers.persistent(tmp_path, **options).new_page()

    return launch


def kill(profile: Path) -> None:
    """Kill all processes of the browser that has this profile, and no other."""
    listed = subprocess.run(["pgrep", "-f", "--", f"--user-data-dir={profile}"], capture_output=True, text=True)
    for process in listed.stdout.split():
        with suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)


def wait_until_written(profile: Path, text: bytes) -> None:
    deadline = monotonic() + 60
    while not any(text in path.read_bytes() for path in profile.glob("Default/Local Storage/leveldb/*.log")):
        assert monotonic() < deadline
        sleep(0.1)


@pytest.mark.slow
def test_what_a_killed_browser_had_written_comes_back_and_the_rest_is_asked_again(start, made, tmp_path):
    page = start()
    take(page, made)
    press(page, "13")
    wait_until_written(tmp_path, b"level-2")  # after some five seconds
    press(page, "2")
    kill(tmp_path)
    assert drafted() == {}
    again = start()
    again.goto(address("task", Assignment.objects.get()))
    expect(again.locator("#pair-2 [value='3']")).to_be_checked()
    at(again, "3 of 4")
    press(again, "44")
    again.get_by_role("button", name="Submit 4 answers").click()
    again.wait_for_url("**/receipt/")
    assert stored() == {1: 1, 2: 3, 3: 4, 4: 4}
    again.context.close()


def test_of_two_devices_each_pair_has_the_answer_that_was_given_last(page, made, open_page):
    take(page, made)
    press(page, "13")
    other = open_page()
    other.goto(address("task", Assignment.objects.get()))
    press(other, "4")
    saved(other)
    saved(page)
    assert drafted() == {1: 4, 2: 3}


def test_answers_are_saved_again_after_the_server_failed_once(page, made):
    take(page, made)
    page.route("**/draft/", lambda route: route.fulfill(status=500, body="failed"), times=1)
    press(page, "12")
    look_away(page)
    expect(page.locator("#saved")).to_have_text("not saved: 2 answers kept on this device")
    page.clock.fast_forward(4_000)
    expect(page.locator("#saved")).to_have_text("saved")
    assert drafted() == {1: 1, 2: 2}


def test_a_page_that_is_hidden_saves_once(page, made):
    kinds = answered(page)
    take(page, made)
    press(page, "12")
    page.evaluate(HIDDEN)
    expect(page.locator("#saved")).to_have_text("saved")
    assert drafted() == {1: 1, 2: 2}
    assert kinds.count("POST draft") == 1


def test_where_the_browser_keeps_nothing_an_answer_is_saved_after_a_second(page, made):
    page.add_init_script(NO_STORAGE)
    take(page, made)
    press(page, "1")
    page.clock.fast_forward(1_000)
    expect(page.locator("#saved")).to_have_text("saved")
    assert drafted() == {1: 1}


def test_once_the_storage_is_full_an_answer_is_saved_after_a_second(page, made):
    take(page, made)
    press(page, "1")
    expect(page.locator("#saved")).to_have_text("kept on this device")
    page.evaluate(FULL)
    press(page, "2")
    page.clock.fast_forward(1_000)
    expect(page.locator("#saved")).to_have_text("saved")
    assert drafted() == {1: 1, 2: 2}
    page.context.set_offline(True)
    press(page, "3")
    expect(page.locator("#saved")).to_have_text("offline: 1 answer kept while this page is open")


def test_answers_are_saved_soon_when_little_time_is_left(page, made, settings):
    settings.LEASE_MINUTES = 4
    take(page, made)
    press(page, "1")
    page.clock.fast_forward(1_000)
    expect(page.locator("#saved")).to_have_text("saved")
    assert drafted() == {1: 1}
