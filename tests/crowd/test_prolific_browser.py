"""A participant in a real browser: from Prolific's address over consent and HIT back to Prolific."""

from decimal import Decimal

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.answers import places_of
from annotation.models import Assignment, Payment
from crowd.sync import sync_round
from tests.annotation.answering import right_answers
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
    made.refresh_from_db()
    return made


def judge(page) -> None:
    """Answer all pairs of the latest HIT right, by keys, and send them."""
    expect(page.locator("#place")).not_to_be_empty()
    work = Assignment.objects.latest("pk")
    level_of = {answer.item_id: answer.level for answer in right_answers(work)}
    for place, item in sorted(places_of(work).items()):
        expect(page.locator(f"#pair-{place}")).to_be_visible()
        page.keyboard.press(str(level_of[item]))
    page.locator("#submit-all").click()


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
    judge(page)
    page.wait_for_url(f"{there.emulator.url}/**")
    assert there.status(submission) == "AWAITING REVIEW"
    assert Assignment.objects.get().judgments.count() == 4


def test_who_takes_the_study_again_gets_another_hit_and_is_paid_for_both(there, open_page, live_server):
    made = publish(hits=2)
    person, page = there.world.register(), open_page(viewport={"width": 360, "height": 800})
    page.context.request.post(f"{there.emulator.url}/sign-in", form={"participant_id": person})
    for _ in range(2):
        page.goto(f"{there.emulator.url}/studies/")
        page.get_by_role("button", name="Reserve my place").click()
        page.get_by_role("button", name="Open study").click()
        page.get_by_role("button", name="Agree and start").click()
        judge(page)
        page.wait_for_url(f"{there.emulator.url}/**")
    page.goto(f"{there.emulator.url}/studies/")
    expect(page.get_by_role("button", name="Reserve my place")).to_have_count(0)
    for _ in range(2):
        sync_round(made)
    work = Assignment.objects.all()
    assert (work.values("hit").distinct().count(), work.values("worker").distinct().count()) == (2, 1)
    assert list(Payment.objects.values_list("state", flat=True)) == ["paid", "paid"]
    assert there.statuses() == ["APPROVED", "APPROVED"]


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
