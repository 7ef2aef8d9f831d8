"""Money on Prolific: whole minor units on the wire, and no currency but ours."""

from decimal import Decimal

import httpx
import pytest
from django.core.management import CommandError, call_command

from counterpart_emulators.prolific.schemas import shortest_limit
from crowd.calls.funds import ask_funds
from crowd.channels.base import ChannelError
from crowd.channels.prolific.money import funds, longest_minutes, major, minor
from crowd.models import Posting
from tests.crowd.channels.prolific.replies import client_with
from tests.crowd.prolific_rehearsal import rehearsing
from tests.factories import make_round


@pytest.mark.parametrize(
    ("amount", "units"), [("1.15", 115), ("0.29", 29), ("2.00", 200), ("2", 200), ("10000.01", 1000001)]
)
def test_an_amount_is_a_whole_number_of_minor_units_and_back(amount, units):
    assert (minor(Decimal(amount)), major(units)) == (units, Decimal(amount))


def test_a_part_of_a_cent_is_refused():
    with pytest.raises(ChannelError, match="0.005"):
        minor(Decimal("0.005"))


def test_every_time_limit_that_we_ask_for_is_one_that_prolific_takes():
    assert [longest_minutes(minutes) for minutes in (1, 2, 3, 10, 14)] == [6, 9, 12, 29, 38]
    assert all(longest_minutes(minutes) == shortest_limit(minutes) for minutes in range(1, 500))


@pytest.fixture
def pounds(db, settings):
    with rehearsing(settings, currency="GBP") as there:
        yield there


def test_a_round_is_not_published_from_an_account_in_another_currency(pounds):
    made = make_round(hits=2, published=False, reward="2.00")
    with pytest.raises(CommandError, match="GBP"):
        call_command("publish", made.name, channel="prolific", environment="emulator", expected_minutes=Decimal(8))
    made.refresh_from_db()
    assert (made.state, Posting.objects.count(), pounds.studies()) == ("draft", 0, [])


def test_a_balance_in_pounds_is_unknown_in_dollars(pounds):
    known = ask_funds("prolific", "emulator")
    assert known.amount is None
    assert "pays in GBP" in known.trouble


def test_the_wallet_that_pays_is_in_dollars_as_well():
    wallet = httpx.Response(200, json={"currency_code": "GBP", "available_balance": 100})
    with pytest.raises(ChannelError, match="pays in GBP"):
        funds(client_with(wallet), "w1")
