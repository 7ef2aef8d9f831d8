import pytest

from core.errors import CounterpartError
from crowd.channels import find_market, market_of, usable_markets

HERE = ["browser", "mturk:emulator", "prolific:emulator"]  # with the settings of the tests
PUBLIC = ["browser"]
ADD = f"add the new channel to HERE and, if a public site has it without a setting, to PUBLIC in {__file__}"


def test_only_what_the_settings_allow_is_a_usable_market(monkeypatch):
    assert [market.key for market in usable_markets()] == HERE, ADD
    variables = {"ENVIRONMENTS": "emulator,sandbox", "ACCESS_KEY_ID": "k", "SECRET_ACCESS_KEY": "s"}
    for name, value in variables.items():
        monkeypatch.setenv(f"MTURK_{name}", value)
    assert [market.key for market in usable_markets()] == [
        "browser",
        "mturk:emulator",
        "mturk:sandbox",
        "prolific:emulator",
    ]


@pytest.mark.parametrize(
    ("place", "spends"),
    [
        (("browser", ""), False),
        (("mturk", "emulator"), False),
        (("mturk", "production"), True),
        (("prolific", "emulator"), False),
        (("prolific", "live"), True),
    ],
)
def test_a_market_says_whether_it_takes_real_money(place, spends):
    assert market_of(*place).spends is spends


def test_a_market_that_may_not_be_used_is_refused_with_those_that_may():
    with pytest.raises(CounterpartError, match="mturk:production"):
        find_market("mturk:production")


def test_a_site_that_others_reach_has_no_emulator_unless_asked(settings, monkeypatch):
    settings.SITE_URL = "https://judge.example"
    assert [market.key for market in usable_markets()] == PUBLIC, ADD
    monkeypatch.setenv("MTURK_ENVIRONMENTS", "emulator")
    assert [market.key for market in usable_markets()] == ["browser", "mturk:emulator"]
