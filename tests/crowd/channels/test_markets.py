import pytest

from core.errors import CounterpartError
from crowd import channels
from crowd.channels.markets import find_market, market_of, usable_markets


def test_only_what_the_settings_allow_is_a_usable_market(settings):
    assert [market.key for market in usable_markets()] == ["browser", "mturk:emulator"]
    settings.MTURK_ENVIRONMENTS = ["emulator", "sandbox"]
    settings.MTURK = settings.MTURK | {"sandbox": settings.MTURK["sandbox"] | {"access_key": "k", "secret_key": "s"}}
    assert [market.key for market in usable_markets()] == ["browser", "mturk:emulator", "mturk:sandbox"]


def test_an_environment_without_its_keys_is_no_usable_market(settings):
    settings.MTURK_ENVIRONMENTS = ["emulator", "production"]
    assert "mturk:production" not in [market.key for market in usable_markets()]


@pytest.mark.parametrize("name", channels.CHANNELS)
def test_every_channel_says_in_words_what_each_of_its_worlds_means(name):
    for environment in channels.get(name).environments or ("",):
        market = market_of(name, environment)
        assert market.note.endswith(".")
        assert str(market).endswith(environment)


@pytest.mark.parametrize(
    ("place", "spends"),
    [(("browser", ""), False), (("mturk", "emulator"), False), (("mturk", "production"), True)],
)
def test_a_market_says_whether_it_takes_real_money(place, spends):
    assert market_of(*place).spends is spends


def test_a_market_that_may_not_be_used_is_refused_with_those_that_may():
    with pytest.raises(CounterpartError, match="Nothing can be published on 'mturk:production' here; choose one of: b"):
        find_market("mturk:production")
