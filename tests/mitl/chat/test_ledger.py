from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from core.errors import CounterpartError
from mitl.chat.questions import Answer, Ceiling, Experience, Ledger

FREE = Ceiling(1000, None)
YES = Answer((1.0, 0.0, 0.0, 0.0))


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "deep" / "chat.sqlite3")


def paid(ledger, question="q", cost="0.01", answer=YES, seconds=1.0):
    request = ledger.reserve(question, "purse", Decimal(cost), FREE)
    ledger.settle(request, answer, (10, 1), Decimal(cost), seconds)


def test_an_answer_is_there_for_whoever_opens_the_file_next(ledger, tmp_path):
    paid(ledger)
    assert Ledger(tmp_path / "deep" / "chat.sqlite3").answers_to(["q", "other"]) == {"q": YES}


def test_a_request_that_was_never_settled_has_no_answer_but_counts(ledger):
    ledger.reserve("q", "purse", Decimal("0.5"), FREE)
    assert ledger.answers_to(["q"]) == {}
    assert ledger.spent("purse") == (1, Decimal("0.5"))


def test_a_request_that_was_released_never_was(ledger):
    ledger.release(ledger.reserve("q", "purse", Decimal("0.5"), FREE))
    assert ledger.spent("purse") == (0, 0)


def test_settling_puts_the_price_in_place_of_the_most(ledger):
    request = ledger.reserve("q", "purse", Decimal(1), FREE)
    ledger.settle(request, YES, (10, 1), Decimal("0.000000150001"), 1.0)
    assert ledger.spent("purse") == (1, Decimal("0.000000150001"))


def test_sums_of_money_are_exact(ledger):
    for number in range(3):
        paid(ledger, str(number), "0.1")
    assert ledger.spent("purse")[1] == Decimal("0.3")


def test_experience_is_the_mean_of_what_was_answered(ledger):
    paid(ledger, "q", "0.1", seconds=1.0)
    paid(ledger, "r", "0.3", seconds=3.0)
    paid(ledger, "s", "9", answer=None, seconds=60.0)
    assert ledger.experience("purse") == Experience(2, 2.0, Decimal("0.2"))
    assert ledger.experience("another") is None


def test_purses_are_apart(ledger):
    paid(ledger)
    assert ledger.spent("another") == (0, 0)


def test_the_ceiling_of_requests_stops_the_next_one(ledger):
    paid(ledger)
    with pytest.raises(CounterpartError, match="Its ceiling of 1 request is reached; answers are kept"):
        ledger.reserve("r", "purse", Decimal(0), Ceiling(1, None))


def test_the_ceiling_of_money_stops_what_could_pass_it(ledger):
    paid(ledger, cost="0.9")
    ledger.reserve("r", "purse", Decimal("0.1"), Ceiling(10, Decimal(1)))
    with pytest.raises(CounterpartError, match=r"^1 of 1 are spent, and one more request, of up to 0.1, could exceed"):
        ledger.reserve("s", "purse", Decimal("0.1"), Ceiling(10, Decimal(1)))
    assert ledger.spent("purse")[0] == 2


def test_many_at_once_never_pass_a_ceiling(ledger):
    def one_more(number):
        try:
            ledger.reserve(str(number), "purse", Decimal("0.1"), Ceiling(100, Decimal(1)))
        except CounterpartError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one_more, range(30))) == 10


def test_more_questions_than_one_query_takes_are_answered(ledger):
    paid(ledger, "1200")
    assert list(ledger.answers_to([str(number) for number in range(1300)])) == ["1200"]
