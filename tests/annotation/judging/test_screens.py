"""The screens of a HIT, which are rendered once and hold the texts of each page."""

from dataclasses import replace

from django.utils import translation

from annotation.judging import screens
from annotation.judging.screens import Screen, ShownPair, drawn
from hits.task_types.levels import LEVELS

PAIR = ShownPair(1, "A <b>dog</b>", "en", 640, None, picture="/p/1/?seal=a&")


def draw(pair: ShownPair, **changes) -> str:
    fields = {"wording": LEVELS.latest_wording, "reasons": True, "can_skip": True} | changes
    return drawn([Screen(1, "Pair 1", [pair], is_finished=False)], LEVELS, **fields)


def test_each_page_has_its_own_texts_escaped():
    draw(PAIR)
    page = draw(replace(PAIR, sentence='"Cats" & <i>', height=480, picture="/p/9/?seal=b&"))
    assert "&quot;Cats&quot; &amp; &lt;i&gt;</blockquote>" in page
    assert 'src="/p/9/?seal=b&amp;size=800"' in page
    assert 'width="640" height="480"' in page
    assert "dog" not in page
    assert "height" not in draw(PAIR)


def test_a_screen_with_other_texts_is_not_rendered_again(monkeypatch):
    first = draw(PAIR)
    monkeypatch.setattr(screens, "render_to_string", None)
    assert draw(replace(PAIR, sentence="A cat")) == first.replace("A &lt;b&gt;dog&lt;/b&gt;", "A cat")


def test_a_screen_shows_the_answer_so_far_the_reasons_that_are_asked_and_the_language():
    assert 'value="2" data-asks checked' in draw(replace(PAIR, level=2))
    assert ("shortcoming-1" in draw(PAIR), "shortcoming-1" in draw(PAIR, reasons=False)) == (True, False)
    assert ("problem-1" in draw(PAIR), "problem-1" in draw(PAIR, can_skip=False)) == (True, False)
    with translation.override("de"):
        assert "Problem melden" in draw(PAIR)
