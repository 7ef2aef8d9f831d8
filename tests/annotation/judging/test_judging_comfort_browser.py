"""The judging page in a browser: few keys, undo, lens, fingers, overview, pictures that are retried, more time."""

import re
from datetime import timedelta
from io import BytesIO

import numpy as np
import pytest
from django.utils import timezone
from PIL import Image as Pillow
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Draft, Judgment, Report
from corpus.models import Image
from hits.models import Round
from tests.annotation.answering import levels_by_place
from tests.annotation.judging.browsing import at, look_away, saved, show, stored, take
from tests.annotation.task_types.rounds import open_round
from tests.browser import accessible, press
from tests.factories import picture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def enlarged(page: Page, percent: int) -> None:
    """Wait until the large view shows its picture at this share of the size that fits."""
    expect(page.locator(".zoom-view img")).not_to_have_js_property("naturalWidth", 0)
    expect(page.locator("output")).to_have_text(f"{percent}%")


def left(page: Page) -> float:
    return page.locator(".zoom-view img").bounding_box()["x"]


def pinch(page: Page, *, at: tuple[int, int], apart: tuple[int, ...]) -> None:
    """Put two fingers on the screen at these distances from a point, one after the other."""
    touch, (x, y) = page.context.new_cdp_session(page), at
    for number, distance in enumerate(apart):
        points = [{"x": x + sign * distance, "y": y, "id": 1 + (sign > 0)} for sign in (-1, 1)]
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove" if number else "touchStart", "touchPoints": points})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def swipe(page: Page, *path: tuple[int, int]) -> None:
    """Move one finger along a path."""
    touch = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(path):
        kind = "touchMove" if number else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.fixture
def usual(made):
    """The HIT of 4 pairs with pictures of 480 x 360 pixels."""
    for image in Image.objects.all():
        show(picture(size=(480, 360)), image)
    return made


def test_a_key_held_down_after_the_last_answer_submits_nothing(page, made):
    take(page, made)
    press(page, "1" * 4)
    held = "new KeyboardEvent('keydown', {key: 'Enter', repeat: true, bubbles: true, cancelable: true})"
    assert page.locator("#submit-all").evaluate(f"button => button.dispatchEvent({held})") is False


def test_an_answer_can_be_undone_by_its_button_after_a_reload(page, made):
    take(page, made)
    expect(page.get_by_role("button", name="Undo")).to_be_hidden()
    press(page, "12")
    saved(page)
    page.reload()
    page.get_by_role("button", name="Undo").click()
    at(page, "2 of 4")
    saved(page)
    assert levels_by_place(Draft.objects.all()) == {1: 1}


def test_the_large_view_shows_the_sentence_and_a_picture_that_is_enlarged_moved_and_answered(page, made):
    take(page, made)
    page.keyboard.press("z")
    enlarged(page, 100)
    expect(page.locator(".zoom-words .sentence")).to_have_text(page.locator("#pair-1 .sentence").text_content())
    expect(page.get_by_role("button", name="Larger")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("+")
    enlarged(page, 225)
    before = left(page)
    page.mouse.move(600, 300)
    page.mouse.down()
    page.mouse.move(500, 300, steps=4)
    page.mouse.up()
    assert left(page) == pytest.approx(before - 100, abs=2)
    page.keyboard.press("ArrowRight")
    assert left(page) == pytest.approx(before - 180, abs=2)
    enlarged(page, 225)
    page.mouse.click(600, 300)
    enlarged(page, 100)
    accessible(page)
    page.keyboard.press("1")
    at(page, "2 of 4")
    expect(page.locator("#zoom")).to_be_hidden()


def test_the_answers_stay_in_their_place_on_a_phone_whatever_the_picture_and_the_sentence(phone, made):
    for size, image in zip([(900, 300), (300, 900), (480, 360)], Image.objects.all(), strict=False):
        show(picture(size=size), image)
    take(phone, made)
    places = set()
    for pair in phone.locator(".pair").all():
        places.add(pair.locator(".level").first.bounding_box()["y"])
        phone.locator("#next").tap()
    assert len(places) == 1


def test_a_lens_follows_the_mouse_until_escape(page, made):
    take(page, made)
    lens = page.locator("#pair-1 .lens")
    page.mouse.move(300, 300)
    page.mouse.move(384, 360)
    expect(lens).to_be_visible()
    box, spot = lens.bounding_box(), page.locator("#pair-1 .lens img").bounding_box()
    picture = page.locator("#pair-1 .picture-link > img").bounding_box()
    assert (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) == pytest.approx((384, 360), abs=1)
    # What is under the mouse is in the middle of the lens, two and a half times as large.
    assert spot["width"] == pytest.approx(2.5 * picture["width"])
    assert 384 - spot["x"] == pytest.approx(2.5 * (384 - picture["x"]), abs=3)
    page.keyboard.press("Escape")
    page.mouse.move(390, 360)
    expect(lens).to_be_hidden()
    press(page, "1")
    at(page, "2 of 4")


def test_two_fingers_enlarge_the_picture_in_its_place_and_a_tap_puts_it_back(phone, made):
    take(phone, made)
    picture = phone.locator("#pair-1 .picture-link > img")
    fitting = picture.bounding_box()["width"]
    pinch(phone, at=(195, 200), apart=(30, 50, 90))
    assert picture.bounding_box()["width"] == pytest.approx(3 * fitting, rel=0.01)
    swipe(phone, (250, 200), (150, 200), (50, 200))
    at(phone, "1 of 4")
    expect(phone.locator("#pair-1 .sentence")).to_be_in_viewport()
    phone.locator("#pair-1 .picture-link").tap()
    width = "fitting => Math.abs(document.querySelector('#pair-1 .picture-link > img').clientWidth - fitting) < 1"
    phone.wait_for_function(width, arg=fitting)
    expect(phone.locator("#zoom")).to_be_hidden()


def test_a_picture_is_not_stretched_in_the_page_but_in_the_large_view(page, usual):
    take(page, usual)
    shown = page.locator("#pair-1 .picture-link > img")
    expect(shown).to_have_js_property("naturalWidth", 480)
    assert page.evaluate("getComputedStyle(document.querySelector('#pair-1 img')).objectFit") == "scale-down"
    page.keyboard.press("z")
    enlarged(page, 100)
    assert page.locator(".zoom-view img").bounding_box()["width"] == pytest.approx(896, abs=2)
    page.keyboard.press("z")
    page.set_viewport_size({"width": 390, "height": 844})
    page.keyboard.press("z")
    enlarged(page, 184)  # twice 358 of 390 pixels


def test_a_swipe_turns_the_pairs_and_never_answers(phone, full):
    take(phone, full)
    level = phone.locator("#pair-1 .level").nth(1).bounding_box()
    middle = int(level["y"] + level["height"] / 2)
    swipe(phone, (300, middle), (200, middle), (100, middle))
    at(phone, "2 of 18")
    swipe(phone, (100, 200), (200, 205), (300, 210))
    at(phone, "1 of 18")
    for path in (((100, 200), (200, 200)), ((300, 200), (270, 200)), ((300, 500), (230, 380), (160, 250))):
        swipe(phone, *path)  # before the first pair, too short, too steep
    at(phone, "1 of 18")
    expect(phone.locator(".levels input:checked")).to_have_count(0)
    phone.locator("#dots li").last.click()
    swipe(phone, (300, 200), (200, 200), (100, 200))
    at(phone, "All answers")
    assert not Draft.objects.exists()


def test_an_answer_is_changed_in_the_overview_which_shows_pictures_and_sentences(page, asking):
    take(page, asking)
    press(page, "1" * 3)
    page.get_by_role("button", name="All answers").click()
    third, last = (page.locator("#strip li").nth(number) for number in (2, 3))
    expect(third).to_contain_text(page.locator("#pair-3 .sentence").text_content())
    third.get_by_role("button", name="100% NO").click()
    expect(third.locator(".card-said")).to_have_text("100% NO")
    expect(third.get_by_role("button", name="100% NO")).to_have_attribute("aria-pressed", "true")
    at(page, "All answers")
    expect(last.get_by_role("button", name="100% NO")).to_be_hidden()  # it was not looked at yet
    accessible(page)
    saved(page)
    assert levels_by_place(Draft.objects.all()) == {1: 1, 2: 1, 3: 4}
    third.get_by_role("button", name="Mostly NO").click()
    at(page, "3 of 4")
    press(page, "a1")
    at(page, "All answers")


def test_a_failed_picture_comes_back_by_itself(page, made):
    page.route("**/picture/*/1/*", lambda route: route.abort())
    take(page, made)
    expect(page.locator("#pair-1 .picture-missing")).to_be_visible()
    page.unroute("**/picture/*/1/*")
    page.clock.fast_forward(4_000)  # a second try after two, a third after four more
    expect(page.locator("#pair-1 .picture-missing")).to_be_hidden()


def test_single_keys_can_be_switched_off_and_stay_off(page, made):
    take(page, made)
    page.keyboard.press("?")
    page.keyboard.press("3")
    page.get_by_label("Use single keys").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.reload()
    press(page, "1")
    page.keyboard.press("ArrowRight")
    at(page, "2 of 4")
    expect(page.locator("#dots .answered")).to_have_count(0)


def test_more_time_is_offered_near_the_end_once(page, made, settings):
    settings.LEASE_MINUTES = 4
    take(page, made)
    press(page, "1")
    saved(page)
    banner = page.get_by_role("region", name="Time left")
    expect(banner).to_contain_text("4 minutes")
    accessible(page)
    page.get_by_role("button", name="Take 4 more minutes").click()
    expect(page.locator("#time")).to_have_text("8 min left")
    expect(page.locator("#dots .answered")).to_have_count(1)
    expect(page.get_by_role("button", name="Take 4 more minutes")).to_have_count(0)
    held = Assignment.objects.get()
    assert (held.deadline - held.leased_at).total_seconds() == pytest.approx(480, abs=1)


def test_the_first_page_is_small_and_takes_few_requests(page, full_asking):
    sent = []
    page.on("response", lambda response: sent.append(response))
    take(page, full_asking)
    sent.clear()
    page.context.clear_cookies()
    page.reload()
    page.wait_for_load_state("networkidle")
    without_pictures = [response for response in sent if "/picture/" not in response.url]
    assert len(without_pictures) <= 14
    sizes = [response.request.sizes() for response in without_pictures]
    assert sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes) < 150_000


def seconds_on_pairs(page: Page) -> list[int]:
    return [int(field.input_value() or 0) for field in page.locator('[name^="seconds-"]').all()]


def test_seconds_are_counted_on_the_pair_that_is_shown_and_outlive_the_page(page, made):
    take(page, made)
    Assignment.objects.update(leased_at=timezone.now() - timedelta(minutes=5))  # The page's clock runs ahead.
    page.clock.run_for(4_000)
    press(page, "1")
    at(page, "2 of 4")
    saved(page)
    page.clock.run_for(2_000)
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
    before = seconds_on_pairs(page)
    page.clock.run_for(30_000)
    assert seconds_on_pairs(page) == before
    assert before[0] >= 4
    assert before[1] >= 2
    assert before[2:] == [0, 0]
    assert int(page.locator("[name=active_seconds]").input_value()) == sum(before)
    assert Draft.objects.get().seconds >= 4
    page.reload()
    at(page, "2 of 4")
    after = seconds_on_pairs(page)
    assert [after[0], after[1] >= before[1]] == [before[0], True]


# Budgets of the page: bytes of photographs, layout shift, touches; and answers in two tabs

SHIFTS = """
window.moved = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.moved += one.hadRecentInput ? 0 : one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture
def photographed(full) -> Round:
    """The same with pictures of COCO's mean size, 640 x 480 pixels and 160 kB, that shrink as photographs do."""
    rng = np.random.default_rng(0)
    for image in Image.objects.all():
        coarse = Pillow.fromarray(rng.integers(0, 256, (84, 112, 3), dtype=np.uint8))
        content = BytesIO()
        coarse.resize((640, 480), Pillow.Resampling.BICUBIC).save(content, "JPEG", quality=95)
        show(content.getvalue(), image)
        assert 150_000 < len(content.getvalue()) < 165_000
    return full


def test_a_hit_of_photographs_takes_less_than_one_and_a_half_megabytes_and_nothing_moves(page: Page, photographed):
    page.add_init_script(SHIFTS)
    loaded: dict[str, int] = {}
    page.on("response", lambda answer: loaded.update({answer.url: int(answer.headers.get("content-length", 0))}))
    take(page, photographed)
    for place in range(1, 19):
        expect(page.locator(f"#pair-{place} img")).not_to_have_js_property("naturalWidth", 0)
        press(page, "1")
    at(page, "All answers")
    for image in page.locator("#strip img").all():
        expect(image).not_to_have_js_property("naturalWidth", 0)
    assert page.evaluate("window.moved") < 0.01
    pictures = [size for url, size in loaded.items() if "/picture/" in url]
    assert len(pictures) == 18
    assert sum(pictures) < 1_500_000


@pytest.fixture
def tall(full) -> Round:
    """The same with pictures that are taller than wide."""
    for image in Image.objects.all():
        show(picture(size=(480, 640)), image)
    return full


def test_the_whole_of_a_tall_picture_is_shown(open_page, tall):
    page = open_page(viewport={"width": 360, "height": 740})
    take(page, tall)
    shown, around = page.locator("#pair-1 img"), page.locator("#pair-1 .picture-link")
    expect(shown).not_to_have_js_property("naturalWidth", 0)
    inner, outer = shown.bounding_box(), around.bounding_box()
    assert inner["height"] <= outer["height"]
    assert inner["width"] <= outer["width"]
    assert outer["height"] > 200
    assert page.evaluate("getComputedStyle(document.querySelector('#pair-1 img')).objectFit") == "scale-down"


def test_a_whole_hit_is_judged_and_submitted_with_a_touch_a_pair_and_one_more(phone: Page, made):
    take(phone, made)
    for place in range(1, 5):
        at(phone, f"{place} of 4")
        phone.locator(f"#pair-{place}").get_by_text("100% NO").tap()
    at(phone, "All answers")
    phone.get_by_role("button", name="Submit 4 answers").tap()
    phone.wait_for_url("**/receipt/")
    assert stored() == dict.fromkeys(range(1, 5), 4)


def test_of_two_tabs_one_submits_and_the_other_says_so_at_its_next_save(page: Page, made):
    take(page, made)
    other = page.context.new_page()
    other.goto(page.url)
    press(page, "1" * 4)
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    press(other, "2")
    look_away(other)
    expect(other.get_by_role("heading", name="no longer saved")).to_be_visible()
    assert set(Judgment.objects.values_list("level", flat=True)) == {1}


# No pair is judged blind: pictures are loaded when the HIT opens, and no level is taken while one is missing

NOT_YET = "The picture has not loaded yet"
SEEN = ["checkbox", "expert", "caption", "preference"]


def block(page: Page, place: int) -> str:
    """Let the picture at this place fail; return the pattern of its address."""
    pattern = f"**/picture/*/{place}/*"
    page.route(pattern, lambda route: route.abort())
    return pattern


def test_pictures_are_asked_for_in_the_order_of_the_hit_after_the_first_one_on_the_screen(page, made):
    take(page, made)
    press(page, "11")
    saved(page)
    expect(page.locator(".picture.missing")).to_have_count(0)
    asked = []
    page.on("request", lambda request: asked.extend(re.findall(r"/picture/[^/]+/(\d+)/", request.url)))
    page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.reload()
    expect(page.locator(".picture.missing")).to_have_count(0)
    assert asked == [str(place) for place in (3, 4, 1, 2)]


def test_no_level_is_taken_while_the_picture_is_missing_but_that_it_does_not_load_is(page, made):
    block(page, 3)
    take(page, made)
    press(page, "11")
    at(page, "3 of 4")
    expect(page.locator("#pair-3").get_by_text(NOT_YET)).to_be_visible()
    expect(page.locator("#pair-3").get_by_text(re.compile("does not load"))).to_have_count(1)
    accessible(page)
    press(page, "1234")
    expect(page.locator("#pair-3 .picture-missing")).to_have_css("animation-name", "none")  # at once, and marked
    accessible(page)
    page.locator("#pair-3").get_by_text("Mostly NO, because").click()
    page.locator("#pair-3 input").first.focus()
    press(page, ["Space", "ArrowDown"])
    at(page, "3 of 4")
    expect(page.locator("#announce")).to_contain_text(NOT_YET)
    saved(page)
    assert levels_by_place(Draft.objects.all()) == {1: 1, 2: 1}
    press(page, "01")
    at(page, "All answers")
    expect(page.locator("#strip li").nth(2)).to_contain_text("The picture does not load")
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    assert set(stored()) == {1, 2, 4}
    assert Report.objects.get().problem == "picture"


@pytest.mark.parametrize("task", SEEN)
def test_no_sheet_takes_an_answer_without_its_picture(page, task):
    made = open_round(task)
    block(page, 1)
    take(page, made)
    screen = page.locator(".pair:visible")
    expect(screen.get_by_text(re.compile("ot loaded yet")).first).to_be_visible()
    expect(screen.get_by_text(re.compile("does not load"))).to_have_count(1)
    place = page.locator("#place").text_content()
    for answer in screen.locator(".level:not(.no-picture)").all():
        answer.click()
    page.keyboard.type("1 2 A dog runs on grass.")
    at(page, place)
    expect(screen.locator("input:checked")).to_have_count(0)
    for field in screen.locator("textarea").all():
        expect(field).to_have_value("")
    screen.locator(".no-picture").click()
    expect(page.locator("#dots .answered")).to_have_count(1)
