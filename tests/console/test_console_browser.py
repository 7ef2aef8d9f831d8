"""The staff's pages in a real browser: accessibility, keys, live progress, no sideways scroll on a phone."""

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Payment, Worker, WorkerIdentity
from annotation.people.qualification_tests import QualificationPlan, make_test
from console.charts.plots import measure_chart
from core.progress import silent
from crowd.models import Audit, Message, Outbox
from evaluation.models import Run
from evaluation.scores.scoring import evaluate_version
from hits.models import Round
from integrations.notifications import TYPES, notify
from integrations.webhooks import add_webhook
from simulation.simulated_rounds import simulate_round
from tests.annotation.money.moneyed import flagged, posted
from tests.browser import barriers, barriers_in_light_and_dark, faults_of, width_on_a_phone
from tests.conftest import client_of
from tests.console.browsing import log_in
from tests.console.conftest import Site
from tests.factories import make_collection, make_round, put_on_platform

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


PAGES = [
    "/",
    "/collections/",
    "/collections/zoo/",
    "/annotators/overlap/",
    "/pools/pool/",
    "/rounds/",
    "/rounds/open/",
    "/rounds/draft/",
    "/rounds/open/people/",
    "/rounds/open/hits/",
    "/rounds/open/hits/1/",
    "/rounds/draft/rehearse/",
    "/rounds/draft/rehearsals/",
    "/rounds/draft/consent/",
    "/doctor/",
    "/plan/",
    "/import/",
    "/collections/zoo/samples/",
    "/tests/first/",
    "/add-annotator/?kind=pvse",
    "/staff/",
    "/tokens/?of=everybody",
    "/webhooks/add/",
    "/go/?q=o",
    "/webhooks/{webhook}/",
    "/inbox/",
    "/review/{flagged}/",
    "/versions/v1/",
    "/versions/v1/trust/",
    "/versions/v1/changes/",
    "/versions/v1/files/",
    "/release/",
    "/release/?version=v2&queries=queries&rounds=done&merge=original&positive_levels=1&positive_levels=2"
    "&method=majority&ties=median&precedence=union&partial=on&step=count",
    "/collections/zoo/leaderboard/?version=v1&metric=R@1",
    "/runs/{run}/",
    "/activity/",
    "/rounds/done/results/?show=workers",
    "/rounds/draft/publish/?on=mturk:emulator",
    "/rounds/there/",
    "/rounds/draft/judgments/",
    "/pools/pool/pack/",
    "/benchmarks/",
    "/results/",
    "/rounds/there/money/",
    "/workers/",
    "/workers/{worker}/",
    "/workers/{worker}/forget/",
]
DIFFERENCES = [
    {"difference": "other status", "of": "pay for assignment 3" + "X" * 29, "here": "owed", "there": "paid"}
    | {"remedy": "record the payment", "repairable": True},
    {"difference": "only there", "of": "bonus for assignment 3" + "Y" * 29, "here": "-", "there": "$0.50"}
    | {"remedy": "check it: paid money cannot be taken back", "repairable": False},
]


@pytest.fixture
def staged(site, platform) -> Site:
    """The site, and a round on a platform: work, a call that failed, and an audit that found something."""
    made = posted(collection=site.collection, name="there", hits=2)
    worker = flagged(made).worker
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id="A1")
    Message.objects.create(worker=worker, subject="Thank you", text="Your notes helped.", by="robin")
    Outbox.objects.filter(pk=Outbox.objects.last().pk).update(state="failed", error="Refused for a long reason. " * 5)
    Audit.objects.create(round=made, by="robin", differences=DIFFERENCES)
    site.round.pool.retrievals.add(site.retrieval)
    site.version.rounds.add(site.round)
    evaluate_version(site.version)
    Run.objects.update(marks={"by_id": ""})
    make_test("first", collection=make_collection("tested", pictures=True), plan=QualificationPlan(1, 1, 2), actor="x")
    measure_chart(Round.objects.get(name="done"), "workers", "", progress=silent)
    return site


def paths(staged: Site) -> list[str]:
    worker = WorkerIdentity.objects.get(external_id="A1").worker.pseudonym
    webhook = add_webhook(User.objects.get(username="admin"), url=f"https://example.org/{'x' * 90}", types=[*TYPES])
    transaction.atomic(notify)("round.closed", "/rounds/open", id="open")
    webhook.deliveries.update(state="failed", attempts=8, due_at=None, error="It cannot be reached: " + "x" * 90)
    keys = {"flagged": staged.flagged.pk, "worker": worker, "run": Run.objects.first().pk, "webhook": webhook.pk}
    return [path.format(**keys) for path in PAGES]


@pytest.fixture
def staff(page, live_server) -> Page:
    return log_in(page, live_server.url)


def test_every_page_has_no_barriers_fits_a_phone_and_keeps_to_the_content_policy(staff, staged):
    faults = faults_of(staff)
    barred, wide = {}, {}
    for path in paths(staged):
        staff.set_viewport_size({"width": 1280, "height": 900})
        staff.goto(path)
        barred[path] = barriers_in_light_and_dark(staff)
        wide[path] = width_on_a_phone(staff)
    assert {path: found for path, found in barred.items() if found} == {}
    assert {path: width for path, width in wide.items() if width > 390} == {}
    assert faults == []


def test_the_login_has_no_barriers(page, db, settings):
    settings.EMAIL_HOST = "mail.example.org"
    for path in ("/login/", "/password/forgotten/"):
        page.goto(path)
        assert barriers(page) == [], path


def test_a_person_can_log_in_and_out(page, db):
    client_of("researcher")
    page.goto("/rounds/")
    page.get_by_label("Username").fill("researcher")
    page.get_by_label("Password").fill("a long passphrase")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Rounds")).to_be_visible()
    page.get_by_role("button", name="researcher").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_flagged_work_is_decided_with_the_keyboard_alone(staff, site):
    staff.goto(f"/review/{site.flagged.pk}/")
    staff.keyboard.press("r")
    staff.keyboard.type("except for the control, pure noise")
    staff.keyboard.press("Escape")
    staff.evaluate("document.activeElement.blur()")
    staff.keyboard.press("x")
    expect(staff.get_by_role("status")).to_contain_text("votes excluded, paid")
    assert Assignment.objects.get(pk=site.flagged.pk).state == "excluded"
    staff.goto(f"/review/{site.flagged.pk}/")
    staff.keyboard.press("u")
    expect(staff.get_by_role("status")).to_contain_text("1 HIT waits again")


NEXT_LOOK = 5_000  # milliseconds; the page looks every five seconds


def test_a_rounds_page_follows_a_simulated_crowd_and_keeps_the_focus(staff, db):
    made = make_round(hits=3)
    staff.clock.install()
    staff.goto("/rounds/round-1/")
    expect(staff.get_by_text("0 of 3")).to_be_visible()
    expect(staff.get_by_text("checked every 5 seconds")).to_be_visible()
    simulate_round(made, workers=4, seed=1)
    staff.clock.fast_forward(NEXT_LOOK)
    expect(staff.get_by_text("3 of 3")).to_be_visible()
    workers = Worker.objects.filter(assignments__judgments__isnull=False).distinct().count()
    expect(staff.get_by_role("link", name=f"All {workers} workers")).to_be_visible()
    close = staff.get_by_role("link", name="Close it")
    close.focus()
    answer = close.evaluate_handle("link => link")
    Payment.objects.update(state="paid")
    staff.clock.fast_forward(NEXT_LOOK)
    expect(staff.locator(".figures.card").get_by_text("$0.00")).to_be_visible()  # nothing owed
    assert staff.evaluate("old => !old.isConnected && document.activeElement.textContent === 'Close it'", answer)


def test_the_join_link_is_copied(open_page, live_server, site):
    page = log_in(open_page(permissions=["clipboard-read", "clipboard-write"]), live_server.url)
    page.goto("/rounds/open/")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").endswith("/judge/join/join-open/")


def test_a_round_is_published_on_a_platform_without_scripts_and_with_the_keyboard_alone(
    open_page, live_server, site, platform
):
    page = log_in(open_page(java_script_enabled=False), live_server.url)
    page.goto("/rounds/draft/publish/")
    page.get_by_role("link", name="Fake, emulator").press("Enter")
    page.get_by_label("Expected minutes").fill("2")
    page.get_by_label("Expected minutes").press("Enter")
    page.get_by_role("button", name="Publish 1 HIT for $0.78").press("Enter")
    expect(page.get_by_text("1 of 1 HITs are posted on Fake, emulator.")).to_be_visible()
    assert Round.objects.get(name="draft").state == "open"


def test_tables_are_cards_on_a_phone_and_stay_tables_for_screen_readers(phone, live_server, site):
    log_in(phone, live_server.url)
    phone.goto("/rounds/open/people/")
    controls = phone.locator("[data-label='Controls right']").first
    controls.scroll_into_view_if_needed()
    assert controls.bounding_box()["x"] + controls.bounding_box()["width"] <= 390
    expect(phone.get_by_role("cell", name="1 of 2").first).to_be_visible()
    assert barriers(phone) == []


def test_the_leaderboard_of_a_model_with_a_long_name_fits_a_laptop(staff, staged):
    Run.objects.update(model="vsrn-finetuned-on-everything")
    staff.goto("/collections/zoo/leaderboard/")
    board = staff.get_by_role("region", name="Table of scores on v1")
    assert board.locator("td").count() >= 15
    assert board.evaluate("region => region.scrollWidth <= region.clientWidth")


# What staff typed into a form survives the end of their session


WORDS = "Thank you for judging <b>birds</b>."
PASSWORD = "a long passphrase"


@pytest.fixture
def form(page: Page, live_server, site) -> Page:
    """A page with a form in which something was typed."""
    put_on_platform(make_round(site.collection, "there"))
    log_in(page, live_server.url).goto(f"{live_server.url}/rounds/draft/consent/")
    page.locator("textarea").first.fill(WORDS)
    return page


def send(page: Page) -> None:
    page.locator("main form button:not([name])").first.click()


def enter(page: Page, name: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def test_a_form_is_filled_in_again_after_the_login_and_not_sent(form):
    Session.objects.all().delete()
    send(form)
    expect(form.get_by_role("heading", name="Log in")).to_be_visible()
    assert WORDS not in form.content()
    enter(form, "admin")
    expect(form.locator("textarea").first).to_have_value(WORDS)
    expect(form.get_by_text("Your session had ended, and nothing was saved")).to_be_visible()
    form.reload()
    expect(form.locator("textarea").first).not_to_have_value(WORDS)


def test_another_person_sees_nothing_of_it(form):
    other = User.objects.create_user("robin", password=PASSWORD)
    other.groups.add(Group.objects.get(name="admin"))
    Session.objects.all().delete()
    send(form)
    enter(form, "robin")
    expect(form.locator("textarea").first).not_to_have_value(WORDS)
    assert form.evaluate("sessionStorage.length") == 0


def test_a_form_that_was_open_while_its_owner_logged_in_again_is_not_lost(form, live_server):
    session = Client()
    session.force_login(User.objects.get(username="admin"))
    cookies = {settings.SESSION_COOKIE_NAME: session.session.session_key, settings.CSRF_COOKIE_NAME: "x" * 32}
    form.context.add_cookies([{"name": name, "value": text, "url": live_server.url} for name, text in cookies.items()])
    send(form)
    expect(form.get_by_role("heading", name="This form has expired")).to_be_visible()
    form.get_by_role("link", name="Back to the form, with what you typed").click()
    expect(form.locator("textarea").first).to_have_value(WORDS)


def test_a_form_that_was_sent_is_not_filled_in_again(form, live_server):
    send(form)
    form.goto(f"{live_server.url}/")
    assert form.evaluate("sessionStorage.length") == 0
    assert Round.objects.filter(name="draft").exists()
