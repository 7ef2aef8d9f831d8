from datetime import UTC, datetime

from django.template import Context, Template
from ninja import Schema


class Part(Schema):
    size: int


class ThingAnswer(Schema):
    name: str = "x"
    url: str = "/api/v1/x"
    collection: str = "zoo"
    remark: str = "<b> see https://example.org/a_b"
    is_open: bool = False
    images: int = 2_902
    made_at: datetime = datetime(2020, 11, 3, 14, 5, tzinfo=UTC)
    licence: str = ""
    closed_at: datetime | None = None
    part: Part = Part(size=3)
    rounds: list[str] = ["a"]  # noqa: RUF012


def rows(without: str = "") -> str:
    page = Template("{% load console %}{% facts answer without=without %}")
    return page.render(Context({"answer": ThingAnswer(), "without": without}))


def test_a_page_shows_each_plain_field_of_an_answer():
    shown = rows()
    assert '"/collections/zoo/">zoo</a>' in shown
    assert "<dt>Is open</dt><dd>no</dd>" in shown
    assert "<dt>Images</dt><dd>2,902</dd>" in shown
    assert "3 Nov 2020, 14:05" in shown
    assert shown.count("<dt>") == 5


def test_text_is_escaped_and_its_addresses_are_links():
    assert "&lt;b&gt; see <a href=" in rows()
    assert "https://example.org/a_b</a>" in rows()


def test_what_the_page_shows_elsewhere_is_left_out():
    assert rows("images remark collection made_at") == "<dt>Is open</dt><dd>no</dd>\n"
