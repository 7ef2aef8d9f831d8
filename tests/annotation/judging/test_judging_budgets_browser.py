"""Budgets of the judging page: bytes of photographs, layout shift, touches; and answers in two tabs."""

import re
from io import BytesIO

import numpy as np
import pytest
from PIL import Image as Pillow
from playwright.sync_api import Page, Route, expect

from annotation.models import Judgment
from corpus.models import Image
from hits.models import Round
from tests.annotation.judging.browsing import at, saved, show, stored, take
from tests.browser import press
from tests.factories import picture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

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


def test_a_whole_hit_is_judged_and_submitted_with_19_touches(phone: Page, full):
    take(phone, full)
    for place in range(1, 19):
        at(phone, f"{place} of 18")
        phone.locator(f"#pair-{place}").get_by_text("100% NO").tap()
    at(phone, "All answers")
    phone.get_by_role("button", name="Submit 18 answers").tap()
    phone.wait_for_url("**/receipt/")
    assert stored() == dict.fromkeys(range(1, 19), 4)


def test_of_two_tabs_one_submits_and_the_other_says_so_at_its_next_answer(page: Page, full):
    take(page, full)
    other = page.context.new_page()
    other.goto(page.url)
    press(page, "1" * 18)
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipt/")
    press(other, "2")
    expect(other.get_by_role("heading", name="no longer saved")).to_be_visible()
    assert set(Judgment.objects.values_list("level", flat=True)) == {1}


def slow_to_start(route: Route) -> None:
    """Hand out a page as if its script had started 5 seconds after the server wrote it."""
    page = route.fetch()
    late = re.sub(r'data-now="(\d+)"', lambda now: f'data-now="{int(now[1]) - 5_000}"', page.text())
    assert late != page.text()
    route.fulfill(response=page, body=late)


def test_a_second_tab_whose_clock_is_late_shows_what_is_answered_in_the_first(page: Page, full):
    take(page, full)
    other = page.context.new_page()
    other.route("**/judge/task/*/", slow_to_start)
    other.goto(page.url)
    at(other, "1 of 18")
    press(page, "13")
    saved(page)
    expect(other.locator("#pair-2 .level input[value='3']")).to_be_checked()
    press(other, "2")  # still at the first pair: the newest answer holds, in both
    expect(page.locator("#pair-1 .level input[value='2']")).to_be_checked()
    saved(other)
    page.reload()
    expect(page.locator("#pair-1 .level input[value='2']")).to_be_checked()
