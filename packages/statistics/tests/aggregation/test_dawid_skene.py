import warnings

import numpy as np
import pandas as pd
import pytest

from counterpart_statistics.aggregation.dawid_skene import confusions, dawid_skene
from counterpart_statistics.aggregation.sorted_votes import read_votes
from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import Votes
from crowds import LEVELS, draw_crowd


def slow_dawid_skene(labels: pd.DataFrame, gold: dict[int, tuple[int, ...]], iterations: int) -> dict[int, list[float]]:
    """The same estimates by loops over items, workers and levels, without any trust."""
    answers = list(labels.itertuples(index=False))
    items, workers = sorted(labels["item"].unique()), sorted(labels["worker"].unique())
    allowed = {item: gold.get(item, LEVELS) for item in items}
    found = {}
    for item in items:
        counts = [
            sum(a.item == item and a.label == level and level in allowed[item] for a in answers) for level in LEVELS
        ]
        counts = counts if sum(counts) else [float(level in allowed[item]) for level in LEVELS]
        found[item] = [count / sum(counts) for count in counts]
    for _ in range(iterations):
        chance = {}
        for worker in workers:
            for truth in range(4):
                mass = [
                    max(sum(found[a.item][truth] for a in answers if a.worker == worker and a.label == label), 1e-10)
                    for label in LEVELS
                ]
                chance[worker, truth] = [one / sum(mass) for one in mass]
        after = {}
        for item in items:
            alike = [other for other in items if allowed[other] == allowed[item]]
            product = [sum(found[other][truth] for other in alike) / len(alike) for truth in range(4)]
            for answer in answers:
                if answer.item == item:
                    product = [product[t] * chance[answer.worker, t][answer.label - 1] for t in range(4)]
            after[item] = [one / sum(product) for one in product]
        found = after
    return found


def read(labels: pd.DataFrame, gold: dict[int, tuple[int, ...]] | None = None) -> Votes:
    return read_votes(labels, levels=LEVELS, gold=gold)


def test_it_equals_a_slow_reading_of_the_model():
    labels, truth = draw_crowd([0.9, 0.6, 0.5], items=12, seed=3)
    gold = {item: (1, 2) if truth[item] < 3 else (3, 4) for item in range(4)}
    fast = dawid_skene(read(labels, gold), trust=0, iterations=5).distribution
    slow = slow_dawid_skene(labels, gold, iterations=5)
    assert np.allclose(fast, [slow[item] for item in range(12)], atol=1e-6)


@pytest.mark.slow
def test_it_equals_crowd_kits_without_gold():
    from crowdkit.aggregation import DawidSkene

    labels, _ = draw_crowd([0.9, 0.8, 0.7, 0.4, 0.3], items=50)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        theirs = DawidSkene(n_iter=50, tol=-1).fit_predict_proba(labels.rename(columns={"item": "task"}))
    ours = dawid_skene(read(labels), trust=0, iterations=50).distribution
    assert np.abs(ours - theirs[list(LEVELS)].to_numpy()).max() < 1e-3


def test_confusions_of_a_case_worked_by_hand():
    labels = pd.DataFrame([(0, "x", 1), (1, "x", 2), (2, "x", 2)], columns=["item", "worker", "label"])
    truth = np.eye(4)[[0, 0, 1]]
    votes = read(labels)
    first = confusions(votes.passed(SpooledRows(float, shape=(4,)), lambda _: truth).by_worker, trust=1)[0]
    assert first[:, 0].tolist() == pytest.approx([2 / 3, 1 / 3, 0, 0], abs=1e-9)
    assert first[:, 1].tolist() == pytest.approx([0, 1, 0, 0], abs=1e-9)
    assert first[:, 2].tolist() == pytest.approx([0, 0, 1, 0], abs=1e-9)


def test_gold_shows_whom_to_follow_where_votes_cannot():
    """Two workers always disagree: only the controls show that x is right."""
    rows = [(item, worker, 1 if (worker == "x") == (item % 2 == 0) else 4) for item in range(20) for worker in "xy"]
    labels = pd.DataFrame(rows, columns=["item", "worker", "label"])
    gold = {item: (3, 4) if item % 2 else (1, 2) for item in range(10)}
    distribution = dawid_skene(read(labels, gold)).distribution
    assert distribution.argmax(axis=1).tolist() == [0, 3] * 10


def test_gold_items_keep_their_right_levels():
    labels = pd.DataFrame([(0, "x", 4), (0, "y", 4), (1, "x", 4)], columns=["item", "worker", "label"])
    assert dawid_skene(read(labels, {0: (1, 2)})).distribution[0, 2:].tolist() == [0, 0]


def test_unconfirmed_votes_are_kept():
    labels, _ = draw_crowd([0.9] * 20, items=300, each=1)
    distribution = dawid_skene(read(labels)).distribution
    assert (distribution.argmax(axis=1) + 1).tolist() == labels.sort_values("item")["label"].tolist()
