"""No pair is judged blind: all pictures are loaded when the HIT opens, and no level is taken while one is missing."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Draft, Judgment, Report
from tests.annotation.answering import levels_by_place
from tests.annotation.judging.browsing import at, saved, stored, take
from tests.annotation.task_types.rounds import open_round
from tests.browser import accessible, press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NOT_YET = "The picture has not loaded yet"
SEEN = ["checkbox", "expert", "caption", "preference"]


def block(page: Page, place: int) -> str:
    """Let the picture at this place fail; return the pattern of its address."""
    pattern = f"**/picture/*/{place}/*"
    page.route(pattern, lambda route: route.abort())
    return pattern


def test_pictures_are_asked_for_in_the_order_of_the_hit_after_the_first_one_on_the_screen(page, full):
    take(page, full)
    press(page, "11")
    saved(page)
    expect(page.locator(".picture.missing")).to_have_count(0)
    asked = []
    page.on("request", lambda request: asked.extend(re.findall(r"/picture/[^/]+/(\d+)/", request.url)))
    page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.reload()
    expect(page.locator(".picture.missing")).to_have_count(0)
    assert asked == [str(place) for place in [*range(3, 19), 1, 2]]


def test_no_level_is_taken_while_the_picture_is_missing_but_that_it_does_not_load_is(page, full):
    block(page, 5)
    take(page, full)
    press(page, "1111")
    at(page, "5 of 18")
    expect(page.locator("#pair-5").get_by_text(NOT_YET)).to_be_visible()
    expect(page.locator("#pair-5").get_by_text(re.compile("does not load"))).to_have_count(1)
    accessible(page)
    press(page, "1234")
    expect(page.locator("#pair-5 .picture-missing")).to_have_css("animation-name", "none")  # at once, and marked
    accessible(page)
    page.locator("#pair-5").get_by_text("Mostly NO, because").click()
    page.locator("#pair-5 input").first.focus()
    press(page, ["Space", "ArrowDown"])
    at(page, "5 of 18")
    expect(page.locator("#announce")).to_contain_text(NOT_YET)
    saved(page)
    assert levels_by_place(Draft.objects.all()) == dict.fromkeys(range(1, 5), 1)
    press(page, "0" + "1" * 13)
    at(page, "All answers")
    expect(page.locator("#strip li").nth(4)).to_contain_text("The picture does not load")
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    assert set(stored()) == {*range(1, 19)} - {5}
    assert Report.objects.get().problem == "picture"


def test_a_touch_on_a_level_does_nothing_while_the_picture_is_missing_and_answers_once_it_is_there(phone, made):
    pattern = block(phone, 1)
    take(phone, made)
    no = phone.locator("#pair-1").get_by_text("100% NO")
    expect(phone.locator("#pair-1").get_by_text(NOT_YET)).to_be_visible()
    no.tap()
    expect(phone.locator("#pair-1 input:checked")).to_have_count(0)
    phone.unroute(pattern)
    phone.get_by_role("button", name="try again").tap()
    expect(phone.locator("#pair-1").get_by_text(NOT_YET)).to_be_hidden()
    no.tap()
    at(phone, "2 of 4")
    saved(phone)
    assert levels_by_place(Draft.objects.all()) == {1: 4}


def test_an_answer_given_before_a_reload_stays_although_its_picture_is_missing_then(page, made):
    take(page, made)
    press(page, "1234")
    saved(page)
    block(page, 1)
    page.reload()
    at(page, "All answers")
    expect(page.locator("#pair-1 .missing")).to_have_count(1)
    page.get_by_role("button", name="Submit 4 answers").click()
    page.wait_for_url("**/receipt/")
    assert Judgment.objects.count() == 4


@pytest.mark.parametrize("task", SEEN)
def test_no_sheet_takes_an_answer_without_its_picture(page, task):
    made = open_round(task)
    block(page, 1)
    take(page, made)
    screen = page.locator(".pair:visible")
    expect(screen.get_by_text(re.compile("ot loaded yet")).first).to_be_visible()
    expect(screen.get_by_text(re.compile("does not load"))).to_have_count(1)
    place = page.locator("#place").text_content()
    for answer in screen.locator(".level:not(.no-picture)").all():
        answer.click()
    page.keyboard.type("1 2 A dog runs on grass.")
    at(page, place)
    expect(screen.locator("input:checked")).to_have_count(0)
    for field in screen.locator("textarea").all():
        expect(field).to_have_value("")
    screen.locator(".no-picture").click()
    expect(page.locator("#dots .answered")).to_have_count(1)
