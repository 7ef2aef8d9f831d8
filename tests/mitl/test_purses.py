import sqlite3
from contextlib import closing
from decimal import Decimal
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from core.errors import CounterpartError
from counterpart_annotators.kinds.vlm.questions import JudgeAnswer
from counterpart_annotators.kinds.vlm.spending import Ceiling, Experience
from mitl.hosting import purses
from mitl.models import ChatRequest
from tests.at_once import at_once

FREE = Ceiling(1000, None)
YES = JudgeAnswer((1.0, 0.0, 0.0, 0.0))


def paid(question="q", cost="0.01", answer=YES, seconds=1.0):
    request = purses.reserve(question, "purse", Decimal(cost), FREE)
    purses.settle(request, answer, (10, 1), Decimal(cost), seconds)


def test_an_answer_is_there_for_whoever_asks_next(db):
    paid()
    assert purses.answers_to(["q", "other"]) == {"q": YES}


def test_a_request_that_was_never_settled_has_no_answer_but_counts(db):
    purses.reserve("q", "purse", Decimal("0.5"), FREE)
    assert purses.answers_to(["q"]) == {}
    assert purses.spent("purse") == (1, Decimal("0.5"))


def test_settling_puts_the_price_in_place_of_the_most(db):
    request = purses.reserve("q", "purse", Decimal(1), FREE)
    purses.settle(request, YES, (10, 1), Decimal("0.000000150001"), 1.0)
    assert purses.spent("purse") == (1, Decimal("0.000000150001"))


def test_experience_is_the_mean_of_what_was_answered(db):
    paid("q", "0.1", seconds=1.0)
    paid("r", "0.3", seconds=3.0)
    paid("s", "9", answer=None, seconds=60.0)
    assert purses.experience("purse") == Experience(2, 2.0, Decimal("0.2"))
    assert purses.experience("another") is None


def test_the_ceiling_of_requests_stops_the_next_one(db):
    paid()
    with pytest.raises(CounterpartError, match="ceiling of 1 request"):
        purses.reserve("r", "purse", Decimal(0), Ceiling(1, None))


def test_the_ceiling_of_money_stops_what_could_pass_it(db):
    paid(cost="0.9")
    purses.reserve("r", "purse", Decimal("0.1"), Ceiling(10, Decimal(1)))
    with pytest.raises(CounterpartError, match="^1 of 1 .* 0.1, "):
        purses.reserve("s", "purse", Decimal("0.1"), Ceiling(10, Decimal(1)))
    assert purses.spent("purse")[0] == 2


@pytest.mark.parametrize("ceiling", [Ceiling(100, Decimal(1)), Ceiling(10, None)])
def test_many_at_once_never_pass_a_ceiling(transactional_db, ceiling):
    def one_more():
        try:
            purses.reserve("q", "purse", Decimal("0.1"), ceiling)
        except CounterpartError:
            return 0
        return 1

    assert sum(at_once(*[one_more] * 16)) == 10
    assert purses.spent("purse") == (10, 1)


def test_more_questions_than_one_query_takes_are_answered(db):
    paid("1200")
    assert list(purses.answers_to([str(number) for number in range(1300)])) == ["1200"]


def test_the_sums_of_a_purse_are_exactly_those_of_its_requests_without_released_ones(db):
    paid("q", "0.1")
    purses.reserve("r", "purse", Decimal("0.2"), FREE)
    purses.release(purses.reserve("s", "purse", Decimal("0.4"), FREE))
    costs = ChatRequest.objects.values_list("cost", flat=True)
    assert purses.spent("purse") == (len(costs), sum(costs) * purses.UNIT) == (2, Decimal("0.3"))
    assert purses.spent("another") == (0, 0)


@pytest.mark.parametrize("money", ["0", "1e9", "1e40"])
def test_a_ceiling_of_money_may_be_as_low_or_high_as_one_likes(db, money):
    purses.reserve("q", "purse", Decimal(0), Ceiling(10**30, Decimal(money)))
    assert purses.spent("purse") == (1, 0)


OLD = """
    CREATE TABLE request (
        id INTEGER PRIMARY KEY, asked_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, question TEXT NOT NULL,
        purse TEXT NOT NULL, chances TEXT, input_tokens INTEGER, output_tokens INTEGER, seconds REAL,
        cost INTEGER NOT NULL
    );
    INSERT INTO request (question, purse, chances, input_tokens, output_tokens, seconds, cost)
    VALUES ('q', 'purse', '[1.0, 0.0, 0.0, 0.0]', 100, 1, 0.5, 250000000000);
    INSERT INTO request (question, purse, cost) VALUES ('r', 'purse', 500000000000);
"""


@pytest.mark.parametrize(("names", "times"), [(["chat.sqlite3"], 1), (["chat.sqlite3", "chat-2.sqlite3"], 2)])
def test_the_files_that_were_the_ledger_before_are_taken_over_whole(db, tmp_path, names, times):
    for name in names:
        with closing(sqlite3.connect(tmp_path / name)) as file:
            file.executescript(OLD)
    import_module("mitl.migrations.0003_take_over_chat_ledger").take_over(apps, connection.schema_editor())
    assert purses.answers_to(["q", "r"]) == {"q": YES}
    assert purses.spent("purse") == (2 * times, Decimal("0.75") * times)
    assert purses.experience("purse") == Experience(times, 0.5, Decimal("0.25"))
