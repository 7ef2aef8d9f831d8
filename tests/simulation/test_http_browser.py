import pytest

from core.errors import CounterpartError
from simulation.http_browser import Browser, Page, filled_in

PAGE = """
<h1>Judge <b>two</b>
 pairs</h1>
<input name="outside" value="x">
<form method="post" action="/task/7/">
  <input type="hidden" name="seconds" value="5"><input name="note" value="">
  <input type="radio" name="level-1" value="1"><input type="radio" name="level-1" value="2" checked>
  <input type="checkbox" name="agree" value="yes">
</form>
<form action="?again"></form>
"""


@pytest.fixture
def page():
    return Page("http://site/judge/", PAGE)


def test_forms_and_frames_are_read_with_their_addresses(page):
    form = page.form_to("/task/7/")
    assert form.action == "http://site/task/7/"
    assert set(form.fields) == {"seconds", "note", "level-1", "agree"}
    assert page.forms[1].action == "http://site/judge/?again"
    framed = Page("http://site/work/", '<iframe src="/judge/?a=1&amp;b=2"></iframe>')
    assert framed.frames == ["http://site/judge/?a=1&b=2"]


def test_a_missing_form_is_named(page):
    with pytest.raises(CounterpartError, match=r"\(Judge two pairs\) .*/take/"):
        page.form_to("/take/")


@pytest.mark.parametrize("filled", [{"level-1": "3"}, {"level-2": "1"}])
def test_what_a_form_does_not_offer_is_never_sent(page, filled):
    with pytest.raises(CounterpartError, match="/task/7/ has no level-"):
        Browser().send(page.form_to("/task/7/"), filled)


def test_filling_a_form_in_leaves_it_as_it_was(page):
    form = page.form_to("/task/7/")
    untouched = {"seconds": "5", "note": "", "level-1": "2"}
    assert filled_in(form, {"level-1": "1", "agree": "yes"}) == untouched | {"level-1": "1", "agree": "yes"}
    assert filled_in(form, {}) == untouched
