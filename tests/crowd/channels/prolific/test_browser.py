"""Participants in real browsers: from Prolific's address over consent and HIT back to Prolific."""

import pytest
from playwright.sync_api import expect

from annotation.models import Assignment, Judgment, Payment
from annotation.work.answers import places_of
from crowd.models import Outbox
from hits.models import Seat
from tests.annotation.answering import right_answers
from tests.browser import press
from tests.crowd.prolific_rehearsal import Rehearsal, check_books, publish, rehearsing, settle_all

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def there(settings, live_server):
    settings.SITE_URL = live_server.url
    with rehearsing(settings) as made:
        yield made


def judge(page, *, wrong: bool = False) -> None:
    """Answer all pairs of the latest HIT by keys, and send them."""
    expect(page.locator("#place")).not_to_be_empty()
    work = Assignment.objects.latest("pk")
    level_of = {answer.item_id: answer.level for answer in right_answers(work)}
    for place, item in sorted(places_of(work).items()):
        expect(page.locator(f"#pair-{place}")).to_be_visible()
        press(page, "1" if wrong else str(level_of[item]))
    page.locator("#submit-all").click()


def test_a_participant_consents_answers_and_is_back_on_prolific(there, open_page, live_server):
    publish()
    submission, person = there.reserve()
    page = browser_of(person, there, open_page)
    page.goto(live_server.url + there.start(submission, person))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Agree and start").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("4 pairs")
    assert person not in page.url
    judge(page)
    page.wait_for_url(f"{there.emulator.url}/**")
    assert there.status(submission) == "AWAITING REVIEW"
    assert Assignment.objects.get().judgments.count() == 4


def test_who_does_not_agree_gets_back_to_prolific(there, open_page, live_server):
    publish()
    submission, person = there.reserve()
    page = browser_of(person, there, open_page)
    page.goto(live_server.url + there.start(submission, person))
    page.get_by_role("button", name="I do not agree").click()
    page.get_by_role("button", name="Go back to the platform").click()
    page.wait_for_url(f"{there.emulator.url}/**")
    with there.world.looking() as state:
        assert state.submissions[submission].return_requested
    assert not Assignment.objects.exists()


KINDS_OF_PEOPLE = ["two tabs", "second device", "no code", "late", "careless", "returns", "leaves", "honest"]
HITS = 5  # answered well by one person of each kind; tests/simulation/test_prolific_show.py has more, by programs


def test_a_round_by_all_kinds_of_people_in_browsers_ends_with_balanced_books(
    there, open_page, live_server, settings, commit
):
    """The show: everybody who finished is paid once, every answer is stored once, both sides agree."""
    settings.ARRIVALS_PER_HOUR = 10_000
    made, finished = publish(hits=HITS), 0
    for turn in range(200):
        kind = KINDS_OF_PEOPLE[turn % len(KINDS_OF_PEOPLE)]
        if not Seat.objects.filter(state="open").exists() or kind == "leaves":
            settle_all(made, there, commit)
        if not Seat.objects.filter(state="open").exists():
            break
        finished += play(kind, there, open_page, live_server.url)
    for _ in range(5):
        settle_all(made, there, commit)
    counted = Assignment.objects.filter(state="accepted")
    assert counted.count() == HITS
    assert Judgment.objects.filter(assignment__in=counted).count() == HITS * 4
    paid = Payment.objects.filter(state="paid").values_list("assignment", flat=True)
    assert len(paid) == len(set(paid)) == finished
    assert not Payment.objects.filter(state="owed").exists()
    check_books(made, there)
    assert not Outbox.objects.exclude(state="done").exists()


def play(kind: str, there: Rehearsal, open_page, site: str) -> int:
    """A participant's visit, in browsers of their own; 1 if they finished their answers."""
    person = there.world.register()
    page = browser_of(person, there, open_page)
    submission = begin(page, there)
    at_prolific = f"{there.emulator.url}/submissions/{submission}/"
    if kind == "second device":
        page = browser_of(person, there, open_page)
        page.goto(site + there.start(submission, person))
    if kind == "returns":
        page.goto(at_prolific)
        page.get_by_role("button", name="Return the study").click()
    elif kind in ("late", "no code"):
        finish_without_code(page, there, at_prolific, late=kind == "late")
    elif kind != "leaves":
        finish(page, at_prolific, wrong=kind == "careless", in_two_tabs=kind == "two tabs")
    page.context.close()
    return int(kind not in ("leaves", "returns"))


def begin(page, there: Rehearsal) -> str:
    """Take a place and open its HIT; the submission."""
    page.goto(f"{there.emulator.url}/studies/")
    page.get_by_role("button", name="Reserve my place").click()
    page.get_by_role("button", name="Open study").click()
    page.get_by_role("button", name="Agree and start").click()
    expect(page.locator("#place")).not_to_be_empty()
    return Assignment.objects.latest("pk").outside_key


def finish(page, at_prolific: str, *, wrong: bool, in_two_tabs: bool) -> None:
    """Answer and come back to Prolific with the code; the other tab then leads there too."""
    other = page.context.new_page()
    if in_two_tabs:
        other.goto(page.url)
    judge(page, wrong=wrong)
    page.wait_for_url(f"{at_prolific}**")
    if in_two_tabs:
        other.reload()
        expect(other.get_by_role("heading", level=1)).to_contain_text("Your answers are saved")


def finish_without_code(page, there: Rehearsal, at_prolific: str, *, late: bool) -> None:
    """Answer, never follow the way back, and say so at Prolific, or let the time run out."""
    page.route("**/submissions/complete?**", lambda route: route.abort())
    # Other requests fail earlier: the page drops a draft that is under way before it sends the answers.
    with page.expect_event("requestfailed", lambda request: "/submissions/complete?" in request.url):
        judge(page)
    if late:
        there.later(hours=2)
        return
    other = page.context.new_page()
    other.goto(at_prolific)
    other.get_by_role("button", name="I have no code").click()


def browser_of(person: str, there: Rehearsal, open_page):
    """A browser in which the participant is signed in to Prolific."""
    page = open_page(viewport={"width": 360, "height": 800})
    page.context.request.post(f"{there.emulator.url}/sign-in", form={"participant_id": person})
    return page
