"""Which environment may be used, and what it may cost: no setting leads to real money by itself."""

from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from crowd.channels.base import ChannelError
from crowd.channels.prolific.client import Client, client_for, environment_of
from crowd.models import Posting
from tests.factories import make_round

LIVE = {"PROLIFIC_ENVIRONMENTS": "emulator,live", "PROLIFIC_TOKEN": "the-token", "PROLIFIC_WORKSPACE": "w1"}


@pytest.fixture
def live(monkeypatch):
    for name, value in LIVE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def no_call(monkeypatch):
    def called(*args, **options):
        raise AssertionError("Prolific was called.")

    monkeypatch.setattr(Client, "_send", called)


def test_live_is_disabled_until_it_is_named(monkeypatch):
    monkeypatch.setenv("PROLIFIC_TOKEN", "the-token")
    monkeypatch.setenv("PROLIFIC_WORKSPACE", "w1")
    with pytest.raises(ChannelError, match="live is disabled"):
        environment_of("live")


@pytest.mark.parametrize("missing", ["PROLIFIC_TOKEN", "PROLIFIC_WORKSPACE"])
def test_live_needs_a_token_and_the_workspace_that_pays(live, monkeypatch, missing):
    monkeypatch.delenv(missing)
    with pytest.raises(ChannelError, match=missing):
        environment_of("live")


def test_no_setting_moves_the_live_api(live, monkeypatch):
    monkeypatch.setenv("PROLIFIC_EMULATOR_URL", "http://127.0.0.1:1")
    assert environment_of("live").api == "https://api.prolific.com"


@pytest.mark.parametrize("url", ["https://api.prolific.com", "http://10.0.0.7:8950", "http://[2001:db8::1]:8950"])
def test_the_emulator_is_on_this_machine(monkeypatch, url):
    monkeypatch.setenv("PROLIFIC_EMULATOR_URL", url)
    with pytest.raises(ChannelError, match="not on this machine"):
        environment_of("emulator")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8950", "http://localhost:8950/", "http://[::1]:8950", "http://prolific:8950"]
)
def test_the_emulator_may_be_a_neighbour_in_a_private_network(monkeypatch, url):
    monkeypatch.setenv("PROLIFIC_EMULATOR_URL", url)
    assert environment_of("emulator").api == url.rstrip("/")


def test_the_live_token_is_not_sent_to_the_emulator_and_is_not_printed(live):
    assert environment_of("emulator").token != "the-token"
    assert client_for("live")._http.headers["Authorization"] == "Token the-token"
    assert "the-token" not in repr(environment_of("live"))


def test_live_publishing_needs_a_second_word(db, live, no_call):
    made = make_round(hits=2, published=False, reward="2.00")
    with pytest.raises(CommandError, match="--yes-spend-money"):
        call_command("publish", made.name, channel="prolific", environment="live", expected_minutes=Decimal(8))
    made.refresh_from_db()
    assert (made.state, Posting.objects.count()) == ("draft", 0)
