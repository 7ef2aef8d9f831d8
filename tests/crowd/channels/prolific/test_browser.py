"""Participants in real browsers: from Prolific's address over consent and HIT back to Prolific."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment
from annotation.work.answers import places_of
from tests.annotation.answering import right_answers
from tests.browser import press
from tests.crowd.prolific_rehearsal import publish, rehearsing

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def there(settings, live_server):
    settings.SITE_URL = live_server.url
    with rehearsing(settings) as made:
        yield made


def judge(page, *, wrong: bool = False) -> None:
    """Answer all pairs of the latest HIT by keys, and send them."""
    expect(page.locator("#place")).not_to_be_empty()
    work = Assignment.objects.latest("pk")
    level_of = {answer.item_id: answer.level for answer in right_answers(work)}
    for place, item in sorted(places_of(work).items()):
        expect(page.locator(f"#pair-{place}")).to_be_visible()
        press(page, "1" if wrong else str(level_of[item]))
    page.locator("#submit-all").click()


def test_a_participant_consents_answers_and_is_back_on_prolific(there, open_page, live_server):
    publish()
    submission, person = there.reserve()
    page = open_page(viewport={"width": 360, "height": 800})
    page.context.request.post(f"{there.emulator.url}/sign-in", form={"participant_id": person})
    page.goto(live_server.url + there.start(submission, person))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Agree and start").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("4 pairs")
    assert person not in page.url
    judge(page)
    page.wait_for_url(f"{there.emulator.url}/**")
    assert there.status(submission) == "AWAITING REVIEW"
    assert Assignment.objects.get().judgments.count() == 4
