import doctest
from importlib import import_module
from math import isnan
from pkgutil import iter_modules

import pytest

import counterpart_metrics
from counterpart_metrics import (
    METRICS,
    Found,
    Qrels,
    Rankings,
    find,
    map_at_r,
    mean_over_queries,
    r_precision,
    recall_at_k,
)

ONE_QUERY = [recall_at_k, r_precision, map_at_r]
MODULES = ["", *(f".{module.name}" for module in iter_modules(counterpart_metrics.__path__))]


def ranking_of(right: str) -> list[int]:
    """``"01…"``: which ranks are right, of eight positives 0-7."""
    good, bad = iter(range(8)), iter(range(100, 200))
    return [next(good) if mark == "1" else next(bad) for mark in right]


def found(rankings: dict, positives: dict) -> Found:
    return find(Rankings.of(rankings), Qrels.of(positives))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name):
    assert doctest.testmod(import_module(f"counterpart_metrics{name}")).failed == 0


@pytest.mark.parametrize(
    ("right", "percent"),
    [("01111111", 66.0), ("10000000", 12.5), ("00000111", 10.3), ("00001000", 2.5), ("11111111", 100)],
)
def test_map_at_r_has_the_papers_worked_values(right, percent):
    assert round(100 * map_at_r(ranking_of(right), set(range(8))), 1) == percent


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (4, 0.0), (5, 1.0), (99, 1.0)])
def test_recall_at_k_asks_for_any_positive_among_the_first(k, value):
    assert recall_at_k(ranking_of("00001000"), set(range(8)), k) == value


def test_r_precision_looks_at_as_many_places_as_there_are_positives():
    assert r_precision([1, 9, 2, 3], {1, 2, 3}) == pytest.approx(2 / 3)


def test_places_beyond_a_short_list_are_missed():
    assert r_precision([1], {1, 2, 3, 4}) == 0.25
    assert map_at_r([1], {1, 2, 3, 4}) == 0.25


@pytest.mark.parametrize("metric", ONE_QUERY)
def test_a_query_without_positives_has_no_score(metric):
    with pytest.raises(ValueError, match="without positives"):
        metric([1], set())


@pytest.mark.parametrize("metric", ONE_QUERY)
def test_a_ranking_that_names_an_item_twice_is_refused(metric):
    options = {"k": 2} if metric is recall_at_k else {}
    with pytest.raises(ValueError, match="lists an item twice"):
        metric([1, 1, 2], {1, 2}, **options)


def test_recall_at_nothing_is_refused():
    with pytest.raises(ValueError, match="Invalid k 0: use at least 1"):
        recall_at_k([1], {1}, 0)


@pytest.mark.parametrize(("policy", "mean"), [("skip", (0.75, 2)), ("zero", (0.5, 3))])
def test_queries_without_positives_follow_the_policy(policy, mean):
    values = METRICS["R-Precision"](found({1: [1], 2: [3, 1]}, {1: {1}, 2: {1, 2}, 3: set()}))
    assert mean_over_queries(values, without_positives=policy) == mean


def test_queries_without_positives_can_be_an_error():
    with pytest.raises(ValueError, match="1 queries have no positives"):
        mean_over_queries(METRICS["R-Precision"](found({}, {3: set()})), without_positives="error")


def test_a_query_without_a_ranking_is_named():
    with pytest.raises(ValueError, match="1 queries .* .a."):
        r_precision({"b": [1]}, {"a": {1}, "b": {1}})


def test_the_mean_over_no_query_is_not_a_number():
    assert isnan(mean_over_queries(METRICS["R-Precision"](found({}, {}))).value)


@pytest.mark.parametrize("metric", ONE_QUERY)
def test_a_metric_of_many_queries_is_the_mean_whatever_the_labels(metric):
    by_name = {"a": ["x", "y"], "b": ["y", "z"]}, {"a": {"y"}, "b": {"y", "x"}}
    by_number = {1: [5, 6], 2: [6, 7]}, {1: {6}, 2: {6, 5}}
    each = [metric(by_name[0][query], by_name[1][query]) for query in "ab"]
    assert metric(*by_name) == metric(*by_number) == pytest.approx(sum(each) / 2)
