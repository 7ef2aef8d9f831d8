"""The layout of the staff's pages in a real browser: charts fit their cards, and nothing moves while files are late."""

from decimal import Decimal
from time import sleep

import pytest
from django.db import transaction
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from annotation.models import Assignment, Payment, Worker
from console.charts.plots import measure_chart
from core.events import record_each
from core.progress import silent
from hits.models import Item, Round, Seat
from mitl.models import Pool, Proposal
from tests.browser import barriers_in_light_and_dark
from tests.console.browsing import log_in
from tests.console.conftest import answer_rightly
from tests.factories import (
    make_annotator,
    make_assignment,
    make_collection,
    make_pool,
    make_retrieval,
    make_round,
    make_sample,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAMES = ("clip-vit-large", "vilt", "pvse-words", "pcme-long", "vsrn-recurrent")
WIDTHS = (320, 768, 1280, 1920)
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def wide(transactional_db) -> Round:
    """A round of 90 pairs, with answered HITs, and a pool of the same pairs by five annotators."""
    collection = make_collection(images=95, pictures=True)
    sample = make_sample(collection)
    retrievals = [make_retrieval(make_annotator(name), sample, depth=25, seed=len(name)) for name in NAMES]
    made = make_round(collection, hits=18, candidates=3)
    for _ in range(7):
        answer_rightly(made)
    pairs = list(Item.objects.filter(hit__round=made).values_list("image_id", "caption_id"))
    pool = make_pool(sample, retrievals)
    first = {"rank": 1, "score": 1}
    proposals = [
        Proposal(pool=pool, annotator=one.annotator, image_id=image, caption_id=caption, direction="i2t", **first)
        for step, one in enumerate(retrievals)
        for image, caption in pairs[:: step + 1]
    ]
    Proposal.objects.bulk_create(proposals)
    pool.n_proposals, pool.n_pairs = len(proposals), len(pairs)
    pool.save()
    return made


WATCH = """
window.moved = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def with_late_scripts(page: Page) -> Page:
    """Have scripts arrive after the page could be painted; add up in ``moved`` how far anything moves."""

    def late(route: Route) -> None:
        sleep(0.3)
        route.continue_()

    page.route("**/base.js", late)  # the first: the others run in their order behind it
    page.add_init_script(WATCH)
    return page


def test_nothing_moves_while_scripts_are_late(wide, open_page, live_server):
    desktop, phone = log_in(open_page(**DESKTOP), live_server.url), open_page(**PHONE)
    phone.context.add_cookies(desktop.context.cookies())
    moved = {}
    for name, page in (("desktop", with_late_scripts(desktop)), ("phone", with_late_scripts(phone))):
        for path in ("/", "/rounds/round-1/pairs/", "/workers/", "/rounds/", "/rounds/round-1/"):
            page.goto(path, wait_until="networkidle")
            moved[name, path] = page.evaluate("window.moved")
    assert max(moved.values()) < 0.05, moved


def overflowing(page: Page) -> list[str]:
    """Name the charts that are wider than their card, and the tables of figures in colours that are cut off."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".plane, .scroll:has(.heat)")]
        .filter((one) => one.scrollWidth > one.clientWidth || !one.querySelector("svg, .heat").checkVisibility())
        .map((one) => `${one.ariaLabel}: ${one.scrollWidth} in ${one.clientWidth}`)"""
    )


def test_charts_fit_their_cards_at_every_width(wide, page, live_server):
    charts = [("round", wide, "workers"), ("round", wide, "agreement")]
    charts += [("pool", Pool.objects.get(name="pool"), subject) for subject in ("diversity", "hubness")]
    for _, thing, subject in charts:
        measure_chart(thing, subject, "", progress=silent)
    log_in(page, live_server.url)
    for path in ("/pools/pool/", *(f"/charts/{kind}/{thing.name}/{subject}/" for kind, thing, subject in charts)):
        page.goto(path)
        expect(page.locator(".plane svg, .heat").first).to_be_visible()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert overflowing(page) == [], f"{path} at {width}"
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path


FIVE_SCREENS = 5 * 844  # pixels of a phone


def test_no_list_of_fifty_rows_is_longer_than_five_screens_of_a_phone(wide, phone, live_server):
    for seat in Seat.objects.filter(state="open"):
        make_assignment(seat)
    everybody = Worker.objects.bulk_create(Worker(simulated=True) for _ in range(60))
    done = Assignment.objects.filter(state="accepted").first()
    now = timezone.now()
    more = {"hit": done.hit, "state": "excluded", "deadline": now, "submitted_at": now, "active_seconds": 40}
    work = Assignment.objects.bulk_create(Assignment(worker=one, seat=done.seat, **more) for one in everybody)
    owed = {"round": wide, "kind": "reward", "amount": Decimal("0.65"), "fee": Decimal("0.13")}
    Payment.objects.bulk_create(Payment(assignment=one, **owed) for one in work)
    transaction.atomic(record_each)("submitted", work, actor="worker")
    log_in(phone, live_server.url)
    heights = {}
    item = wide.hits.first().items.first()
    queries = (f"/images/{item.image_id}/", f"/captions/{item.caption_id}/")
    pairs = ("/pools/pool/pairs/", "/rounds/round-1/pairs/")
    for path in ("/", "/rounds/round-1/", "/rounds/round-1/people/", "/rounds/round-1/money/", "/workers/",
                 "/events/", *queries, *pairs):  # fmt: skip
        answer = phone.goto(path)
        assert answer is not None, path
        assert answer.ok, path
        heights[path] = phone.evaluate("document.documentElement.scrollHeight")
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390, path
    assert {path: height for path, height in heights.items() if height > FIVE_SCREENS} == {}


def test_pages_of_many_rows_have_no_barriers(wide, page, live_server):
    log_in(page, live_server.url)
    for path in ("/rounds/round-1/pairs/", "/pools/pool/pairs/"):
        page.goto(path)
        assert barriers_in_light_and_dark(page) == [], path
        assert page.get_by_role("navigation", name="Pages").count() == 2, path
