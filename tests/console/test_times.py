"""Times on pages: short, with their zone and seconds behind them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from console.templatetags.console import ago_element, moment


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
