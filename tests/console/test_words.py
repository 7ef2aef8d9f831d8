"""Stored values, times and the facts of an answer in the words of pages."""

from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template
from django.utils import timezone
from ninja import Schema

from console.templatetags.console import ago_element, code, moment, words


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ("positive_levels", "positive levels"),
        ("i2t", "image → captions"),
        ({"t2i": 7}, "caption → images 7"),
        ("9f" * 32, "9f9f9f9f9f9f…"),
        ("demo-V2", "demo-V2"),
        ([], "–"),
        (False, "no"),
    ],
)
def test_a_stored_value_is_shown_in_words(stored, message):
    assert words(stored) == message


def test_text_between_backticks_is_code_and_all_is_escaped():
    assert code("a <b> of ``x`` and `<y>`") == "a &lt;b&gt; of <code>x</code> and <code>&lt;y&gt;</code>"


# Times on pages: short, with their zone and seconds behind them


@pytest.mark.parametrize(
    ("at", "text"),
    [(datetime(2026, 11, 3, 14, 5, 7, tzinfo=UTC), "3 Nov"), (datetime(2025, 1, 2, 3, 4, tzinfo=UTC), "2 Jan 2025")],
)
def test_a_time_has_its_year_unless_it_is_this_one(monkeypatch, at, text):
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 23, tzinfo=UTC))
    assert f">{text}, {at:%H:%M}</time>" in moment(at)


def test_a_time_has_its_zone_and_its_seconds_behind_it(settings):
    at = datetime(2025, 11, 3, 14, 5, 7, tzinfo=UTC)
    assert moment(at) == (
        '<time datetime="2025-11-03T14:05:07+00:00" title="3 Nov 2025, 14:05:07 UTC">3 Nov 2025, 14:05</time>'
    )
    settings.TIME_ZONE = "Asia/Seoul"
    assert '"3 Nov 2025, 23:05:07 KST"' in moment(at)


def test_no_time_is_a_dash_and_a_distance_has_its_time_behind_it():
    assert moment(None) == "–"
    assert ago_element(timezone.now() - timedelta(hours=3)).endswith(' UTC">3\xa0hours ago</time>')


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
