"""A page that is magnified: a window of 320 × 256 is one of 1280 × 1024 at 400%."""

import pytest

from tests.annotation.judging.browsing import take
from tests.annotation.task_types.rounds import open_round

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The part of each element that is in the window and under nothing else.
SEEN = """(selectors) => selectors.map((selector) => {
  const element = document.querySelector(`.pair:not([hidden]) ${selector}`);
  const box = element.getBoundingClientRect();
  const points = [0.1, 0.3, 0.5, 0.7, 0.9].map((share) => [box.x + box.width * 0.1, box.y + box.height * share]);
  return points.filter(([x, y]) => element.contains(document.elementFromPoint(x, y))).length / points.length;
})"""

WORDS = {"checkbox": ".level [dir=auto]", "caption": "textarea"}


@pytest.mark.parametrize("size", [(320, 256), (640, 512)])
@pytest.mark.parametrize("task", ["levels", "expert", "checkbox", "caption", "preference"])
def test_picture_and_sentence_are_seen_together_and_nothing_scrolls_sideways(open_page, db, task, size):
    page = open_page(viewport=dict(zip(("width", "height"), size, strict=True)))
    take(page, open_round(task))
    picture, words = page.evaluate(SEEN, [".picture-link", WORDS.get(task, ".sentence")])
    assert (picture, words) == (1, 1)
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_a_picture_stays_in_a_short_window_while_its_sentences_are_ticked(open_page, db):
    page = open_page(viewport={"width": 320, "height": 256})
    take(page, open_round("checkbox"))
    page.locator(".pair:not([hidden]) .level [dir=auto]").last.scroll_into_view_if_needed()
    assert page.evaluate(SEEN, [".picture-link"]) == [1]
