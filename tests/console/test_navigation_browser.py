"""The menu of narrow windows, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser import barriers_in_light_and_dark
from tests.console.browsing import log_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_menu_of_a_phone_opens_below_a_bar_of_one_line_without_barriers(open_page, live_server, site):
    size = {"width": 320, "height": 800}
    page = log_in(open_page(viewport=size, has_touch=True, is_mobile=True), live_server.url)
    page.goto("/plan/")
    assert page.locator(".top").bounding_box()["height"] == 56
    expect(page.locator(".top nav").first).not_to_be_visible()
    page.get_by_role("button", name="Menu").tap()
    expect(page.locator(".top nav a[aria-current]")).to_have_text("Rounds")
    boxes = [link.bounding_box() for link in page.locator(".menu a, .menu button").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 320 for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert barriers_in_light_and_dark(page) == []


def test_the_menu_opens_and_closes_with_the_keyboard_alone_and_without_scripts(open_page, live_server, db):
    size = {"width": 390, "height": 800}
    page = log_in(open_page(viewport=size, java_script_enabled=False), live_server.url)
    page.goto("/")
    menu = page.get_by_role("button", name="Menu")
    menu.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(".top nav a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#menu")).not_to_be_visible()
    expect(menu).to_be_focused()


def test_a_wide_window_shows_all_entries_in_one_line_without_a_menu(open_page, live_server, db):
    page = log_in(open_page(viewport={"width": 1249, "height": 800}), live_server.url)
    page.goto("/")
    expect(page.locator(".menu-button")).not_to_be_visible()
    assert page.locator(".top").bounding_box()["height"] == 56
    assert len({link.bounding_box()["y"] for link in page.locator(".top nav a").all()}) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1249
