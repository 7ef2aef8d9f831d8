import re

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from annotation.models import Admission, Appeal, Assignment, Judgment, Report, Worker
from annotation.people.qualification_tests import QualificationPlan, make_test
from annotation.people.receipts import completion_code
from annotation.work.leases import expire_leases, lease_seat
from annotation.work.submissions import submit_answers
from corpus.models import Caption
from hits.models import Round
from tests.annotation.answering import address, home_of, levels_by_place, right_answers, shown
from tests.annotation.judging.browsing import at, join, look_away, saved, send, stored, submit, tab_to, take
from tests.annotation.task_types.rounds import open_round
from tests.browser import accessible, barriers_in_light_and_dark, go_offline, press
from tests.factories import make_round, make_worker

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_whole_hit_can_be_done_with_the_keyboard_alone(page, full_asking):
    page.goto(f"/judge/join/{full_asking.join_key}/")
    tab_to(page, "take part")
    page.keyboard.press("Space")
    tab_to(page, "Agree and join")
    page.keyboard.press("Enter")
    page.wait_for_url("**/judge/me/**")
    tab_to(page, "Judge a HIT")
    page.keyboard.press("Enter")
    page.wait_for_url("**/task/**")
    at(page, "1 of 18")
    press(page, "1" + "2a" + "3ce" + "4" + "1" * 12 + "14")
    at(page, "All answers")
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    expect(page.locator(".receipt-code")).to_have_text(Assignment.objects.get().receipt)
    assert stored() == {1: 1, 2: 2, 3: 3, 4: 4, 18: 4} | dict.fromkeys(range(5, 18), 1)
    reasons = Judgment.objects.exclude(shortcoming="").values_list("shortcoming", "wrong_way")
    assert sorted(reasons) == [("not_in_image", ""), ("wrong_way", "quantity")]
    assert None not in Judgment.objects.values_list("seconds", flat=True)


def test_two_clicks_on_submit_and_going_back_give_one_receipt(page, made):
    join(page, made)
    press(page, "1" * 4)
    page.get_by_role("button", name="Submit 4 answers").dblclick()
    page.wait_for_url("**/receipt/")
    expect(page.locator(".receipt-code")).to_have_text(Assignment.objects.get().receipt)
    page.go_back()
    expect(page.locator(".receipt-code")).to_have_text(Assignment.objects.get().receipt)
    assert Judgment.objects.count() == 4


def test_a_reload_keeps_the_answers_and_goes_on_where_the_worker_was(page, asking):
    take(page, asking)
    press(page, "1" + "2b" + "4")
    saved(page)
    page.reload()
    at(page, "4 of 4")
    expect(page.locator("#dots .answered")).to_have_count(3)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(
        page.get_by_label("does not describe the main concepts in the image").locator("visible=true")
    ).to_be_checked()


def test_arrows_inside_a_radio_group_never_jump_ahead(page, made):
    take(page, made)
    page.locator("#pair-1 input").first.focus()
    press(page, ["ArrowDown", "ArrowDown"])
    at(page, "1 of 4")


def test_what_is_missing_is_marked_and_submitting_leads_there(page, made):
    take(page, made)
    press(page, "11")
    page.get_by_role("button", name="All answers").click()
    expect(page.locator("#strip .missing")).to_have_count(2)
    page.get_by_role("button", name="Submit 4 answers").click()
    at(page, "3 of 4")
    assert Judgment.objects.count() == 0


def test_who_lost_the_hit_to_another_worker_hears_it_at_the_next_save_and_can_ask_for_pay(page, made):
    take(page, made)
    press(page, "11")
    saved(page)
    Assignment.objects.update(deadline=timezone.now())
    expire_leases()
    lease_seat(made, worker=make_worker())
    press(page, "1")
    look_away(page)
    expect(page.get_by_role("alert")).to_contain_text("another worker took")
    page.get_by_role("link", name="Go to your page").click()
    page.get_by_label("Did you do the work?").fill("I had finished it.")
    page.get_by_role("button", name="Ask to be paid").click()
    expect(page.get_by_text("will read your request")).to_be_visible()
    accessible(page)
    assert Appeal.objects.get().text == "I had finished it."


def test_without_javascript_the_long_form_names_what_is_missing_and_submits(open_page, asking):
    page = open_page(java_script_enabled=False)
    join(page, asking)
    for place in range(1, 4):
        page.locator(f"[name=level-{place}]").first.check()
    page.locator("#pair-3").get_by_text("Report a problem").click()
    page.locator("#pair-3").get_by_label("What is wrong?").select_option("text")
    page.get_by_role("button", name="Submit 4 answers").click()
    expect(page.get_by_role("alert")).to_contain_text("1 pair has no answer yet: 4")
    expect(page.locator("input:checked")).to_have_count(3)
    page.locator("[name=level-4]").nth(1).check()
    page.locator("[name=shortcoming-4]").nth(3).check()
    page.get_by_role("button", name="Submit 4 answers").click()
    expect(page.locator(".receipt-code")).to_be_visible()
    assert stored()[4] == 2
    fourth = shown(Assignment.objects.get())[3]
    assert Judgment.objects.get(item=fourth).shortcoming == "grammar"
    assert Report.objects.get().problem == "text"


def test_nothing_on_the_way_breaks_the_security_policy_or_a_script(page, asking):
    troubles = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    Caption.objects.update(text="</script><img src=x onerror=alert(1)>")
    join(page, asking)
    press(page, "1" * 4)
    page.wait_for_load_state("networkidle")  # a picture that is asked for after the submission is not found
    submit(page)
    assert troubles == []


def test_axe_finds_nothing_on_the_judging_page(page, asking):
    take(page, asking)
    press(page, "2c")
    assert barriers_in_light_and_dark(page) == []
    press(page, "e" + "1" + "?")
    accessible(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="All answers").click()
    accessible(page)


# The report of a pair: by keyboard, offline, without a script, on a small screen

REPORT = "Report a problem"
THANKS = "You reported this: The picture is missing"


def pair(page: Page) -> Locator:
    """The pair on the screen."""
    return page.locator(".pair:visible")


def reported() -> list[tuple[str, str]]:
    return list(Report.objects.values_list("problem", "note"))


def test_a_pair_is_reported_and_answered_with_the_keyboard_alone(page, made):
    take(page, made)
    press(page, "1")
    at(page, "2 of 4")
    press(page, "r")
    expect(pair(page).get_by_label("What is wrong?")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    page.keyboard.type("1 dog, 2 frames?")
    page.keyboard.press("Enter")
    expect(page.locator("#pair-2 p.reported")).to_contain_text(THANKS)
    at(page, "2 of 4")
    saved(page)
    press(page, "234")
    at(page, "All answers")
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    assert reported() == [("picture", "1 dog, 2 frames?")]
    assert Report.objects.get().image == shown(Assignment.objects.get())[1].image
    assert levels_by_place(Judgment.objects.all()) == {1: 1, 2: 2, 3: 3, 4: 4}


def send_report(page: Page) -> None:
    pair(page).get_by_text(REPORT).click()
    pair(page).get_by_label("What is wrong?").select_option("picture")
    pair(page).get_by_role("button", name="Send the report").click()


def test_a_report_made_offline_is_kept_and_sent_when_the_page_opens_again(page, made):
    take(page, made)
    go_offline(page)
    press(page, "1")
    send_report(page)
    expect(page.locator("#saved")).to_have_text("offline: 1 answer, 1 report kept on this device")
    again = page.context.new_page()
    page.close()
    again.context.set_offline(False)
    again.goto(address("task", Assignment.objects.get()))
    expect(again.locator("#pair-2 .reported")).to_contain_text(THANKS)
    saved(again)
    assert reported() == [("picture", "")]


def test_a_report_that_was_not_sent_goes_with_the_answers(page, made):
    take(page, made)
    page.route("**/draft/", lambda route: route.fulfill(status=503, body="busy"))
    send_report(page)
    look_away(page)
    expect(page.locator("#saved")).to_have_text("not saved: 1 report kept on this device")
    press(page, "1234")
    submit(page)
    assert reported() == [("picture", "")]


# Keys on keyboards of other layouts, number pads and input methods, as Chromium sends them

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


# A limited round: practice, the test, the one HIT, the code


@pytest.fixture
def limited() -> Round:
    """A round with one place, one HIT a worker and a test of three pairs."""
    limited = make_round(hits=3)
    test = make_test("first", collection=limited.pool.collection, plan=QualificationPlan(2, 1, 3), actor="x")
    Admission.objects.create(round=limited, capacity=1, per_worker=1, test=test)
    limited.refresh_from_db()
    return limited


def keys_for(made: Round, *, rightly: bool = True) -> str:
    polarities = made.admission.test.items.values_list("polarity", flat=True)
    return "".join("1" if (polarity == "positive") == rightly else "4" for polarity in polarities)


def go_to_test(page: Page, made: Round) -> None:
    page.goto(f"/judge/join/{made.join_key}/")
    accessible(page)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Agree and join").click()
    page.get_by_role("link", name="Take the test").click()


def try_test(page: Page, made: Round, **how: bool) -> None:
    expect(page.locator("#place")).to_have_text("1 of 3")
    press(page, keys_for(made, **how))
    page.get_by_role("button", name="Submit 3 answers").click()


def test_a_worker_fails_passes_judges_their_one_hit_and_gets_a_code(page, limited, open_page):
    go_to_test(page, limited)
    accessible(page)
    try_test(page, limited, rightly=False)
    expect(page.get_by_text("0 of 3 were right")).to_be_visible()
    accessible(page)
    page.get_by_role("link", name="Try again").click()
    try_test(page, limited)
    accessible(page)
    page.get_by_role("button", name="Judge a HIT").click()
    page.wait_for_url(re.compile("/task/"))
    press(page, "1111")
    page.get_by_role("button", name="Submit 4 answers").click()
    code = completion_code(limited, Worker.objects.get())
    expect(page.get_by_text(code)).to_be_visible()
    accessible(page)
    page.get_by_role("link", name="All your HITs").click()
    expect(page.get_by_text(code)).to_be_visible()
    accessible(page)
    page.goto("/judge/me/forged/")
    accessible(page)
    late = open_page()
    late.goto(f"/judge/join/{limited.join_key}/")
    expect(late.get_by_role("heading", name="This round is full")).to_be_visible()


def test_practice_says_after_each_answer_whether_it_is_right_and_why(page):
    made = make_round()
    practice = make_test("easy", collection=made.pool.collection, plan=QualificationPlan(1, 1, 2), actor="x")
    Admission.objects.create(round=made, practice=practice)
    page.goto(home_of(make_worker(), made))
    page.get_by_role("link", name="Practise with 2 questions").click()
    for place, polarity in practice.items.values_list("place", "polarity"):
        expect(page.locator("#place")).to_have_text(f"{place} of 2")
        marks = ("✓", "✗") if polarity == "positive" else ("✗", "✓")
        for key, mark in zip("13", marks, strict=True):
            press(page, key)
            expect(page.locator(f"#pair-{place} .why")).to_contain_text(mark)
        expect(page.locator("#announce")).to_contain_text("Mostly NO")
        expect(page.locator("#next")).to_be_focused()
        accessible(page)
        page.keyboard.press("Enter")
    expect(page.locator("#place")).to_have_text("All answers")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1 of 2 right")).to_be_visible()
    accessible(page)


def test_on_a_phone_the_pay_of_submitted_work_is_in_sight(page, transactional_db):
    made = make_round()
    assignment = lease_seat(made, worker=make_worker())
    submit_answers(assignment, answers=right_answers(assignment), active_seconds=60)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(home_of(assignment.worker, made))
    expect(page.get_by_text("$0.65 once checked")).to_be_visible()
    assert page.locator(".scroll").evaluate("table => table.scrollWidth <= table.clientWidth")
