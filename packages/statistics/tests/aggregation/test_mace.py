import warnings

import numpy as np
import pandas as pd
import pytest

from counterpart_statistics.aggregation.mace import mace
from counterpart_statistics.aggregation.sorted_votes import read_votes
from crowds import LEVELS, draw_crowd


@pytest.mark.slow
def test_it_equals_crowd_kits_from_the_same_start():
    """crowd-kit numbers workers and labels as they occur, and draws the start of each by its number."""
    from crowdkit.aggregation import MACE

    labels, _ = draw_crowd([0.9, 0.8, 0.7, 0.4, 0.3], items=40, each=3)
    ours = mace(read_votes(labels, levels=LEVELS), seed=7)
    votes = read_votes(labels, levels=LEVELS).whole
    answers = pd.DataFrame({"task": votes.items, "worker": votes.workers, "label": votes.labels})
    workers, numbers = pd.factorize(answers["worker"])
    levels, places = pd.factorize(answers["label"])
    model = MACE(n_restarts=1, random_state=7)
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        theirs = model.fit_predict_proba(answers.assign(worker=workers, label=levels))
    assert np.abs(ours.distribution[:, places] - theirs.to_numpy()).max() < 1e-10
    assert ours.skills["competence"].iloc[numbers].tolist() == pytest.approx(model.spamming_[:, 1].tolist(), abs=1e-10)


def test_it_finds_the_competence_of_every_worker():
    """A worker who guesses among four levels when not competent is right by chance in a quarter of those cases."""
    labels, _ = draw_crowd([0.9, 0.75, 0.5, 0.25], items=400)
    competence = mace(read_votes(labels)).skills["competence"].sort_index()
    assert competence.tolist() == pytest.approx([(a - 0.25) / 0.75 for a in (0.9, 0.75, 0.5, 0.25)], abs=0.1)


def test_it_follows_its_seed():
    labels = pd.DataFrame([(0, 0, 1), (0, 1, 4), (1, 0, 1), (1, 1, 2)], columns=["item", "worker", "label"])
    first, again, other = (mace(read_votes(labels), seed=seed).distribution for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_unchosen_levels_have_no_share():
    labels = pd.DataFrame([(0, 0, 1), (0, 1, 1), (1, 0, 4)], columns=["item", "worker", "label"])
    assert mace(read_votes(labels)).distribution[:, 1:3].tolist() == [[0, 0], [0, 0]]


def test_controls_are_left_out_and_keep_the_shares_of_their_votes():
    """Of the same workers in the same order, so that the start is the same too."""
    labels, _ = draw_crowd([0.9, 0.8, 0.3], items=20)
    gold = {item: (1, 2) for item in range(10)}
    votes = read_votes(labels, gold=gold)
    found = mace(votes)
    changed = labels.assign(label=np.where(labels["item"] < 10, 5 - labels["label"], labels["label"]))
    others = read_votes(changed, gold=gold)
    other = mace(others)
    same_start = votes.worker_names.equals(others.worker_names)
    assert np.allclose(found.distribution[10:], other.distribution[10:], atol=1e-9 if same_start else 0.1)
    assert np.array_equal(found.distribution[:10], votes.whole.start[:10])


def test_items_with_more_votes_than_a_product_of_probabilities_holds_have_a_distribution():
    labels = pd.DataFrame({"item": 0, "worker": range(1_500), "label": [1, 2, 3] * 500})
    assert mace(read_votes(labels)).distribution.sum() == pytest.approx(1)
