"""The sheet of two ranked lists in a real browser: pictures are enlarged in place, the answers stay in sight."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Report
from tests.annotation.judging.browsing import at, stored, take
from tests.annotation.task_types.rounds import open_round
from tests.browser import press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def in_window(page: Page, label: str) -> bool:
    box = page.get_by_role("radio", name=label).first.locator("xpath=..").bounding_box()
    return box["y"] >= 0 and box["y"] + box["height"] <= page.viewport_size["height"]


def test_a_whole_hit_can_be_done_with_the_keyboard_alone(page):
    take(page, open_round("preference"))
    at(page, "1 of 4")
    press(page, "1210")
    at(page, "All answers")
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    assert stored() == {1: 1, 2: 2, 3: 1}
    assert Report.objects.get().problem == "picture"


def test_a_phone_shows_both_answers_wherever_the_lists_are_scrolled_to(open_page):
    page = open_page(viewport={"width": 320, "height": 700}, has_touch=True, is_mobile=True)
    take(page, open_round("preference"))
    for share in (0, 0.5):
        page.evaluate("share => scrollTo(0, share * document.documentElement.scrollHeight)", share)
        assert in_window(page, "The left list"), share
        assert in_window(page, "The right list"), share
    picture = page.locator(".pair:not([hidden]) .rankings .picture-link").first.bounding_box()
    assert picture["width"] > 0.35 * 320
    page.get_by_role("radio", name="The right list").first.tap()
    at(page, "2 of 4")


def test_a_picture_of_a_list_is_enlarged_in_place_and_the_overview_shows_the_sentence(page):
    take(page, open_round("preference"))
    third = page.get_by_role("link", name="Result 3 on the right").first
    third.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_alt_text("Result 3 on the right, enlarged")).to_be_visible()
    page.keyboard.press("Escape")
    third.focus()
    page.mouse.move(0, 0)
    page.keyboard.press("z")
    expect(page.get_by_alt_text("Result 3 on the right, enlarged")).to_be_visible()
    assert len(page.context.pages) == 1
    page.keyboard.press("Escape")
    sentence = page.locator(".sentence").first.text_content()
    page.get_by_role("button", name="All answers").click()
    expect(page.locator("#strip li").first).to_contain_text(sentence)
