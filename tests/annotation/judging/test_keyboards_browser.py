"""Keys on keyboards of other layouts, number pads and input methods, as Chromium sends them."""

import pytest
from playwright.sync_api import expect

from annotation.models import Report
from tests.annotation.judging.browsing import at, saved, send, take
from tests.annotation.task_types.rounds import open_round
from tests.browser import press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

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


def test_a_key_acts_by_what_it_prints_or_by_its_place(page, made):
    take(page, made)
    for answer, undo in LAYOUTS.values():
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


def test_a_key_that_is_not_meant_for_the_page_answers_nothing(page, made):
    take(page, made)
    for change in NOT_MEANT.values():
        send(page, **{"key": "2", "code": "Digit2", **change})
    expect(page.locator("#pair-1 .level input:checked")).to_have_count(0)
    at(page, "1 of 4")


def test_enter_that_takes_a_candidate_sends_no_report_and_the_next_one_does(page, made):
    take(page, made)
    press(page, "r")
    page.keyboard.press("ArrowDown")
    page.locator("#pair-1").get_by_role("textbox").fill("にほん")
    for composing in ({"isComposing": True}, {"keyCode": 229}):
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
