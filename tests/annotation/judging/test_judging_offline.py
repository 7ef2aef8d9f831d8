"""A worker whose connection is lost: every answer is kept on their device until the server has it."""

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Assignment, Draft, Judgment
from annotation.work.answers import Answer, save_drafts
from tests.annotation.answering import address, levels_by_place, shown
from tests.annotation.judging.browsing import at, join, look_away, saved, stored, submit, take
from tests.browser import go_offline, press, wait_for_all
from tests.hits.pools import pack_captions

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RETRY = 4_000  # milliseconds; the page tries again every three seconds
NOT_YET = "Not submitted yet: the server cannot be reached."
KEPT = "Object.keys(localStorage).filter((name) => name.startsWith('answers '))"


@pytest.fixture
def chromium(whole_chromium):
    return whole_chromium


def go_online(page: Page) -> None:
    page.context.set_offline(False)


def reopen(page: Page) -> Page:
    """Close the page while offline, and open its HIT again once the network is back."""
    again = page.context.new_page()
    page.close()
    go_online(again)
    again.goto(address("task", Assignment.objects.get()))
    return again


def shows_its_pictures(page: Page) -> None:
    """A picture that the browser holds is decoded a moment after it is put on the page."""
    wait_for_all(page.locator("img:visible"), "image.naturalWidth")


def waits(page: Page) -> None:
    expect(page.get_by_text(NOT_YET)).to_be_visible()


def state(page: Page, text: str) -> None:
    expect(page.locator("#saved")).to_have_text(text)


def drafted() -> dict[int, int]:
    return levels_by_place(Draft.objects.all())


def test_what_was_answered_and_submitted_offline_is_stored_once_by_the_page_that_is_opened_next(page, made):
    join(page, made)
    task = page.url
    press(page, "1")
    saved(page)
    go_offline(page)
    for place in range(2, 5):
        at(page, f"{place} of 4")
        shows_its_pictures(page)
        page.keyboard.press("2")
    at(page, "All answers")
    expect(page.locator("#strip img")).to_have_count(4)
    shows_its_pictures(page)
    state(page, "offline: 3 answers kept on this device")
    page.get_by_role("button", name="Submit 4 answers").click()
    waits(page)
    for leave in (page.go_back, lambda: page.goto(task)):
        leave()
        expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    again = reopen(page)
    again.wait_for_url("**/receipt/")
    assert stored() == {1: 1} | dict.fromkeys(range(2, 5), 2)
    assert again.evaluate(KEPT) == []


def test_the_state_never_says_saving_while_offline(page, made):
    take(page, made)
    page.evaluate("""() => {
        window.states = [];
        new MutationObserver(() => states.push(document.getElementById("saved").textContent))
            .observe(document.getElementById("saved"), { childList: true });
    }""")
    go_offline(page)
    press(page, "123")
    state(page, "offline: 3 answers kept on this device")
    assert "saving" not in page.evaluate("states")
    go_online(page)
    saved(page)
    assert drafted() == {1: 1, 2: 2, 3: 3}


def test_an_answer_saved_later_elsewhere_is_newer_than_the_copy(page, made):
    take(page, made)
    go_offline(page)
    press(page, "1")
    state(page, "offline: 1 answer kept on this device")
    assignment = Assignment.objects.get()
    save_drafts(assignment, [Answer(shown(assignment)[0].pk, 3)])
    Draft.objects.update(saved_at="2100-01-01T00:00Z")
    page = reopen(page)
    expect(page.locator("#pair-1 [value='3']")).to_be_checked()
    assert drafted() == {1: 3}


def test_submitting_goes_on_by_itself_after_the_server_was_too_busy_to_answer(page, made):
    """Once it did nothing, once it stored the answers and its reply was lost."""
    take(page, made)
    press(page, "1111")
    saved(page)
    failures = ["before", "after"]
    trouble = page.locator("#not-submitted [data-cause='not saved']")

    def fail(route: Route) -> None:
        if route.request.method != "POST" or not failures:
            return route.continue_()
        if failures.pop(0) == "after":
            route.fetch(max_redirects=0)
        return route.fulfill(status=503, body="busy")

    page.route("**/task/*/", fail)
    for again in (page.get_by_role("button", name="Submit 4 answers").click, lambda: page.clock.fast_forward(RETRY)):
        with page.expect_response(lambda answer: answer.status == 503):
            again()
    expect(trouble).to_be_visible()
    expect(page.get_by_text(NOT_YET)).to_be_hidden()
    page.clock.fast_forward(RETRY)
    page.wait_for_url("**/receipt/")
    assert failures == []
    assert Judgment.objects.count() == 4


def test_an_answer_taken_back_while_submitting_waits_is_not_submitted(page, made):
    take(page, made)
    press(page, "1111")
    saved(page)
    go_offline(page)
    page.get_by_role("button", name="Submit 4 answers").click()
    waits(page)
    press(page, "U")
    go_online(page)
    expect(page.get_by_text(NOT_YET)).to_be_hidden()
    assert not Judgment.objects.exists()
    press(page, "3")
    submit(page)
    assert stored() == {1: 1, 2: 1, 3: 1, 4: 3}


def test_the_copy_goes_with_a_hit_that_was_submitted_elsewhere(page, made, stranger):
    take(page, made)
    go_offline(page)
    press(page, "1")
    state(page, "offline: 1 answer kept on this device")
    assignment = Assignment.objects.get()
    fields = {f"level-{place}": "1" for place in range(1, 5)}
    stranger.post(address("task", assignment), fields)
    page = reopen(page)
    page.wait_for_url("**/receipt/")
    page.wait_for_function(f"{KEPT}.length === 0")


def test_the_copy_goes_with_a_hit_that_is_returned(page, made):
    take(page, made)
    page.route("**/draft/", lambda route: route.abort())
    press(page, "1")
    look_away(page)
    state(page, "offline: 1 answer kept on this device")
    page.get_by_text("Return this HIT", exact=True).click()
    page.get_by_role("button", name="Return it unanswered").click()
    page.wait_for_url("**/judge/me/**")
    assert page.evaluate(KEPT) == []


def test_an_older_answer_that_waits_never_replaces_a_newer_one_of_another_tab(page: Page, made):
    take(page, made)
    other = page.context.new_page()
    other.goto(page.url)
    at(other, "1 of 4")
    page.route("**/draft/", lambda route: route.abort())
    press(page, "1")
    look_away(page)
    state(page, "offline: 1 answer kept on this device")
    expect(other.locator("#pair-1 .level input[value='1']")).to_be_checked()
    press(other, "4")
    saved(other)
    expect(page.locator("#pair-1 .level input[value='4']")).to_be_checked()
    saved(page)  # nothing of this tab waits any more
    page.unroute("**/draft/")
    press(page, "2")
    saved(page)
    assert drafted() == {1: 4, 2: 2}


def test_an_answer_that_the_server_refuses_is_shown_until_it_is_changed_and_holds_up_no_other(page: Page):
    take(page, pack_captions())
    page.locator("#text-1").fill("A high\x02way with cars.")
    page.locator("#text-1").press("Enter")
    page.locator("#text-2").fill("Two people sit on a bench.")
    page.locator("#text-2").press("Enter")
    look_away(page)
    expect(page.locator("#saved")).to_contain_text("U+0002")
    assert list(Draft.objects.values_list("text", flat=True)) == ["Two people sit on a bench."]
    page.locator("#previous").click()
    page.locator("#previous").click()
    page.locator("#text-1").fill("A highway with cars.")
    page.locator("#text-1").press("Enter")
    saved(page)
    assert Draft.objects.count() == 2
