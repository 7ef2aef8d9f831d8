"""Answers wait in the browser for each other: what a HIT costs in requests, and what is kept whatever ends the page."""

from contextlib import suppress

import pytest
from playwright.sync_api import Error, Page, Response, expect

from annotation.models import Assignment, Draft
from tests.annotation.answering import address, levels_by_place
from tests.annotation.judging.browsing import at, look_away, saved, stored, take
from tests.browser import press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WAIT = 60_000  # milliseconds that an answer waits for others, at most
NO_STORAGE = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('blocked'); }})"
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


def test_answers_are_saved_soon_when_little_time_is_left(page, made, settings):
    settings.LEASE_MINUTES = 4
    take(page, made)
    press(page, "1")
    page.clock.fast_forward(1_000)
    expect(page.locator("#saved")).to_have_text("saved")
    assert drafted() == {1: 1}
