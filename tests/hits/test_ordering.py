"""The JSON form of an order, checked at the door."""

import json
from decimal import Decimal

import pytest

from core.errors import CounterpartError
from hits.ordering import parse_order

LEAST = {"round": "r", "collection": "zoo", "annotators": ["one"], "images": 5}


def test_an_order_needs_a_name_a_collection_machines_and_queries():
    order = parse_order(LEAST)
    assert (order.sample_name, order.pool_name, order.design.name) == ("r-queries", "r-pool", "eccv-18")
    assert (order.terms.reward, order.terms.ceiling, order.terms.replication) == (Decimal("0.65"), Decimal("500"), 1)


def test_an_order_survives_json():
    design = {"name": "small", "candidates": 4, "positives": 1, "negatives": 1}
    order = parse_order({**LEAST, "design": design, "reward": "1.40", "reasons": True, "sharing": "allow", "seed": 9})
    assert parse_order(json.loads(json.dumps(order.as_json()))) == order


def test_a_sample_that_is_named_is_the_one_asked():
    assert parse_order({**LEAST, "sample": "mine"}).sample_name == "mine"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"colour": "red"}, "wrong: colour"),
        ({"images": "many"}, "1 entries of the order have the wrong type: images"),
        ({"seed": True, "round": 3}, "2 entries of the order have the wrong type: round, seed"),
        ({"annotators": "one,two"}, "wrong type: annotators"),
        ({"reasons": "yes"}, "wrong type: reasons"),
        ({"reward": "a lot"}, "The reward 'a lot' is no amount of US dollars"),
        ({"reward": "-1"}, "The reward -1 will not do"),
        ({"design": "/etc/passwd"}, "no design '/etc/passwd': name eccv-18 or eccv-20"),
        ({"design": {"name": "x"}}, "The design ordered must be a JSON object of exactly"),
        ({"round": "two words"}, "Invalid name 'two words'"),
        ({"round": "r" * 73}, "choose at most 72 characters"),
        ({"images": 0}, "asks nothing: name a sample, or say how many"),
        ({"sharing": "never"}, "Unknown sharing policy 'never'"),
        ({"seed": -1}, "The seed -1 will not do"),
    ],
)
def test_an_impossible_order_is_refused(wrong, message):
    with pytest.raises(CounterpartError, match=message):
        parse_order({**LEAST, **wrong})


@pytest.mark.parametrize("name", ["round", "collection", "annotators"])
def test_an_order_that_lacks_a_part_names_it(name):
    with pytest.raises(CounterpartError, match=f"needs annotators, collection, round; wrong: {name}"):
        parse_order({key: value for key, value in LEAST.items() if key != name})
