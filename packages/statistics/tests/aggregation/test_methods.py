"""What holds for every method of aggregation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterpart_statistics.aggregation import METHODS, Method, aggregate, conclude, full_conclusion
from counterpart_statistics.judged.worker_table import table_by_hits
from crowds import LEVELS, as_votes, draw_crowd, share_right

every_method = pytest.mark.parametrize("method", METHODS)
drawn_cases = pytest.mark.parametrize(
    "method", [pytest.param(method, marks=[pytest.mark.slow] * (method == "glad")) for method in METHODS]
)
few = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
answer_sets = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 4)), st.integers(1, 4), min_size=1, max_size=20
)
SHARES = [f"share_{level}" for level in LEVELS]


@drawn_cases
@few
@given(answer_sets, st.randoms(use_true_random=False))
def test_every_verdict_has_a_distribution_and_the_order_of_the_votes_changes_no_byte(method: Method, answers, random):
    rows = [(item, worker, label) for (item, worker), label in answers.items()]
    votes = as_votes(pd.DataFrame(rows, columns=["item", "worker", "label"]))
    verdicts = conclude(votes, method=method)
    assert len(verdicts) == len({item for item, _ in answers})
    assert np.allclose(verdicts[SHARES].sum(axis=1), 1)
    assert (verdicts[SHARES] >= 0).all(axis=None)
    shuffled = votes.iloc[random.sample(range(len(votes)), len(votes))]
    assert conclude(shuffled, method=method).to_csv() == verdicts.to_csv()


@pytest.mark.slow
@every_method
def test_the_names_of_the_workers_change_no_byte(method):
    labels, _ = draw_crowd([0.9, 0.7, 0.5, 0.4], items=8, each=3)
    renamed = labels.assign(worker=labels["worker"].map({0: "d", 1: "b", 2: "c", 3: "a"}))
    votes, others = as_votes(labels), as_votes(renamed)
    assert conclude(votes, method=method).to_csv() == conclude(others, method=method).to_csv()


@pytest.mark.slow
@drawn_cases
@few
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=12))
def test_levels_on_which_all_agree_win(method: Method, items):
    rows = [(item, worker, level) for item, (level, workers) in enumerate(items) for worker in range(workers)]
    verdicts = conclude(as_votes(pd.DataFrame(rows, columns=["item", "worker", "label"])), method=method)
    assert verdicts["level"].tolist() == [level for level, _ in items]


@pytest.mark.slow
@every_method
def test_good_workers_are_followed_and_distinguished_from_bad_and_controls_get_no_verdict(method):
    labels, truth = draw_crowd([0.9, 0.9, 0.9, 0.3], items=60)
    votes = as_votes(labels)
    known = np.where(truth[labels["item"]] <= 2, "positive", "negative")
    votes["control"] = np.where(labels["item"] < 4, known, "")
    before = votes.copy()
    found = full_conclusion(votes, method=method)
    assert votes.equals(before)
    assert found.verdicts["image"].tolist() == [f"i{item:04d}" for item in range(4, 60)]
    assert np.mean(found.verdicts["level"] == truth[4:]) > 0.9
    shares = found.verdicts[SHARES].to_numpy()
    assert found.verdicts["confidence"].tolist() == shares[np.arange(56), found.verdicts["level"] - 1].tolist()
    assert found.workers.index.tolist() == [0, 1, 2, 3]
    assert found.workers["reliability"].idxmin() == found.workers["agreement"].idxmin() == 3


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dawid-skene", "mace", "glad", "ordinal"])
def test_models_of_workers_beat_majority_where_most_guess(method):
    labels, truth = draw_crowd([0.95, 0.9, *[0.25] * 6], items=60)
    majority = share_right(aggregate(labels), truth)
    assert share_right(aggregate(labels, method), truth) > majority + 0.05


@pytest.mark.slow
@every_method
def test_other_scales_keep_their_own_labels(method):
    labels = pd.DataFrame({"item": [0, 0, 1], "worker": [0, 1, 0], "label": [0, 0, 1]})
    assert aggregate(labels, method).columns.tolist() == [0, 1]


def test_where_nothing_is_to_be_estimated_no_method_is_asked():
    one_level = pd.DataFrame({"item": [0, 1], "worker": [0, 0], "label": [7, 7]})
    controls = as_votes(draw_crowd([0.9], items=5)[0]).assign(control="negative")
    for method in METHODS:
        assert aggregate(one_level, method).to_numpy().tolist() == [[1], [1]]
        assert conclude(controls, method=method).empty


def test_the_worker_table_of_a_case_worked_by_hand():
    rows = [("a", "x", 1, ""), ("a", "y", 1, ""), ("a", "z", 3, ""), ("b", "x", 4, ""), ("g", "z", 2, "negative")]
    votes = pd.DataFrame(rows, columns=["image", "worker", "level", "control"]).assign(caption="c")
    workers = full_conclusion(votes).workers
    assert workers["votes"].to_dict() == {"x": 2, "y": 1, "z": 1}
    assert workers["agreement"].to_dict() == {"x": 1, "y": 1, "z": 0}
    assert workers["controls"].to_dict() == {"x": 0, "y": 0, "z": 1}
    assert workers.at["z", "right"] == 0
    assert np.isnan(workers.at["x", "right"])
    assert workers.at["x", "reliability"] == pytest.approx((2 / 3 + 1) / 2)
    assert workers.at["x", "confusion"][0] == [1, 0, 0, 0]


@pytest.mark.filterwarnings("error")
def test_workers_without_controls_have_no_share_of_right_ones():
    workers = pd.DataFrame({"worker": ["x", "y"], "hits": [1, 3], "controls": [0, 0], "controls_right": np.nan})
    sets = pd.DataFrame({"worker": list("xyyy"), "accepted": True, "excluded": False, "rejected": 0.0})
    found = table_by_hits(workers, sets.assign(seconds=60, pairs=18)).set_index("hits_per_worker")
    assert found["controls_right"].isna().all()
    assert found["submitted"].to_dict() == {"1": 1, "2-5": 3, "6-10": 0, "11-15": 0, "16-25": 0, ">25": 0, "all": 4}


@pytest.mark.shared
@pytest.mark.slow
def test_on_a_real_crowd_models_are_right_more_often_than_majority(shared):
    labels, answers = (pd.read_csv(shared / "data/crowd/rte" / name) for name in ("label.csv", "truth.csv"))
    truth = answers.sort_values("item")[::3].set_index("item")["truth"]
    found = {method: accuracy(labels[labels["item"].isin(truth.index)], truth, method) for method in METHODS}
    assert all(found[method] > found["majority"] + 0.02 for method in METHODS if method != "majority")
    assert found["ordinal"] >= found["dawid-skene"]


def accuracy(labels: pd.DataFrame, truth: pd.Series, method: str) -> float:
    """Return the share of the items on which a method is right; equal shares of levels share the credit."""
    shares = aggregate(labels, method).loc[truth.index]
    first = shares.eq(shares.max(axis=1), axis=0).to_numpy()
    credit = first / first.sum(axis=1, keepdims=True)
    return float(credit[np.arange(len(truth)), shares.columns.get_indexer(truth)].mean())
