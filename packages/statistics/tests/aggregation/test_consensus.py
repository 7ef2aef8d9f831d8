import numpy as np
import pandas as pd
import pytest

from counterpart_statistics.aggregation import aggregate, full_conclusion
from counterpart_statistics.aggregation.consensus import consensus
from counterpart_statistics.aggregation.sorted_votes import read_votes
from crowds import as_votes, draw_crowd, share_right


def propose(truth: np.ndarray, annotator: str, *, exact: float, seed: int = 1, direction: str = "i2t") -> pd.DataFrame:
    """Scores that fall with the level: noiseless with ``exact`` 1, unrelated with 0."""
    rng = np.random.default_rng(seed)
    scores = exact * -truth + (1 - exact) * rng.normal(size=len(truth)) * 3
    items = np.arange(len(truth))
    rank = 1 + items % 5
    columns = {"item": items, "annotator": annotator, "direction": direction, "rank": rank, "score": scores}
    return pd.DataFrame(columns)


def test_without_annotators_it_is_the_workers_own_and_the_other_methods_ignore_annotators():
    labels, truth = draw_crowd([0.8, 0.6, 0.5], items=100)
    assert aggregate(labels, "consensus").equals(aggregate(labels, "ordinal"))
    proposals = propose(truth, "good", exact=1)
    assert aggregate(labels, "dawid-skene", proposals=proposals).equals(aggregate(labels, "dawid-skene"))


def test_a_good_annotator_settles_what_workers_disagree_on():
    labels, truth = draw_crowd([0.6] * 10, items=600, each=3)
    alone = share_right(aggregate(labels, "consensus"), truth)
    together = share_right(aggregate(labels, "consensus", proposals=propose(truth, "good", exact=1)), truth)
    assert together > alone + 0.02


def test_an_annotator_that_guesses_changes_next_to_nothing():
    labels, truth = draw_crowd([0.8, 0.7, 0.6], items=600)
    alone = aggregate(labels, "consensus")
    together = aggregate(labels, "consensus", proposals=propose(truth, "bad", exact=0))
    assert (alone.idxmax(axis=1) == together.idxmax(axis=1)).mean() > 0.99


def test_better_annotators_weigh_more():
    labels, truth = draw_crowd([0.9, 0.8, 0.8], items=500)
    kinds = {"good": 0.9, "fair": 0.6, "bad": 0.0}
    proposals = pd.concat([propose(truth, name, exact=exact) for name, exact in kinds.items()])
    weights = consensus(read_votes(labels), proposals).members.set_index("annotator")["weight"]
    assert weights["good"] > weights["fair"] > weights["bad"]


def test_the_weighted_mean_of_a_case_worked_by_hand():
    """The worker and an annotator that always agrees weigh the same, at one vote per item."""
    labels = pd.DataFrame({"item": range(100), "worker": 0, "label": [1, 4] * 50})
    proposals = propose(labels["label"].to_numpy(), "knows", exact=1)
    people = aggregate(labels, "ordinal").to_numpy()
    fit = consensus(read_votes(labels), proposals)
    member = fit.members.iloc[0]
    worker = fit.skills["weight"].iloc[0]
    wrong = 1 - people.max(axis=1).mean()
    baseline = 1 - people.mean(axis=0).max()
    assert worker == pytest.approx(1 - wrong / baseline)
    assert member["weight"] == pytest.approx(1 - wrong / baseline)
    assert people[0, 0] / 2 + 0.4 < fit.distribution[0, 0] < people[0, 0] / 2 + 0.5


def test_few_proposals_are_left_out():
    labels, truth = draw_crowd([0.8, 0.7], items=40)
    assert consensus(read_votes(labels), propose(truth, "small", exact=1)).members.empty


def test_the_conclusion_joins_proposals_by_pair():
    labels, truth = draw_crowd([0.7, 0.6], items=300)
    votes = as_votes(labels)
    proposals = propose(truth, "good", exact=1)
    named = proposals.assign(
        image="i" + proposals["item"].map("{:04d}".format), caption="c" + proposals["item"].map("{:04d}".format)
    ).drop(columns="item")
    elsewhere = named.assign(caption="unjudged")
    conclusion = full_conclusion(votes, method="consensus", proposals=pd.concat([named, elsewhere]))
    expected = aggregate(labels, "consensus", proposals=proposals).to_numpy()
    assert np.allclose(conclusion.verdicts[["share_1", "share_2", "share_3", "share_4"]], expected)
    assert conclusion.annotators["pairs"].tolist() == [300]


def test_a_pair_asked_in_several_rounds_counts_once():
    labels, truth = draw_crowd([0.7, 0.6], items=100)
    once = propose(truth, "good", exact=0.8)
    twice = pd.concat([once, once.iloc[::-1]])
    assert aggregate(labels, "consensus", proposals=once).equals(aggregate(labels, "consensus", proposals=twice))
