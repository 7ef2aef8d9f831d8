from decimal import Decimal

import pytest

from annotation.money.payments import owe_bonus
from core.models import Event
from crowd.calls.funds import ask_funds, note_funds, noted_funds, shortages, still_to_fund
from crowd.channels.base import ChannelError
from crowd.models import Posting
from crowd.posting.publication import publish_round
from tests.annotation.money.moneyed import accepted, posted
from tests.factories import make_collection, make_round


def unposted(name: str = "round-1", collection=None, hits: int = 2):
    """A published round whose HITs are not on the platform yet."""
    return publish_round(
        make_round(collection, name, hits=hits, published=False), channel="mturk", environment="emulator", actor="robin"
    )


def hold(platform, monkeypatch, amount: str) -> None:
    monkeypatch.setattr(platform, "funds", lambda environment: Decimal(amount))


def test_a_platform_that_does_not_answer_is_not_taken_for_an_empty_account(platform, monkeypatch):
    def cut(environment):
        raise ChannelError("The line is cut.")

    monkeypatch.setattr(platform, "funds", cut)
    found = ask_funds("mturk", "emulator")
    assert (found.amount, found.trouble) == (None, "The line is cut.")


def test_what_the_account_holds_is_kept_where_it_changed(db, platform, monkeypatch):
    made = posted()
    assert noted_funds(made) is None
    note_funds(made), note_funds(made)
    assert Event.objects.filter(verb="account held").count() == 1
    hold(platform, monkeypatch, "9.50")
    note_funds(made)
    assert noted_funds(made) == Decimal("9.50")


def test_what_the_platform_has_set_aside_needs_no_more_funds(db, platform):
    assert still_to_fund(unposted()) == Decimal("1.56")
    assert Posting.objects.filter(state="live").count() == 0
    assert still_to_fund(posted(collection=make_collection("other", images=12, pictures=True), name="other")) == 0


def test_a_bonus_that_is_owed_is_still_to_be_paid(db, platform):
    made = posted()
    owe_bonus(accepted(made), amount=Decimal("0.50"), reason="Good notes.", actor="robin")
    assert still_to_fund(made) == Decimal("0.60")


def test_an_account_that_held_too_little_is_a_shortage(db, platform, monkeypatch):
    made = unposted()
    hold(platform, monkeypatch, "1.55")
    assert shortages() == []  # the balance is not read yet
    note_funds(made)
    (short,) = shortages()
    assert (short.channel, short.environment, short.held, short.needed) == (
        "mturk",
        "emulator",
        Decimal("1.55"),
        Decimal("1.56"),
    )
    hold(platform, monkeypatch, "1.56")
    note_funds(made)
    assert shortages() == []


def test_rounds_of_one_account_are_added_up(db, platform, monkeypatch):
    zoo = make_collection(images=30, pictures=True)
    first, second = unposted("one", zoo), unposted("two", zoo)
    hold(platform, monkeypatch, "2.00")
    note_funds(first), note_funds(second)
    (short,) = shortages()
    assert short.needed == Decimal("3.12") == sum(map(still_to_fund, (first, second)))


@pytest.mark.parametrize("hits", [1, 4])
def test_shortages_ask_no_more_for_more_rounds(db, platform, hits, django_assert_max_num_queries):
    zoo = make_collection(images=30, pictures=True)
    for number in range(hits):
        note_funds(unposted(f"round-{number}", zoo))
    with django_assert_max_num_queries(9):
        shortages()
