"""The page of all calls in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser import barriers_in_light_and_dark, faults_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FIVE_SCREENS = 5 * 844  # pixels of a phone


def test_a_link_to_a_call_opens_it_and_nothing_keeps_anybody_out(page, live_server):
    faults = faults_of(page)
    page.goto("/api/")
    expect(page.locator("#plan_round dl").first).not_to_be_visible()
    page.goto("/api/#plan_round")
    expect(page.locator("#plan_round dl").first).to_be_visible()
    page.get_by_role("heading", name="Scopes").click()
    expect(page.get_by_role("cell", name="publish rounds, which costs money, and close them")).to_be_visible()
    assert barriers_in_light_and_dark(page) == []
    assert faults == []


def test_no_part_is_longer_than_five_screens_of_a_phone(phone, live_server):
    phone.goto("/api/")
    heights = phone.evaluate(
        """() => [...document.querySelectorAll("main > details, .call")].map((part) => {
            part.open = true;
            const subject = part.closest(".subject");
            if (subject) subject.open = true;
            const height = part.offsetHeight;
            part.open = false;
            if (subject) subject.open = false;
            return [part.id || part.lastElementChild.id, height];
        })"""
    )
    assert len(heights) > 10
    assert [part for part in heights if part[1] > FIVE_SCREENS] == []
    assert phone.evaluate("document.documentElement.scrollHeight") <= FIVE_SCREENS
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
