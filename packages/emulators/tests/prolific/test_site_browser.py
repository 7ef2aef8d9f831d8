"""The participants' site in a real browser, with a study that lives on another host and sends people back by a link."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.conftest import served

pytestmark = pytest.mark.browser


@pytest.fixture
def study_page(emulator) -> Iterator[str]:
    """A study on this machine under another host name; yields its address."""
    page = f'<!doctype html><title>Study</title><a href="{emulator.url}/submissions/complete?cc=DONE">Finish</a>'
    with served(page.encode()) as site:
        yield f"{site}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"


@pytest.fixture
def browse(chromium: Browser, emulator, publish, study_page) -> Iterator[Callable[..., Page]]:
    """Open the site in a profile of its own, as a participant who has just registered there."""
    contexts = []
    publish(external_study_url=study_page)

    def opened(**options: Any) -> Page:
        contexts.append(chromium.new_context(base_url=emulator.url, reduced_motion="reduce", **options))
        contexts[-1].set_default_timeout(20_000)
        page = contexts[-1].new_page()
        page.goto("/studies/")
        page.get_by_role("button", name="Register and sign in").click()
        return page

    yield opened
    for context in contexts:
        context.close()


def test_a_participant_takes_a_study_and_comes_back_with_its_code(api, browse):
    page = browse()
    page.get_by_role("button", name="Reserve my place").click()
    page.get_by_role("button", name="Open study").click()
    page.get_by_role("link", name="Finish").click()
    expect(page.get_by_role("status")).to_have_text("Completed. Thank you.")
    [row] = api.get("submissions/").json()["results"]
    assert (row["status"], row["study_code"]) == ("AWAITING REVIEW", "DONE")


def test_every_page_is_accessible_and_fits_a_narrow_phone(browse):
    page = browse(viewport={"width": 360, "height": 800})
    page.get_by_role("button", name="Reserve my place").click()
    expect(page.get_by_role("button", name="Open study")).to_be_visible()
    for path in (page.url, "/studies/", "/submissions/", "/messages/", "/sign-in"):
        page.goto(path)
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)
            assert Axe().run(page).response["violations"] == [], (path, scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
