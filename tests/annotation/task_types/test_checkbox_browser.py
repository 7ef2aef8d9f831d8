"""A HIT of check boxes in a browser: by keyboard alone, after a reload, offline, without script, on a narrow screen."""

import pytest
from playwright.sync_api import expect

from annotation.models import Draft
from corpus.models import Caption
from hits.models import Round
from tests.annotation.judging.browsing import at, saved, stored, take
from tests.browser import press
from tests.hits.boxes import pack_boxes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def made() -> Round:
    return pack_boxes()


def test_a_whole_hit_can_be_done_with_the_keyboard_alone(page, made):
    take(page, made)
    at(page, "1 of 6")
    press(page, ["1", "3", "t", "3", "ArrowRight"])
    at(page, "2 of 6")
    press(page, ["n"])
    at(page, "3 of 6")
    press(page, ["n", "ArrowLeft", "2", "ArrowRight"])
    at(page, "4 of 6")
    press(page, ["5", "ArrowRight", "n", "9", "ArrowRight"])
    at(page, "All answers")
    expect(page.locator("#strip li").nth(0)).to_contain_text("2 ticked")
    expect(page.locator("#strip li").nth(1)).to_contain_text("None of these sentences")
    press(page, ["u", "n", "Enter"])
    page.wait_for_url("**/receipt/")
    yes = {1, 10, 22, 35}
    assert stored() == {place: 1 if place in yes else 4 for place in range(1, 61)}


def test_ten_long_sentences_and_all_that_leads_on_fit_into_a_laptop_s_window(page, made):
    Caption.objects.update(text="A group of people around a wooden table with plates of food, wine and a large cake.")
    take(page, made)
    for shown in (page.locator(".pair:visible .level"), page.locator("#next"), page.get_by_text("Report a problem")):
        for element in shown.locator("visible=true").all():
            expect(element).to_be_in_viewport(ratio=1)


def test_the_overview_shows_the_sentences_that_are_ticked(page, made):
    take(page, made)
    press(page, ["2", "t"])
    ticked = page.locator(".pair:visible label:has(:checked) span").all_text_contents()
    page.get_by_role("button", name="All answers").click()
    expect(page.locator("#strip q").first).to_have_text(" ".join(ticked))


def test_ticks_survive_a_reload_and_none_takes_them_away(page, made):
    take(page, made)
    press(page, ["1", "2"])
    saved(page)
    page.reload()
    at(page, "2 of 6")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".pair:visible input:checked").count() == 2
    page.locator(".pair:visible label.none").click()
    at(page, "2 of 6")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pair:visible input:checked")).to_have_value("4")
    page.locator(".pair:visible label").first.click()
    at(page, "1 of 6")
    saved(page)
    assert sorted(Draft.objects.values_list("level", flat=True)) == [1] + [4] * 9
