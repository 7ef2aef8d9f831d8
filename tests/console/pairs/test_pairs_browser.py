"""The page of a pair and the queue in a real browser: keys, accessibility, no scripts needed."""

import pytest
from playwright.sync_api import expect

from dataset.models import Case, Review
from dataset.reviews.cases import refresh_queue
from tests.annotation.cast import answer, associate, candidates
from tests.browser import barriers_in_light_and_dark
from tests.console.browsing import log_in
from tests.factories import make_collection, make_round

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def pairs(transactional_db) -> list[tuple[int, int]]:
    """Two pairs that wait for a review, the first one with everything that its page can show."""
    made = make_round(make_collection(images=6, pictures=True), candidates=2, replication=2, reasons=True)
    answer(made.hits.get(), 1, 1)
    answer(made.hits.get(), 4, 4, seat=2)
    first, second = candidates(made.hits.get())
    collection = made.pool.collection
    associate(collection, "cxc", [first, (second[0], first[1]), (first[0], second[1])], score=3.4)
    collection.captions.filter(pk__in=[first[1], second[1]]).update(text="A dog on the beach.")
    collection.images.filter(pk__in=[first[0], second[0]]).update(look="00ff00ff00ff00ff")
    refresh_queue(collection)
    return [first, second]


def path_of(pair) -> str:
    return f"/pairs/{pair[0]}/{pair[1]}/"


def test_the_queue_is_worked_through_with_the_keyboard_alone(page, live_server, pairs):
    log_in(page, live_server.url)
    page.goto(path_of(pairs[0]))
    page.keyboard.press("4")
    page.wait_for_url(f"**{path_of(pairs[1])}")
    page.keyboard.press("u")
    page.wait_for_url(f"**{path_of(pairs[0])}")
    page.keyboard.press("n")
    page.wait_for_url(f"**{path_of(pairs[1])}")
    page.keyboard.press("p")
    page.wait_for_url(f"**{path_of(pairs[0])}")
    page.keyboard.press("g")
    page.keyboard.press("k")
    expect(page.get_by_role("status")).to_contain_text("kept as it is for 2 pairs")
    assert not Case.objects.waiting().exists()


def test_all_pairs_of_a_page_are_selected_and_reviewed_at_once(page, live_server, pairs):
    log_in(page, live_server.url)
    page.goto("/rounds/round-1/pairs/?level=4")
    page.get_by_label("Select all pairs of this page").check()
    expect(page.get_by_text("Review the selected pairs: 2")).to_be_in_viewport()
    page.get_by_role("button", name="100% NO").click()
    expect(page.get_by_role("status")).to_contain_text("2 pairs reviewed")
    page.wait_for_url("**/rounds/round-1/pairs/?level=4")
    assert Review.objects.filter(level=4).count() == 2


def test_pairs_are_reviewed_in_place_with_the_keyboard_and_undone(page, live_server, pairs):
    log_in(page, live_server.url)
    page.goto("/rounds/round-1/pairs/")
    cards = page.locator("[data-pair]")
    page.keyboard.press("j")
    expect(cards.nth(0).locator("a.pair")).to_be_focused()
    page.keyboard.press("3")
    expect(cards.nth(1).locator("a.pair")).to_be_focused()
    page.keyboard.press("2")
    expect(cards.nth(1)).to_contain_text("Partially YES")
    expect(cards.nth(0)).to_contain_text("Mostly NO")
    expect(page.locator("[data-sent]")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.get_by_role("status")).to_contain_text("Undone.")
    expect(cards.nth(1).locator("a.pair")).to_be_focused()
    assert list(Review.objects.order_by("pk").values_list("level", "conclusion")) == [
        *((3, "level"), (2, "level"), (None, "kept"))
    ]


def test_a_review_that_cannot_be_saved_says_so(page, live_server, pairs):
    log_in(page, live_server.url)
    page.goto("/rounds/round-1/pairs/")
    page.route("**/review/*", lambda route: route.abort())
    page.keyboard.press("j")
    page.keyboard.press("1")
    expect(page.get_by_role("alert")).to_contain_text("Not saved")
    assert not Review.objects.exists()


def test_the_trail_of_a_pair_opens_next_to_the_pairs_and_follows_the_keys(page, live_server, pairs):
    log_in(page, live_server.url)
    page.goto("/rounds/round-1/pairs/")
    page.locator("[data-pair] a.pair").first.click()
    trail = page.get_by_label("Trail of the pair")
    expect(trail).to_contain_text("cxc score 3.4")
    assert barriers_in_light_and_dark(page) == []
    page.keyboard.press("j")
    expect(trail.get_by_role("link", name="Open the page of the pair")).to_have_attribute("href", path_of(pairs[1]))
    trail.get_by_role("button", name="Mostly NO").click()
    expect(page.locator("[data-pair]").nth(1)).to_contain_text("Mostly NO")
    page.keyboard.press("Escape")
    expect(trail).to_be_hidden()
    assert Review.objects.get().subject == pairs[1]


def test_a_caption_is_excluded_with_the_keyboard_alone(page, live_server, pairs):
    log_in(page, live_server.url)
    page.goto(path_of(pairs[0]))
    page.keyboard.press("e")
    page.keyboard.type("the caption describes another")
    page.keyboard.press("Tab")
    page.keyboard.type("4 dogs, not 1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("caption excluded")
    review = Review.objects.get()
    assert (review.subject, review.grounds, review.reason) == ((None, pairs[0][1]), "wrong", "4 dogs, not 1")


def test_a_pair_is_reviewed_without_scripts(open_page, live_server, pairs):
    page = log_in(open_page(java_script_enabled=False), live_server.url)
    page.goto(path_of(pairs[0]))
    page.get_by_role("button", name="Mostly NO").click()
    expect(page.get_by_role("status")).to_contain_text("level 3, Mostly NO")
    page.get_by_role("button", name="Undo my last review").click()
    expect(page.get_by_role("status")).to_contain_text("Undone.")
