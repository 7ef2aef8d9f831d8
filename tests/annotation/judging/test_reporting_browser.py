"""The report of a pair in a real browser: by keyboard, offline, without a script, on a small screen, in a frame."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.models import Assignment, Judgment, Report
from tests.annotation.answering import address, levels_by_place, shown
from tests.annotation.judging.browsing import at, saved, submit, take
from tests.browser import accessible, go_offline, press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

REPORT = "Report a problem with this pair"
THANKS = "You reported this pair: the picture is missing"


def pair(page: Page) -> Locator:
    """The pair on the screen."""
    return page.locator(".pair:visible")


def reported() -> list[tuple[str, str]]:
    return list(Report.objects.values_list("problem", "note"))


def test_a_pair_is_reported_and_answered_with_the_keyboard_alone(page, made):
    take(page, made)
    press(page, "1")
    at(page, "2 of 4")
    press(page, "r")
    expect(pair(page).get_by_label("What is wrong?")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("1 dog, 2 frames?")
    page.keyboard.press("Enter")
    expect(page.locator("#pair-2 p.reported")).to_contain_text(THANKS)
    at(page, "2 of 4")
    saved(page)
    press(page, "234")
    at(page, "All answers")
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    assert reported() == [("picture", "1 dog, 2 frames?")]
    assert Report.objects.get().image == shown(Assignment.objects.get())[1].image
    assert levels_by_place(Judgment.objects.all()) == {1: 1, 2: 2, 3: 3, 4: 4}


def test_escape_puts_the_report_away_and_nothing_is_sent_without_a_choice(page, made):
    take(page, made)
    press(page, "r")
    pair(page).get_by_role("button", name="Send the report").click()
    expect(pair(page).get_by_label("What is wrong?")).to_be_focused()
    expect(page.locator("#announce")).to_have_text(re.compile("Choose"))
    page.keyboard.press("Escape")
    expect(page.locator("#pair-1 summary")).to_be_focused()
    expect(pair(page).get_by_label("What is wrong?")).not_to_be_visible()
    press(page, "1")
    at(page, "2 of 4")
    saved(page)
    assert reported() == []


def send_report(page: Page) -> None:
    pair(page).get_by_text(REPORT).click()
    pair(page).get_by_label("What is wrong?").select_option("picture")
    pair(page).get_by_role("button", name="Send the report").click()


def test_a_report_made_offline_is_kept_and_sent_when_the_page_opens_again(page, made):
    take(page, made)
    go_offline(page)
    press(page, "1")
    send_report(page)
    expect(page.locator("#saved")).to_have_text("offline: 1 answer, 1 report kept on this device")
    again = page.context.new_page()
    page.close()
    again.context.set_offline(False)
    again.goto(address("task", Assignment.objects.get()))
    expect(again.locator("#pair-2 .reported")).to_contain_text(THANKS)
    saved(again)
    assert reported() == [("picture", "")]


def test_a_report_that_was_not_sent_goes_with_the_answers(page, made):
    take(page, made)
    page.route("**/report/", lambda route: route.fulfill(status=503, body="busy"))
    send_report(page)
    expect(page.locator("#saved")).to_have_text("not saved: 1 report kept on this device")
    press(page, "1234")
    submit(page)
    assert reported() == [("picture", "")]


def test_the_report_is_accessible_and_fits_a_phone(phone, made):
    take(phone, made)
    pair(phone).get_by_text(REPORT).click()
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    accessible(phone)
    phone.emulate_media(color_scheme="dark")
    accessible(phone)
    pair(phone).get_by_label("What is wrong?").select_option("offensive")
    pair(phone).get_by_role("button", name="Send the report").click()
    expect(phone.locator("#pair-1 .reported")).to_be_visible()
    accessible(phone)
