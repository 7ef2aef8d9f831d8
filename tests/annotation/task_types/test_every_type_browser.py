"""What holds for every type of task in a browser: it works without scripts, on a narrow screen and with assistive
technology."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judgment
from corpus.models import Caption
from hits.models import Item
from tests.annotation.judging.browsing import take
from tests.annotation.task_types.rounds import EVERY_TYPE, open_round
from tests.browser import accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The four levels have tests of their own, test_judging_browser.py and test_judging_comfort_browser.py.
OTHERS = [task for task in EVERY_TYPE if task != "levels"]
WIDE = "document.documentElement.scrollWidth > innerWidth"


def answer_without_script(page: Page) -> None:
    """Give every screen its first answer, or a sentence."""
    for number, screen in enumerate(page.locator("form#judging fieldset.pair").all(), 1):
        if (field := screen.locator("textarea")).count():
            field.fill(f"This is the sentence of picture {['one', 'two', 'three'][number - 1]}.")
        else:
            screen.locator(".level input").first.check()


@pytest.mark.parametrize("task", OTHERS)
def test_a_whole_hit_is_submitted_without_script(open_page, task):
    made = open_round(task)
    page = open_page(java_script_enabled=False)
    page.route("**/picture/**", lambda route: route.abort())  # without scripts a browser loads hundreds at once
    take(page, made)
    answer_without_script(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".receipt-code")).to_be_visible()
    assert Judgment.objects.count() == Item.objects.filter(hit__number=1, hit__round=made).count()


@pytest.mark.parametrize("task", EVERY_TYPE)
def test_the_sheet_has_no_barriers_and_no_sideways_scroll_at_320_pixels(open_page, task):
    page = open_page(viewport={"width": 320, "height": 640})
    made = open_round(task)
    Caption.objects.update(text="a" * 400)
    take(page, made)
    assert not page.evaluate(WIDE)
    accessible(page)
    page.get_by_role("button", name="Help and keys").click()
    accessible(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="All answers").click()
    assert not page.evaluate(WIDE)
    accessible(page)
