import pytest

from core.errors import CounterpartError
from crowd import channels
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


def test_an_environment_without_its_keys_is_no_usable_market(monkeypatch):
    monkeypatch.setenv("MTURK_ENVIRONMENTS", "emulator,production")
    assert "mturk:production" not in [market.key for market in usable_markets()]


@pytest.mark.parametrize("name", channels.CHANNELS)
def test_every_channel_says_in_words_what_each_of_its_environments_means(name):
    for environment in channels.get(name).environments or ("",):
        market = market_of(name, environment)
        assert market.note.endswith(".")
        assert str(market).endswith(environment)


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
    with pytest.raises(CounterpartError, match="'mturk:production' is not possible here: choose one of browser"):
        find_market("mturk:production")


def test_a_site_that_others_reach_has_no_emulator_unless_asked(settings, monkeypatch):
    settings.SITE_URL = "https://judge.example"
    assert [market.key for market in usable_markets()] == PUBLIC, ADD
    monkeypatch.setenv("MTURK_ENVIRONMENTS", "emulator")
    assert [market.key for market in usable_markets()] == ["browser", "mturk:emulator"]
