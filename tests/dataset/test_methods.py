"""What holds for every method of aggregation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataset.aggregation import METHODS, Method, aggregate, conclude, full_conclusion
from tests.dataset.crowds import as_votes, draw_crowd, share_right

every_method = pytest.mark.parametrize("method", METHODS)
drawn_cases = pytest.mark.parametrize(
    "method", [pytest.param(method, marks=[pytest.mark.slow] * (method in ("mace", "glad"))) for method in METHODS]
)
few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
answer_sets = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 4)), st.integers(1, 4), min_size=1, max_size=30
)


def labels_of(answers: dict[tuple[int, int], int]) -> pd.DataFrame:
    rows = [(item, worker, label) for (item, worker), label in answers.items()]
    return pd.DataFrame(rows, columns=["item", "worker", "label"])


@drawn_cases
@few
@given(answer_sets)
def test_every_row_is_a_distribution(method: Method, answers):
    distribution = aggregate(labels_of(answers), method).to_numpy()
    assert distribution.shape == (len({item for item, _ in answers}), 4)
    assert np.allclose(distribution.sum(axis=1), 1)
    assert (distribution >= 0).all()


@pytest.mark.slow
@drawn_cases
@few
@given(answer_sets, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_no_byte(method: Method, answers, random):
    votes = as_votes(labels_of(answers))
    shuffled = votes.iloc[random.sample(range(len(votes)), len(votes))]
    assert conclude(votes, method=method).to_csv() == conclude(shuffled, method=method).to_csv()


@pytest.mark.slow
@every_method
def test_the_names_of_the_workers_change_no_byte(method):
    labels, _ = draw_crowd([0.9, 0.7, 0.5, 0.4], items=12, each=3)
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
def test_good_workers_are_followed(method):
    labels, truth = draw_crowd([0.95, 0.9, 0.85, 0.8, 0.3, 0.25], items=60)
    assert share_right(aggregate(labels, method), truth) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dawid-skene", "mace", "glad", "ordinal"])
def test_models_of_workers_beat_majority_where_most_guess(method):
    labels, truth = draw_crowd([0.95, 0.9, *[0.25] * 6], items=100)
    majority = share_right(aggregate(labels), truth)
    assert share_right(aggregate(labels, method), truth) > majority + 0.05


@pytest.mark.slow
@every_method
def test_other_scales_keep_their_own_labels(method):
    labels = pd.DataFrame({"item": [0, 0, 1], "worker": [0, 1, 0], "label": [0, 0, 1]})
    assert aggregate(labels, method).columns.tolist() == [0, 1]


@every_method
def test_a_scale_of_one_level_is_certain(method):
    labels = pd.DataFrame({"item": [0, 1], "worker": [0, 0], "label": [7, 7]})
    assert aggregate(labels, method).to_numpy().tolist() == [[1], [1]]


@pytest.mark.slow
@every_method
def test_controls_get_no_verdict(method):
    labels, _ = draw_crowd([0.9, 0.8, 0.7], items=12)
    votes = as_votes(labels)
    votes.loc[votes["image"] < "i0004", "control"] = "positive"
    assert conclude(votes, method=method)["image"].min() == "i0004"


@every_method
def test_votes_on_controls_alone_give_no_verdict(method):
    labels, _ = draw_crowd([0.9], items=5)
    assert conclude(as_votes(labels).assign(control="negative"), method=method).empty


@pytest.mark.slow
@every_method
def test_the_input_is_left_as_it_was(method):
    votes = as_votes(draw_crowd([0.9, 0.8], items=5)[0])
    before = votes.copy()
    conclude(votes, method=method)
    assert votes.equals(before)


@pytest.mark.slow
@every_method
def test_the_confidence_is_the_share_of_the_level(method):
    verdicts = conclude(as_votes(draw_crowd([0.9, 0.6, 0.5], items=20)[0]), method=method)
    shares = verdicts[[f"share_{level}" for level in (1, 2, 3, 4)]].to_numpy()
    assert verdicts["confidence"].tolist() == shares[np.arange(20), verdicts["level"] - 1].tolist()


@pytest.mark.slow
@every_method
def test_the_worker_table_tells_good_from_bad(method):
    labels, _ = draw_crowd([0.9, 0.9, 0.9, 0.3], items=80)
    workers = full_conclusion(as_votes(labels), method=method).workers
    assert workers.index.tolist() == [0, 1, 2, 3]
    assert workers["reliability"].idxmin() == workers["agreement"].idxmin() == 3


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


@pytest.mark.shared
@pytest.mark.slow
def test_on_a_real_crowd_models_are_right_more_often_than_majority(shared):
    from benchmarks.aggregate import accuracies

    found = accuracies(shared / "data/crowd/rte")
    assert found["majority"] == pytest.approx(0.8969, abs=5e-5)
    assert all(found[method] > found["majority"] + 0.02 for method in METHODS if method != "majority")
    assert found["ordinal"] >= found["dawid-skene"]
