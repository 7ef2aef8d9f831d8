from decimal import Decimal

from crowd.offers import Offer
from crowd.publication import quote
from tests.factories import make_round


def test_a_quote_names_rewards_and_fees_to_the_cent(db):
    made = make_round(hits=3, replication=2, published=False)
    found = quote(made, "mturk")
    assert (found.seats, found.reward, found.fee) == (6, Decimal("0.65"), Decimal("0.13"))
    assert (found.rewards, found.fees, found.total) == (Decimal("3.90"), Decimal("0.78"), Decimal("4.68"))


def test_a_quote_has_the_fee_of_what_the_round_demands(db):
    made = make_round(hits=3, published=False)
    made.offer = Offer(top_workers=True).as_json()
    assert (quote(made, "mturk").fee, quote(made, "browser").fee) == (Decimal("0.16"), 0)
