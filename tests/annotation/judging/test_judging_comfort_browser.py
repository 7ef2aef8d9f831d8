"""The judging page in a browser: few keys, undo, zoom, pictures that are retried, more time."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Draft
from corpus.models import Caption
from tests.annotation.answering import levels_by_place
from tests.annotation.judging.test_judging_browser import at, saved, take
from tests.browser import accessible, press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def fits(page: Page) -> None:
    """Wait until the enlarged picture is there, as large as the window."""
    expect(page.locator(".zoom-view img")).to_have_attribute("style", re.compile("width"))
    expect(page.locator("output")).to_have_text("100%")


def width(page: Page) -> float:
    return page.locator(".zoom-view img").bounding_box()["width"]


def test_a_key_held_down_after_the_last_answer_submits_nothing(page, made):
    take(page, made)
    press(page, "1" * 4)
    held = "new KeyboardEvent('keydown', {key: 'Enter', repeat: true, bubbles: true, cancelable: true})"
    assert page.locator("#submit-all").evaluate(f"button => button.dispatchEvent({held})") is False


def test_an_answer_can_be_undone_by_its_button_after_a_reload(page, made):
    take(page, made)
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()
    press(page, "12")
    saved(page)
    page.reload()
    page.get_by_role("button", name="Undo").click()
    at(page, "2 of 4")
    saved(page)
    assert levels_by_place(Draft.objects.all()) == {1: 1}


def test_a_picture_is_enlarged_in_steps_and_moved(page, made):
    take(page, made)
    page.keyboard.press("z")
    page.keyboard.press("3")
    fits(page)
    fitting = width(page)
    page.get_by_role("button", name="Larger").click()
    page.keyboard.press("+")
    expect(page.locator("output")).to_have_text("225%")
    assert width(page) == pytest.approx(2.25 * fitting, rel=0.01)
    before = page.locator(".zoom-view img").bounding_box()["x"]
    page.mouse.move(600, 300)
    page.mouse.down()
    page.mouse.move(500, 300, steps=4)
    page.mouse.up()
    assert page.locator(".zoom-view img").bounding_box()["x"] == pytest.approx(before - 100, abs=2)
    expect(page.locator("output")).to_have_text("225%")
    page.mouse.click(600, 300)
    expect(page.locator("output")).to_have_text("100%")
    accessible(page)
    page.get_by_role("button", name="Close").click()
    at(page, "1 of 4")


def test_two_fingers_enlarge_the_picture_on_a_phone(phone, made):
    take(phone, made)
    phone.locator("#pair-1 .picture-link").tap()
    fits(phone)
    touch = phone.context.new_cdp_session(phone)
    for kind, apart in (("touchStart", 40), ("touchMove", 70), ("touchMove", 120), ("touchEnd", None)):
        points = [] if apart is None else [{"x": 195 - apart, "y": 300, "id": 1}, {"x": 195 + apart, "y": 300, "id": 2}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    expect(phone.locator("output")).to_have_text("300%")


def test_a_failed_picture_comes_back_by_itself(page, made):
    page.route("**/picture/*/1/*", lambda route: route.abort())
    take(page, made)
    expect(page.locator("#pair-1 .picture-missing")).to_be_visible()
    page.unroute("**/picture/*/1/*")
    expect(page.locator("#pair-1 .picture-missing")).to_be_hidden()


def test_single_keys_can_be_switched_off_and_stay_off(page, made):
    take(page, made)
    page.keyboard.press("?")
    page.keyboard.press("3")
    page.get_by_label("Use single keys").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.reload()
    press(page, "1")
    page.keyboard.press("ArrowRight")
    at(page, "2 of 4")
    expect(page.locator("#dots .answered")).to_have_count(0)


def test_more_time_is_offered_near_the_end_once(page, made, settings):
    settings.LEASE_MINUTES = 4
    take(page, made)
    press(page, "1")
    saved(page)
    banner = page.get_by_role("region", name="Time left")
    expect(banner).to_contain_text("4 minutes are left for this HIT. Your answers are saved.")
    accessible(page)
    page.get_by_role("button", name="Take 4 more minutes").click()
    expect(page.locator("#time")).to_have_text("8 min left")
    expect(page.locator("#dots .answered")).to_have_count(1)
    expect(page.get_by_role("button", name="Take 4 more minutes")).to_have_count(0)
    held = Assignment.objects.get()
    assert (held.deadline - held.leased_at).total_seconds() == pytest.approx(480, abs=1)


def test_a_small_phone_never_scrolls_sideways(open_page, full_asking):
    page = open_page(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True)
    Caption.objects.update(text="a" * 400)
    take(page, full_asking)
    wide = "document.documentElement.scrollWidth > innerWidth"
    assert not page.evaluate(wide)
    page.locator("#pair-1").get_by_text("Report a problem").tap()
    assert not page.evaluate(wide)
    page.locator("#pair-1").get_by_text("Partially YES, but").tap()
    page.get_by_text("describes the main concepts in a wrong way").locator("visible=true").tap()
    assert not page.evaluate(wide)
    page.get_by_role("button", name="All answers").tap()
    assert not page.evaluate(wide)
    page.get_by_role("button", name="Help and keys").tap()
    box = page.locator("#help").evaluate(
        "help => [help.scrollWidth, help.clientWidth, help.getBoundingClientRect().right]"
    )
    assert box[0] <= box[1]
    assert box[2] <= 320


def test_the_first_page_is_small_and_takes_few_requests(page, full_asking):
    sent = []
    page.on("response", lambda response: sent.append(response))
    take(page, full_asking)
    sent.clear()
    page.context.clear_cookies()
    page.reload()
    page.wait_for_load_state("networkidle")
    without_pictures = [response for response in sent if "/picture/" not in response.url]
    assert len(without_pictures) <= 12
    sizes = [response.request.sizes() for response in without_pictures]
    assert sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes) < 150_000


def seconds_on_pairs(page: Page) -> list[int]:
    return [int(field.input_value() or 0) for field in page.locator('[name^="seconds-"]').all()]


def test_seconds_are_counted_on_the_pair_that_is_shown_and_outlive_the_page(page, made):
    page.clock.install()
    take(page, made)
    Assignment.objects.update(leased_at=timezone.now() - timedelta(minutes=5))  # The page's clock runs ahead.
    page.clock.run_for(4_000)
    press(page, "1")
    at(page, "2 of 4")
    saved(page)
    page.clock.run_for(2_000)
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
    before = seconds_on_pairs(page)
    page.clock.run_for(30_000)
    assert seconds_on_pairs(page) == before
    assert before[0] >= 4
    assert before[1] >= 2
    assert before[2:] == [0, 0]
    assert int(page.locator("[name=active_seconds]").input_value()) == sum(before)
    assert Draft.objects.get().seconds >= 4
    page.reload()
    at(page, "2 of 4")
    after = seconds_on_pairs(page)
    assert [after[0], after[1] >= before[1]] == [before[0], True]
