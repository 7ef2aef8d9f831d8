"""Writing captions in a browser: by keyboard alone, after a reload, offline, in two tabs, and sentences that cannot be
taken."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Admission, Assignment, Draft, Judgment
from annotation.people.qualification_tests import make_sentence_test
from tests.annotation.answering import shown
from tests.annotation.judging.browsing import at, saved, take
from tests.browser import accessible, press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SENTENCES = ["A dog runs on grass.", "Two people sit on a bench.", "A red kite flies."]


def write(page: Page, text: str) -> None:
    # A sentence can be written once its picture is there; what is typed before is lost.
    expect(page.locator("textarea.written:visible")).to_be_editable()
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def texts() -> list[str]:
    """What is stored, in the order of the page."""
    stored = dict(Judgment.objects.values_list("item", "text"))
    return [stored[item.pk] for item in shown(Assignment.objects.get())]


def test_a_whole_hit_can_be_done_with_the_keyboard_alone(page, caption_round):
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


def test_what_was_typed_survives_a_reload_at_once(page, caption_round):
    take(page, caption_round)
    page.keyboard.type("A dog ru")
    page.reload()
    expect(page.locator("#text-1")).to_have_value("A dog ru")
    saved(page)
    assert Draft.objects.get().text == "A dog ru"


def test_a_sentence_is_saved_while_it_is_written(page, caption_round):
    take(page, caption_round)
    page.keyboard.type("A dog runs")
    saved(page)
    assert Draft.objects.get().text == "A dog runs"


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
    page.get_by_role("button", name="Agree and start").click()
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
