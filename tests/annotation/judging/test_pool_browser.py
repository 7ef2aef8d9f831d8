"""A limited round of the browser pool in a real browser: practice, the test, the one HIT, the code."""

import re

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Admission, Worker
from annotation.people.qualification_tests import QualificationPlan, make_test
from annotation.people.receipts import completion_code
from annotation.work.leases import lease_seat
from annotation.work.submissions import submit_answers
from hits.models import Round
from tests.annotation.answering import home_of, right_answers
from tests.browser import accessible, press
from tests.factories import make_round, make_worker

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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


def join(page: Page, made: Round) -> None:
    page.goto(f"/judge/join/{made.join_key}/")
    accessible(page)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Agree and start").click()
    page.get_by_role("link", name="Take the test").click()


def try_test(page: Page, made: Round, **how: bool) -> None:
    expect(page.locator("#place")).to_have_text("1 of 3")
    press(page, keys_for(made, **how))
    page.get_by_role("button", name="Submit 3 answers").click()


def test_a_worker_fails_passes_judges_their_one_hit_and_gets_a_code(page, limited, open_page):
    join(page, limited)
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
