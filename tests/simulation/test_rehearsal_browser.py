"""The emulator's site in a real browser, our page in its frame, and our commands."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.models import Assignment, Judgment
from annotation.review.decisions import decide
from hits.models import Round
from tests.browser import PATIENCE, Underway, press
from tests.crowd.platform import rehearsing
from tests.crowd.platform_books import check_both_sides, check_judgments
from tests.crowd.platform_bots import RIGHT, WRONG, Bot
from tests.factories import make_round

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESKTOP = {"viewport": {"width": 1280, "height": 1100}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def there(live_server, settings):
    settings.SITE_URL = live_server.url
    with rehearsing(settings) as made:
        yield made


@pytest.fixture
def bot(chromium, there):
    """Make workers, each in a profile of their own."""
    underway, contexts = Underway(), []

    def make(**options: object) -> Bot:
        contexts.append(chromium.new_context(reduced_motion="reduce", **(options or DESKTOP)))
        contexts[-1].set_default_timeout(PATIENCE)
        return Bot(contexts[-1], there.emulator.url, contexts[-1].new_page())

    yield make
    for context in contexts:
        context.close()
    underway.settle()


def publish(**options) -> Round:
    made = make_round(published=False, **options)
    call_command("publish", made.name, channel="mturk", environment="emulator", stdout=StringIO())
    made.refresh_from_db()
    return made


def sync(made: Round) -> None:
    call_command("sync", made.name, stdout=StringIO())


def end(made: Round) -> None:
    sync(made)
    call_command("close", made.name, stdout=StringIO())
    sync(made)


def only_state() -> str:
    return Assignment.objects.get().state


def test_a_reload_mid_way_goes_on_at_the_next_pair(bot, there):
    made = publish()
    worker = bot().begin()
    keys = worker.in_shown_order(RIGHT)
    worker.answer(keys[:2])
    worker.page.reload()
    expect(worker.work.locator("#place")).to_have_text("3 of 4")
    worker.answer(keys[2:])
    worker.submit()
    worker.arrived()
    end(made)
    assert only_state() == "accepted"
    check_judgments(made)


def test_who_comes_back_to_saved_answers_sends_them_again(bot, there):
    made = publish()
    worker = bot().begin()
    worker.page.route("**/externalSubmit", lambda route: route.abort())
    worker.answer(RIGHT)
    with worker.page.expect_event("requestfailed", lambda request: request.url.endswith("/externalSubmit")):
        worker.submit()
    worker.page.close()
    worker.come_back()
    worker.work.get_by_role("button", name="Send again").click()
    worker.arrived()
    end(made)
    check_both_sides(made, there)
    check_judgments(made)


def test_the_answers_of_a_second_tab_do_not_replace_those_that_were_handed_in(bot, there):
    made = publish()
    worker = bot().begin()
    first = worker.page
    worker.come_back()
    worker.answer(RIGHT)
    worker.submit()
    worker.arrived()
    worker.page = first
    worker.page.bring_to_front()
    worker.work.locator("#place").click()
    press(worker.page, "4444", sheet=worker.work)
    worker.submit()
    expect(worker.work.get_by_role("heading", name="Not submitted")).to_be_visible()
    end(made)
    check_both_sides(made, there)
    assert sorted(Judgment.objects.values_list("level", flat=True)) == [1, 1, 1, 4]


def test_without_cookies_in_its_frame_the_page_works_all_the_same(bot):
    publish()
    worker = bot().begin()
    worker.answer("11")
    assert {cookie["name"] for cookie in worker.context.cookies()} == {"mturk_emulator_worker"}
    frame = worker.page.query_selector("iframe").content_frame()
    assert frame.evaluate("document.cookie") == ""


def test_a_crowd_of_every_kind_ends_a_round_with_balanced_books(bot, there):
    made = publish(hits=4)
    bot().do(RIGHT)
    bot().do(RIGHT, clicks=2)
    bot().do(WRONG)
    bot().begin().give_back()
    bot().begin().page.close()
    sync(made)
    person = User.objects.create_user("robin")
    decide(Assignment.objects.get(state="flagged"), votes_count=False, paid=True, reason="Careless.", by=person)
    there.later(minutes=61)
    sync(made)
    bot().do(RIGHT)
    bot().do(RIGHT)
    end(made)
    theirs = check_both_sides(made, there)
    check_judgments(made)
    assert theirs.statuses == {"Approved": 5, "Returned": 1, "Abandoned": 1}
    assert Assignment.objects.filter(state="accepted").count() == 4
    assert Assignment.objects.exclude(problem="").count() == 0


def test_a_phone_never_scrolls_sideways(bot):
    publish(reasons=True)
    worker = bot(**PHONE)
    for step in (worker.register, worker.accept):
        step()
        assert not worker.page.evaluate("document.documentElement.scrollWidth > innerWidth")
    frame = worker.page.query_selector("iframe").content_frame()
    assert not frame.evaluate("document.documentElement.scrollWidth > innerWidth")
