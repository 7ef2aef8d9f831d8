"""What holds for every type of task in a browser: it works without scripts, on a narrow screen and with assistive
technology."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Admission, Assignment, Draft, Judgment
from annotation.people.qualification_tests import make_sentence_test
from corpus.models import Caption
from hits.models import Item
from tests.annotation.answering import shown
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


def test_ten_long_sentences_and_all_that_leads_on_fit_into_a_laptop_s_window(page, box_round):
    Caption.objects.update(text="A group of people around a wooden table with plates of food, wine and a large cake.")
    take(page, box_round)
    for part in (page.locator(".pair:visible .level"), page.locator("#next"), page.get_by_text("Report a problem")):
        for element in part.locator("visible=true").all():
            expect(element).to_be_in_viewport(ratio=1)


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


# Captions that are written

SENTENCES = ["A dog runs on grass.", "Two people sit on a bench.", "A red kite flies."]


def write(page: Page, text: str) -> None:
    # A sentence can be written once its picture is there; what is typed before is lost.
    expect(page.locator("textarea.written:visible")).to_be_editable()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def texts() -> list[str]:
    """Return the stored answers in the order of the page."""
    stored = dict(Judgment.objects.values_list("item", "text"))
    return [stored[item.pk] for item in shown(Assignment.objects.get())]


def test_sentences_are_written_and_submitted_with_the_keyboard_alone(page, caption_round):
    take(page, caption_round)
    at(page, "1 of 3")
    for sentence in SENTENCES:
        write(page, sentence)
    at(page, "All answers")
    expect(page.locator("#strip li").first).to_contain_text(SENTENCES[0])
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    assert texts() == SENTENCES


def test_a_letter_in_a_sentence_is_not_a_key_and_escape_gives_the_keys_back(page, caption_round):
    take(page, caption_round)
    page.keyboard.type("zunr 0?")
    expect(page.locator("#zoom")).to_be_hidden()
    expect(page.locator("#text-1")).to_have_value("zunr 0?")
    press(page, ["Escape", "ArrowRight"])
    at(page, "2 of 3")
    press(page, ["Escape", "0"])
    at(page, "3 of 3")
    saved(page)
    assert set(Draft.objects.values_list("level", "text")) == {(1, "zunr 0?"), (0, "")}


def test_a_sentence_that_is_too_short_or_comes_twice_holds_the_worker_there(page, caption_round):
    take(page, caption_round)
    write(page, "A dog")
    at(page, "1 of 3")
    expect(page.get_by_text("Write a whole sentence.")).to_be_visible()
    write(page, " runs.")
    at(page, "2 of 3")
    write(page, "a DOG runs")
    expect(page.get_by_text("You wrote this for picture 1 too.")).to_be_visible()
    accessible(page)
    page.get_by_role("button", name="All answers").click()
    expect(page.locator("#strip .missing")).to_have_count(3)
    page.get_by_role("button", name="Submit 3 answers").click()
    at(page, "1 of 3")
    assert not Judgment.objects.exists()


def test_a_sentence_is_saved_while_it_is_written_and_survives_a_reload_at_once(page, caption_round):
    take(page, caption_round)
    page.keyboard.type("A dog")
    saved(page)
    assert Draft.objects.get().text == "A dog"
    page.keyboard.type(" ru")
    page.reload()
    expect(page.locator("#text-1")).to_have_value("A dog ru")
    saved(page)
    assert Draft.objects.get().text == "A dog ru"


def test_undo_brings_the_sentence_before_back(page, caption_round):
    take(page, caption_round)
    write(page, SENTENCES[0])
    page.get_by_role("button", name="Previous").click()
    page.locator("#text-1").fill("Something else is here.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#text-1")).to_have_value(SENTENCES[0])


def test_a_picture_that_does_not_load_takes_the_sentence_away_and_a_sentence_takes_that_back(page, caption_round):
    take(page, caption_round)
    page.keyboard.type("A dog runs.")
    page.locator("#pair-1").get_by_text("The picture does not load", exact=True).click()
    at(page, "2 of 3")
    page.get_by_role("button", name="Previous").click()
    expect(page.locator("#text-1")).to_have_value("")
    page.locator("#text-1").fill("A dog runs after all.")
    expect(page.locator("#pair-1 [name=level-1]")).not_to_be_checked()


def test_the_test_of_sentences_comes_first_is_done_by_key_and_has_no_barriers(open_page, caption_round, tmp_path):
    file = tmp_path / "english.csv"
    file.write_text("sentence,written\nA dog runs.,right\nA dog run.,wrong\n")
    test = make_sentence_test("english", collection=caption_round.pool.collection, file=file, pass_mark=2, actor="x")
    Admission.objects.create(round=caption_round, test=test)
    page = open_page(viewport={"width": 320, "height": 640})
    page.goto(f"/judge/join/{caption_round.join_key}/")
    accessible(page)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Agree and join").click()
    page.get_by_role("link", name="Take the test").click()
    at(page, "1 of 2")
    accessible(page)
    page.emulate_media(color_scheme="dark")
    accessible(page)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    press(page, "1")
    at(page, "2 of 2")
    press(page, "2")
    at(page, "All answers")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Passed. Thank you.")).to_be_visible()
    page.get_by_role("button", name="Judge a HIT").click()
    at(page, "1 of 3")


def test_a_touched_screen_shows_the_picture_before_its_keyboard(phone, caption_round):
    take(phone, caption_round)
    expect(phone.locator("textarea.written").first).to_be_visible()
    assert phone.evaluate("document.activeElement.tagName") == "LEGEND"
