"""The workers' site and the controls in a real browser, around a task page that lives on another host."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.conftest import eventually, served
from tests.mturk.conftest import SCHEMAS

pytestmark = pytest.mark.browser

TASK = b"""<!doctype html><html lang="en"><title>Task</title><h1>Task</h1>
<form method="post"><input type="hidden" name="assignmentId"><input type="hidden" name="labels" value="1,2">
<p id="cookies"></p><button>Submit</button></form><script>
const given = new URLSearchParams(location.search), form = document.forms[0];
form.assignmentId.value = given.get("assignmentId");
form.action = given.get("turkSubmitTo") + "/mturk/externalSubmit";
document.cookie = "mine=1; SameSite=Lax";
document.getElementById("cookies").textContent = `cookies: ${document.cookie || "none"}`;
document.querySelector("button").disabled = given.get("assignmentId") === "ASSIGNMENT_ID_NOT_AVAILABLE";
</script>"""


@pytest.fixture
def task_page() -> Iterator[str]:
    """A requester's page on this machine under another host name; yields its address."""
    with served(TASK) as site:
        yield f"{site}/task"


@pytest.fixture
def hit_id(post, task_page) -> str:
    question = (
        f'<ExternalQuestion xmlns="{SCHEMAS}/2006-07-14/ExternalQuestion.xsd">'
        f"<ExternalURL>{task_page}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
    )
    return post(Question=question, MaxAssignments=3)["HITId"]


@pytest.fixture
def browse(chromium: Browser, emulator) -> Iterator[Callable[..., Page]]:
    """Open the site in a profile of its own, as a worker who has just registered there."""
    contexts = []

    def opened(**options: Any) -> Page:
        contexts.append(chromium.new_context(base_url=emulator.url, reduced_motion="reduce", **options))
        contexts[-1].set_default_timeout(20_000)
        page = contexts[-1].new_page()
        page.goto("/worker/")
        page.get_by_role("button", name="Register and sign in").click()
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def page(browse, hit_id) -> Page:
    return browse(viewport={"width": 1280, "height": 800})


def test_a_worker_previews_accepts_submits_and_is_led_back(page, hit_id, mturk):
    page.get_by_role("link", name="Preview").click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_role("timer")).to_have_text(re.compile(r"(10:00|9:5\d) left"))
    expect(frame.locator("#cookies")).to_have_text("cookies: none")
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("status")).to_contain_text("Submitted")
    [assignment] = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert "<FreeText>1,2</FreeText>" in assignment["Answer"]


def test_a_double_click_submits_once(page, hit_id, mturk):
    page.get_by_role("button", name="Accept and work").click()
    page.frame_locator("iframe").get_by_role("button", name="Submit").dblclick()
    assert eventually(lambda: bool(mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]))
    other = page.context.new_page()  # the page itself may be on its way back to the list
    other.goto("/worker/dashboard")
    expect(other.locator(".state")).to_have_text(["Submitted"])
    assert mturk.list_assignments_for_hit(HITId=hit_id)["NumResults"] == 1


def barriers(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.fixture
def addresses(hit_id, mturk, world, upset) -> list[str]:
    """Every kind of page, with something on it."""
    mturk.create_qualification_type(Name="Zebras", Description="d", QualificationTypeStatus="Active")
    upset("drop", "SendBonus")
    preview = f"/worker/hits/{hit_id}"
    return ["/worker/", preview, "/worker/dashboard", "/worker/qualifications", "/worker/sign-in", "/_emulator/"]


def test_axe_finds_nothing_on_any_page_and_none_is_wider_than_its_window(browse, addresses):
    page = browse()
    for address in addresses:
        page.goto(address)
        for scheme, width in (("dark", 390), ("light", 1280)):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            assert barriers(page) == [], (address, scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address
