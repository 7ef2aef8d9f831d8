"""A participant in a real browser: from Prolific's address over consent and HIT back to Prolific."""

from decimal import Decimal

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.models import Assignment
from tests.crowd.prolific_rehearsal import rehearsing
from tests.factories import make_round

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def there(settings, live_server):
    settings.SITE_URL = live_server.url
    with rehearsing(settings) as made:
        yield made


def publish(hits: int = 1):
    made = make_round(hits=hits, published=False, reward="2.00")
    call_command("publish", made.name, channel="prolific", environment="emulator", expected_minutes=Decimal(8))
    return made


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 360)], ids=["light, wide", "dark, narrow"])
def test_a_participant_consents_answers_and_is_back_on_prolific(there, open_page, live_server, scheme, width):
    publish()
    submission, person = there.reserve()
    page = open_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    page.context.request.post(f"{there.emulator.url}/sign-in", form={"participant_id": person})
    page.goto(live_server.url + there.start(submission, person))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Agree and start").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("4 pairs")
    assert person not in page.url
    expect(page.locator("#place")).not_to_be_empty()
    for place in range(1, 5):
        expect(page.locator(f"#pair-{place}")).to_be_visible()
        page.keyboard.press("1")
    page.locator("#submit-all").click()
    page.wait_for_url(f"{there.emulator.url}/**")
    assert there.status(submission) == "AWAITING REVIEW"
    assert Assignment.objects.get().judgments.count() == 4


def test_who_does_not_agree_gets_back_to_prolific(there, open_page, live_server):
    publish()
    submission, person = there.reserve()
    page = open_page(viewport={"width": 360, "height": 800})
    page.context.request.post(f"{there.emulator.url}/sign-in", form={"participant_id": person})
    page.goto(live_server.url + there.start(submission, person))
    page.get_by_role("button", name="I do not agree").click()
    page.get_by_role("button", name="Go back to the platform").click()
    page.wait_for_url(f"{there.emulator.url}/**")
    with there.world.looking() as state:
        assert state.submissions[submission].return_requested
    assert not Assignment.objects.exists()
