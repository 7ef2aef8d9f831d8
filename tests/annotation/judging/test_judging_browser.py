import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotation.models import Appeal, Assignment, Judgment, Report
from annotation.work.leases import expire_leases, lease_seat
from corpus.models import Caption
from hits.models import Round
from tests.annotation.answering import shown
from tests.annotation.judging.browsing import at, join, saved, stored, submit, tab_to, take
from tests.browser import accessible, barriers_in_light_and_dark, press
from tests.factories import make_round, make_worker

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def asking() -> Round:
    """The same, with reasons."""
    return make_round(reasons=True)


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
    expect(page.get_by_role("alert")).to_contain_text("another worker took")
    page.get_by_role("link", name="Go to your own page").click()
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
