"""What holds for every type of task in a browser: it works without scripts, on a narrow screen and with assistive
technology."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Draft, Judgment
from corpus.models import Caption
from hits.models import Item
from tests.annotation.judging.browsing import at, saved, stored, take
from tests.annotation.task_types.rounds import EVERY_TYPE, open_round
from tests.browser import accessible, press

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


# Of each type whose answers are keys: the keys, what the overview says of the first answer, and what is stored.
BY_KEY = {
    "preference": ("1210", "The left list", {1: 1, 2: 2, 3: 1}),
    "expert": ("4321" + "4" * 14, "Without any error", {1: 1, 2: 2, 3: 3, 4: 4} | dict.fromkeys(range(5, 19), 1)),
    "determinate": (
        ["1", "2"] * 9 + ["z", "1", "2"],
        "Yes, only few pictures",
        {n: 4 - 3 * (n % 2) for n in range(1, 21)},
    ),
    "checkbox": (
        ["1", "3", "t", "3", "ArrowRight", "n", "n", "ArrowLeft", "2", "ArrowRight", "5", "ArrowRight", "n", "9"]
        + ["ArrowRight", "u", "n"],
        "2 ticked",
        {place: 1 if place in (1, 10, 22, 35) else 4 for place in range(1, 61)},
    ),
}


@pytest.mark.parametrize("task", BY_KEY)
def test_a_whole_hit_can_be_done_with_the_keyboard_alone(page, task):
    keys, said, levels = BY_KEY[task]
    take(page, open_round(task))
    press(page, keys)
    at(page, "All answers")
    expect(page.locator("#strip li").first).to_contain_text(said)
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    assert stored() == levels


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


# A window of 320 × 256 is one of 1280 × 1024 at 400%.

# The part of each element that is in the window and under nothing else.
SEEN = """(selectors) => selectors.map((selector) => {
  const element = document.querySelector(`.pair:not([hidden]) ${selector}`);
  const box = element.getBoundingClientRect();
  const points = [0.1, 0.3, 0.5, 0.7, 0.9].map((share) => [box.x + box.width * 0.1, box.y + box.height * share]);
  return points.filter(([x, y]) => element.contains(document.elementFromPoint(x, y))).length / points.length;
})"""

WORDS = {"checkbox": ".level [dir=auto]", "caption": "textarea"}


@pytest.mark.parametrize("task", ["levels", "expert", "checkbox", "caption", "preference"])
def test_picture_and_sentence_are_seen_together_and_nothing_scrolls_sideways(open_page, db, task):
    page = open_page(viewport={"width": 320, "height": 256})
    take(page, open_round(task))
    for size in ({"width": 320, "height": 256}, {"width": 640, "height": 512}):
        page.set_viewport_size(size)
        picture, words = page.evaluate(SEEN, [".picture-link", WORDS.get(task, ".sentence")])
        assert (picture, words) == (1, 1)
        assert page.evaluate("document.documentElement.scrollWidth") == size["width"]


def test_a_picture_stays_in_a_short_window_while_its_sentences_are_ticked(open_page, db):
    page = open_page(viewport={"width": 320, "height": 256})
    take(page, open_round("checkbox"))
    page.locator(".pair:not([hidden]) .level [dir=auto]").last.scroll_into_view_if_needed()
    assert page.evaluate(SEEN, [".picture-link"]) == [1]


# Check boxes


def test_ten_long_sentences_and_all_that_leads_on_fit_into_a_laptop_s_window(page, box_round):
    Caption.objects.update(text="A group of people around a wooden table with plates of food, wine and a large cake.")
    take(page, box_round)
    for shown in (page.locator(".pair:visible .level"), page.locator("#next"), page.get_by_text("Report a problem")):
        for element in shown.locator("visible=true").all():
            expect(element).to_be_in_viewport(ratio=1)


def test_the_overview_shows_the_sentences_that_are_ticked(page, box_round):
    take(page, box_round)
    press(page, ["2", "t"])
    ticked = page.locator(".pair:visible label:has(:checked) span").all_text_contents()
    page.get_by_role("button", name="All answers").click()
    expect(page.locator("#strip q").first).to_have_text(" ".join(ticked))


def test_ticks_survive_a_reload_and_none_takes_them_away(page, box_round):
    take(page, box_round)
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


# Two ranked lists


def in_window(page: Page, label: str) -> bool:
    box = page.get_by_role("radio", name=label).first.locator("xpath=..").bounding_box()
    return box["y"] >= 0 and box["y"] + box["height"] <= page.viewport_size["height"]


def test_a_phone_shows_both_answers_wherever_the_lists_are_scrolled_to(open_page):
    page = open_page(viewport={"width": 320, "height": 700}, has_touch=True, is_mobile=True)
    take(page, open_round("preference"))
    for share in (0, 0.5):
        page.evaluate("share => scrollTo(0, share * document.documentElement.scrollHeight)", share)
        assert in_window(page, "The left list"), share
        assert in_window(page, "The right list"), share
    picture = page.locator(".pair:not([hidden]) .rankings .picture-link").first.bounding_box()
    assert picture["width"] > 0.35 * 320
    page.get_by_role("radio", name="The right list").first.tap()
    at(page, "2 of 4")


def test_a_picture_of_a_list_is_enlarged_in_place_and_the_overview_shows_the_sentence(page):
    take(page, open_round("preference"))
    third = page.get_by_role("link", name="Result 3 on the right").first
    third.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_alt_text("Result 3 on the right, enlarged")).to_be_visible()
    page.keyboard.press("Escape")
    third.focus()
    page.mouse.move(0, 0)
    page.keyboard.press("z")
    expect(page.get_by_alt_text("Result 3 on the right, enlarged")).to_be_visible()
    assert len(page.context.pages) == 1
    page.keyboard.press("Escape")
    sentence = page.locator(".sentence").first.text_content()
    page.get_by_role("button", name="All answers").click()
    expect(page.locator("#strip li").first).to_contain_text(sentence)
