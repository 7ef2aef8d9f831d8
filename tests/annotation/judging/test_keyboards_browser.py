"""Keys on keyboards of other layouts, number pads and input methods, as Chromium sends them."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Report
from tests.annotation.judging.test_judging_browser import at, saved, take
from tests.annotation.task_types.rounds import open_round
from tests.browser import press, wait_for_pictures

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SEND = """(key) => (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent("keydown", {bubbles: true, cancelable: true, ...key}))"""


def send(page: Page, key: str, code: str, **more: object) -> None:
    wait_for_pictures(page)
    page.evaluate(SEND, {"key": key, "code": code, **more})


# Of each layout: the key for an answer, as its row of digits prints it without Shift, and that for U, undo.
LAYOUTS = {
    "American": (("4", "Digit4"), ("u", "KeyU")),
    "French": (("'", "Digit4"), ("u", "KeyU")),
    "Czech": (("č", "Digit4"), ("u", "KeyU")),
    "Dvorak": (("4", "Digit4"), ("u", "KeyF")),
    "Russian": (("4", "Digit4"), ("г", "KeyU")),
    "Hebrew": (("4", "Digit4"), ("ו", "KeyU")),
    "Arabic": (("٤", "Digit4"), ("ع", "KeyU")),
    "number pad": (("4", "Numpad4"), ("U", "KeyU")),
    "number pad without NumLock": (("ArrowLeft", "Numpad4"), ("u", "KeyU")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_key_acts_by_what_it_prints_or_by_its_place(page, made, layout):
    answer, undo = LAYOUTS[layout]
    take(page, made)
    send(page, *answer)
    at(page, "2 of 4")
    expect(page.locator("#pair-1 input[value='4']")).to_be_checked()
    send(page, *undo)
    at(page, "1 of 4")
    expect(page.locator("#pair-1 input[value='4']")).not_to_be_checked()


def test_the_help_opens_by_the_question_mark_of_a_french_keyboard_and_its_letters_are_its_own(page, made):
    take(page, made)
    press(page, "1")
    send(page, "a", "KeyQ")  # where an American keyboard has Q
    send(page, "w", "KeyZ")  # where it has the key that enlarges
    expect(page.locator("dialog[open]")).to_have_count(0)
    send(page, "?", "KeyM", shiftKey=True)
    expect(page.locator("#help")).to_be_visible()


NOT_MEANT = {
    "composing": {"isComposing": True},
    "of an input method": {"keyCode": 229},
    "held down": {"repeat": True},
    "Ctrl": {"ctrlKey": True},
    "Alt": {"altKey": True},
    "Meta": {"metaKey": True},
    "AltGr": {"modifierAltGraph": True, "key": "²"},
    "Shift, by its place": {"shiftKey": True, "key": '"'},
}


@pytest.mark.parametrize("why", NOT_MEANT)
def test_a_key_that_is_not_meant_for_the_page_answers_nothing(page, made, why):
    take(page, made)
    send(page, **{"key": "2", "code": "Digit2", **NOT_MEANT[why]})
    expect(page.locator("#pair-1 .level input:checked")).to_have_count(0)
    at(page, "1 of 4")


@pytest.mark.parametrize("composing", [{"isComposing": True}, {"keyCode": 229}])
def test_enter_that_takes_a_candidate_sends_no_report_and_the_next_one_does(page, made, composing):
    take(page, made)
    press(page, "r")
    page.keyboard.press("ArrowDown")
    page.locator("#pair-1").get_by_role("textbox").fill("にほん")
    send(page, "Enter", "Enter", **composing)
    at(page, "1 of 4")
    expect(page.locator("#pair-1 p.reported")).to_be_hidden()
    page.locator("#pair-1").get_by_role("textbox").fill("日本")
    page.keyboard.press("Enter")
    expect(page.locator("#pair-1 p.reported")).to_be_visible()
    saved(page)
    assert Report.objects.get().note == "日本"


def test_enter_that_takes_a_candidate_leaves_a_written_sentence_alone(page, db):
    take(page, open_round("caption"))
    place = page.locator("#place").inner_text()
    page.locator("textarea.written:visible").fill("Een hond rent over het gras.")
    send(page, "Enter", "Enter", isComposing=True)
    send(page, "1", "Digit1")
    at(page, place)
    expect(page.locator("textarea.written:visible")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#place")).not_to_have_text(place)


@pytest.mark.parametrize("task", ["checkbox", "expert", "determinate", "preference"])
def test_a_french_row_of_digits_answers_on_the_screen_of_each_type_of_task(page, db, task):
    take(page, open_round(task))
    send(page, "&", "Digit1")
    expect(page.locator("#pair-1 [data-key='1']")).to_be_checked()
