"""What a budget is expected to correct follows what is typed, and the order is the one that was shown."""

import pytest
from playwright.sync_api import expect

from tests.browser import barriers
from tests.console.browsing import log_in
from tests.evaluation.asking.doubtful import judged

__all__ = ["judged"]
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_the_preview_follows_the_budget_and_a_changed_budget_takes_the_order_away(judged, page, live_server):
    log_in(page, live_server.url)
    page.goto("/rounds/round-1/again/")
    budget = page.get_by_label("Budget")
    budget.fill("0.50")
    expect(page.locator("#preview")).to_contain_text("2, 1 further vote each")
    assert barriers(page) == []
    page.get_by_role("button", name="Show the order").click()
    expect(page.get_by_role("button", name="Order 2 votes for $0.50")).to_be_visible()
    budget.fill("0.10")
    expect(page.locator("#preview")).to_contain_text("costs $0.50: raise the budget")
    expect(page.get_by_role("button", name="Show the order")).to_be_visible()
    assert not judged.top_ups.exists()
