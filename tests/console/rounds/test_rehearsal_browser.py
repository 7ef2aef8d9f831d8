"""A rehearsal in a real browser: the worker's page works without a worker."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment
from tests.browser import press
from tests.console.test_console_browser import log_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_hit_is_rehearsed_by_keys_alone(page, live_server, site):
    before = Assignment.objects.count()
    log_in(page, live_server.url).goto("/rounds/draft/rehearse/")
    for place in range(1, 5):
        expect(page.get_by_text(f"{place} of 4", exact=True)).to_be_visible()
        press(page, "2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Rehearsal of draft")).to_be_visible()
    expect(page.get_by_text("None of your answers was stored.")).to_be_visible()
    assert Assignment.objects.count() == before
