import doctest
from collections import Counter
from statistics import median

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterpart_statistics.aggregation.fit
from counterpart_statistics.aggregation import aggregate, choose_levels, conclude

votes = st.lists(st.integers(1, 4), min_size=1, max_size=9)


def frame(**answers: list[int]) -> pd.DataFrame:
    """item=[labels of worker 0, 1, …]"""
    rows = [(item, worker, label) for item, labels in answers.items() for worker, label in enumerate(labels)]
    return pd.DataFrame(rows, columns=["item", "worker", "label"])


def level_of(labels: list[int], **policy: str) -> int:
    return choose_levels(aggregate(frame(a=labels)), **policy)["a"]


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(counterpart_statistics.aggregation).failed == 0
    assert doctest.testmod(counterpart_statistics.aggregation.fit).failed == 0


def test_the_distribution_is_the_share_of_votes():
    assert aggregate(frame(a=[1, 1, 2, 4], b=[3])).loc["a"].tolist() == [0.5, 0.25, 0, 0.25]


@pytest.mark.parametrize(
    ("labels", "ties", "level"),
    [
        ([3], "median", 3),
        ([1, 2, 3], "median", 2),
        ([2, 3], "median", 3),
        ([1, 4], "median", 4),
        ([1, 1, 2, 4, 4], "median", 1),
        ([1, 2, 3], "lower", 1),
        ([1, 2, 3], "higher", 3),
        ([1, 1, 4], "higher", 1),
        ([4, 4, 1], "lower", 4),
    ],
)
def test_a_tie_is_broken_as_the_policy_says(labels, ties, level):
    assert level_of(labels, ties=ties) == level


def slow_level(labels: list[int], ties: str) -> int:
    counts = Counter(labels)
    tied = sorted(level for level in counts if counts[level] == max(counts.values()))
    if ties == "median":
        return min(tied, key=lambda level: (abs(level - median(labels)), -level))
    return tied[0] if ties == "lower" else tied[-1]


@pytest.mark.slow
@given(st.lists(votes, min_size=1, max_size=5), st.sampled_from(["median", "lower", "higher"]))
def test_levels_equal_a_slow_reading_of_the_votes(items, ties):
    distribution = aggregate(frame(**{f"i{n}": labels for n, labels in enumerate(items)}))
    expected = [slow_level(labels, ties) for labels in items]
    assert choose_levels(distribution, ties=ties).tolist() == expected


def test_the_input_is_left_as_it_was():
    labels = frame(a=[1, 2])
    aggregate(labels)
    assert labels.equals(frame(a=[1, 2]))


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (frame(a=[1]).drop(columns="worker"), {}, "columns of the labels: worker"),
        (pd.concat([frame(a=[1]), frame(a=[2])]), {}, "1 labels repeat"),
        (frame(a=[1, 5]), {"levels": [1, 2, 3, 4]}, "1 labels are not among the levels: 5"),
        (frame(a=[1]), {"method": "guess"}, "Unknown method 'guess'"),
        (frame(a=[1]), {"gold": {"a": (7,)}}, "1 gold items have no right level among the levels: 'a'"),
        (frame(a=[1]).assign(worker=None), {}, "1 labels have no item"),
        (frame(a=[1, 2]).assign(set=[1, np.nan]), {}, "1 labels have an answer set that is not a whole number"),
        (frame(a=[1]).assign(set=2**40), {}, "1 labels have an answer set"),
    ],
)
def test_bad_labels_are_refused(labels, options, message):
    with pytest.raises(ValueError, match=message):
        aggregate(labels, **options)
    with pytest.raises(ValueError, match="'coin'"):
        level_of([1], ties="coin")


@pytest.mark.shared
@pytest.mark.parametrize(("crowd", "share"), [("rte", 0.8969), ("web", 0.7307)])
def test_majority_is_as_often_right_as_known_for_real_crowds(shared, crowd, share):
    truth = pd.read_csv(shared / "data/crowd" / crowd / "truth.csv").set_index("item")["truth"]
    shares = aggregate(pd.read_csv(shared / "data/crowd" / crowd / "label.csv")).loc[truth.index]
    first = shares.eq(shares.max(axis=1), axis=0)
    credit = first.div(first.sum(axis=1), axis=0)
    assert np.mean([credit.at[item, label] for item, label in truth.items()]) == pytest.approx(share, abs=5e-5)


def test_conclude_gives_every_candidate_pair_a_verdict_and_no_control():
    rows = [("a", "x", 1, 1, ""), ("a", "x", 2, 2, ""), ("a", "x", 3, 2, ""), ("b", "y", 1, 1, "positive")]
    votes = pd.DataFrame(rows, columns=["image", "caption", "worker", "level", "control"])
    (verdict,) = conclude(votes.sample(frac=1, random_state=1)).to_dict("records")
    assert verdict == {
        **{"image": "a", "caption": "x", "level": 2, "votes": 3},
        **{"share_1": 1 / 3, "share_2": 2 / 3, "share_3": 0.0, "share_4": 0.0, "confidence": 2 / 3},
    }


def test_conclude_without_votes_gives_no_verdict():
    assert conclude(pd.DataFrame(columns=["image", "caption", "worker", "level", "control"])).empty
