"""Menus, tokens, estimates, public versions and the reference of the API in a real browser."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from console.charts.plots import measure_chart
from core.progress import silent
from dataset.publications import publish
from tests.browser import barriers, barriers_in_light_and_dark, faults_of, width_on_a_phone
from tests.console.browsing import log_in
from tests.evaluation.registering import register_in_order
from tests.evaluation.worlds import SMALL, half_judged, judge, known_pool, published
from tests.hits.pools import pack

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_menu_of_a_phone_opens_below_a_bar_of_one_line_without_barriers(open_page, live_server, site):
    size = {"width": 320, "height": 800}
    page = log_in(open_page(viewport=size, has_touch=True, is_mobile=True), live_server.url)
    page.goto("/plan/")
    assert page.locator(".top").bounding_box()["height"] == 56
    expect(page.locator(".top nav").first).not_to_be_visible()
    page.get_by_role("button", name="Menu").tap()
    expect(page.locator(".top nav a[aria-current]")).to_have_text("Rounds")
    boxes = [link.bounding_box() for link in page.locator(".menu a, .menu form button").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 320 for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert barriers_in_light_and_dark(page) == []


def test_the_menu_opens_and_closes_with_the_keyboard_alone_and_without_scripts(open_page, live_server, db):
    size = {"width": 390, "height": 800}
    page = log_in(open_page(viewport=size, java_script_enabled=False), live_server.url)
    page.goto("/")
    menu = page.get_by_role("button", name="Menu")
    menu.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(".top nav a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#menu")).not_to_be_visible()
    expect(menu).to_be_focused()


def test_a_wide_window_shows_all_entries_in_one_line_without_a_menu(open_page, live_server, db):
    page = log_in(open_page(viewport={"width": 1249, "height": 800}), live_server.url)
    page.goto("/")
    expect(page.locator(".menu-button")).not_to_be_visible()
    assert page.locator(".top").bounding_box()["height"] == 56
    assert len({link.bounding_box()["y"] for link in page.locator(".sections a").all()}) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1249


# The palette


def test_the_palette_goes_to_a_thing_and_opens_an_act_with_the_keyboard_alone(page, live_server, site):
    faults = faults_of(log_in(page, live_server.url))
    page.goto("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("discard draft")
    expect(page.get_by_role("option")).to_have_text("Discard draft act")
    assert barriers_in_light_and_dark(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Discard draft?")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("done")
    expect(page.get_by_role("option", name="done round")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/rounds/done/")
    assert faults == []


# A token is made, used and revoked in a real browser


def test_a_token_is_made_used_and_revoked(page, live_server):
    faults = faults_of(log_in(page, live_server.url))
    page.goto("/")
    page.get_by_role("button", name="admin").click()
    page.get_by_role("link", name="API and webhooks").click()
    page.get_by_label("What is it for?").fill("notebook")
    page.get_by_role("group", name="Jobs").get_by_label("jobs:read").check()
    assert barriers_in_light_and_dark(page) == []
    page.get_by_role("button", name="Make the token").click()
    expect(page.get_by_role("heading", name="Token notebook")).to_be_visible()
    assert barriers(page) == []
    text = page.locator(".command code").first.inner_text()
    me = f"{live_server.url}/api/v1/me"
    assert page.request.get(me, headers={"Authorization": f"Bearer {text}"}).json()["scopes"] == ["jobs:read"]
    page.get_by_role("link", name="Back to the tokens").click()
    page.get_by_role("button", name="Revoke notebook").click()
    expect(page.get_by_role("status")).to_contain_text("is revoked")
    assert page.request.get(me, headers={"Authorization": f"Bearer {text}"}).status == 401
    assert faults == []


# The boards of estimates in a real browser


def test_boards_of_estimates_have_no_barriers_and_fit_a_phone(page, live_server, tmp_path):
    pool = known_pool(names=("clip-vit-large", "vsrn-recurrent"))
    run = register_in_order(pool.collection, tmp_path, "vsrn-finetuned-on-everything")
    half_judged(pool)
    log_in(page, live_server.url)
    page.goto(f"/runs/{run.pk}/")
    assert page.locator("table.board").count() == 2
    assert barriers_in_light_and_dark(page) == []
    assert width_on_a_phone(page) <= 390


# The charts of an open audit in a real browser


NAMES = ("clip-vit-large", "vilt", "pvse-words", "vsrn-recurrent")


def test_the_charts_of_an_open_audit_have_no_barriers_and_fit_a_phone(transactional_db, page, live_server):
    pool = known_pool(images=24, names=NAMES)
    half = published(pack("audit-of-flickr", pool, design=SMALL, judge="audit", audit_share=0.6, seed=2))
    for minutes, hit in enumerate(half.hits.order_by("number")[: 3 * half.hits.count() // 4]):
        judge(hit, minutes=minutes)
    faults = faults_of(page)
    log_in(page, live_server.url)
    for subject in ("live", "estimates"):
        measure_chart(half, subject, "", progress=silent)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(f"/rounds/{half}/results/?show={subject}")
        assert page.locator(".panel").count() == 6
        page.locator(".panel g circle").first.hover(force=True)
        expect(page.locator(".value")).to_be_visible()  # of the mark under the pointer
        assert barriers_in_light_and_dark(page) == []
        assert width_on_a_phone(page) <= 390
    assert faults == []


# The public page of a version in a real browser: accessibility, a phone, no scripts needed


@pytest.fixture
def address(transactional_db, site) -> str:
    publish(site.version, picture_terms="CC BY 4.0", by=User.objects.create_user("ada"))
    return f"/results/{site.version}/"


def test_the_page_has_no_barriers_fits_a_phone_and_keeps_to_the_content_policy(page, live_server, address):
    faults = faults_of(page)
    page.goto(address)
    assert barriers_in_light_and_dark(page) == []
    assert width_on_a_phone(page) <= 390
    assert faults == []


def test_the_page_needs_no_scripts(open_page, live_server, address):
    page = open_page(java_script_enabled=False)
    page.goto(address)
    expect(page.get_by_role("heading", name="How to cite")).to_be_visible()
    expect(page.get_by_text("pairs.csv")).to_be_visible()


# The page of all calls in a real browser


FIVE_SCREENS = 5 * 844  # pixels of a phone


def test_a_link_to_a_call_opens_it_and_nothing_keeps_anybody_out(page, live_server):
    faults = faults_of(page)
    page.goto("/api/")
    expect(page.locator("#plan_round dl").first).not_to_be_visible()
    page.goto("/api/#plan_round")
    expect(page.locator("#plan_round dl").first).to_be_visible()
    page.get_by_role("heading", name="Scopes").click()
    expect(page.get_by_role("cell", name="publish rounds, which costs money, and close them")).to_be_visible()
    assert barriers_in_light_and_dark(page) == []
    assert faults == []


def test_no_part_is_longer_than_five_screens_of_a_phone(phone, live_server):
    phone.goto("/api/")
    heights = phone.evaluate(
        """() => [...document.querySelectorAll("main > details, .call")].map((part) => {
            part.open = true;
            const subject = part.closest(".subject");
            if (subject) subject.open = true;
            const height = part.offsetHeight;
            part.open = false;
            if (subject) subject.open = false;
            return [part.id || part.lastElementChild.id, height];
        })"""
    )
    assert len(heights) > 10
    assert [part for part in heights if part[1] > FIVE_SCREENS] == []
    assert phone.evaluate("document.documentElement.scrollHeight") <= FIVE_SCREENS
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
