import re

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Appeal, Assignment, Judgment, Report
from annotation.work.leases import expire_leases, lease_seat
from corpus.models import Caption
from hits.models import Round
from tests.annotation.answering import agreement, levels_by_place, shown
from tests.browser import accessible, barriers_in_light_and_dark, press, wait_for_pictures
from tests.factories import make_round, make_worker

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def asking() -> Round:
    """The same, with reasons."""
    return make_round(reasons=True)


def take(page: Page, made: Round) -> None:
    """Open a HIT of the round, as somebody who has joined it; ``join`` goes through the pages before."""
    page.clock.install()
    visitor = Client()
    home = visitor.post(f"/judge/join/{made.join_key}/", agreement()).url
    page.goto(visitor.post(f"{home}take/", {"no-script": ""}).url)
    wait_for_pictures(page)


def join(page: Page, made: Round) -> None:
    """Join the round and open a HIT."""
    page.goto(f"/judge/join/{made.join_key}/")
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Agree and start").click()
    page.get_by_role("button", name="Judge a HIT").click()
    page.wait_for_url(re.compile("/(task|take)/"))  # without scripts it stays where it was asked for
    wait_for_pictures(page)


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit 4 answers").click()
    page.wait_for_url("**/receipt/")


def stored() -> dict[int, int]:
    return levels_by_place(Judgment.objects.all())


def at(page: Page, text: str) -> None:
    expect(page.locator("#place")).to_have_text(text)


def saved(page: Page) -> None:
    """Let the time pass after which the page saves answers."""
    page.clock.fast_forward(1_000)
    expect(page.locator("#saved")).to_have_text("saved")


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element with this text or label has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.evaluate("(document.activeElement.labels?.[0] ?? document.activeElement).textContent")
        if name in focused:
            return
    raise AssertionError(f"{name} cannot be reached by Tab")


def test_a_whole_hit_can_be_done_with_the_keyboard_alone(page, full_asking):
    page.goto(f"/judge/join/{full_asking.join_key}/")
    tab_to(page, "take part")
    page.keyboard.press("Space")
    tab_to(page, "Agree and start")
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


def test_the_answer_changed_last_is_the_one_stored(page, made):
    take(page, made)
    press(page, "1" * 4)
    for key in "234":
        for pair in (2, 4):
            page.locator(".card-pair").nth(pair - 1).click()
            press(page, key)
    submit(page)
    assert stored() == dict.fromkeys(range(1, 5), 1) | {2: 4, 4: 4}


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


def test_who_lost_the_hit_to_another_worker_hears_it_at_the_next_answer_and_can_ask_for_pay(page, made):
    take(page, made)
    press(page, "11")
    saved(page)
    Assignment.objects.update(deadline=timezone.now())
    expire_leases()
    lease_seat(made, worker=make_worker())
    press(page, "1")
    expect(page.get_by_role("alert")).to_contain_text("another worker was given it")
    page.get_by_role("link", name="Go to your own page").click()
    page.get_by_label("Did you do the work?").fill("I had finished it.")
    page.get_by_role("button", name="Ask to be paid").click()
    expect(page.get_by_text("A person reads it and answers here.")).to_be_visible()
    accessible(page)
    assert Appeal.objects.get().text == "I had finished it."


def test_without_javascript_the_long_form_names_what_is_missing_and_submits(open_page, asking):
    page = open_page(java_script_enabled=False)
    join(page, asking)
    for place in range(1, 4):
        page.locator(f"[name=level-{place}]").first.check()
    page.locator("#pair-3").get_by_text("Report a problem with this pair").click()
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


def test_without_javascript_going_back_after_the_submission_takes_no_other_hit(open_page, made):
    page = open_page(java_script_enabled=False)
    join(page, made)
    for place in range(1, 5):
        page.locator(f"[name=level-{place}]").first.check()
    page.get_by_role("button", name="Submit 4 answers").click()
    expect(page.locator(".receipt-code")).to_be_visible()
    page.go_back()
    expect(page.locator(".receipt-code")).to_be_visible()
    assert Assignment.objects.count() == 1


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


def test_axe_finds_nothing_on_the_pages_around(page, made):
    page.goto(f"/judge/join/{made.join_key}/")
    accessible(page)
    join(page, made)
    press(page, "1" * 4)
    submit(page)
    accessible(page)
    page.get_by_role("link", name="All your HITs").click()
    accessible(page)
    page.goto("/judge/me/forged/")
    accessible(page)
