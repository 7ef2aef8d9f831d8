"""Methods side by side, against the recall of lists that the definitions give, and a case worked by hand."""

import numpy as np
import pytest

from counterpart_topk.hubness import Matrix
from counterpart_topk.hubness.step_tables import (
    METHODS,
    MethodRecall,
    best_relaxations,
    compare_methods,
    tuned_tables,
    vary_relaxation,
)
from slow_hubs import slow_csls, slow_inverted_softmax, slow_matching

RNG = np.random.default_rng(3)
SCORES = RNG.normal(size=(12, 24)).round(3)
POSITIVES = np.array([(place // 2, place) for place in range(24)])
SCORES[POSITIVES[:, 0], POSITIVES[:, 1]] += 0.5


def slow_recall(scores, positives, correct, relaxation, depth):
    """Matched items first, then the others by score; query by query."""
    scores = correct(scores)
    matched = slow_matching(scores, depth, relaxation) if relaxation else []
    found = []
    for query in sorted({query for query, _ in positives}):
        first = [item for row, item in matched if row == query]
        rest = [item for item in np.argsort(-scores[query], kind="stable").tolist() if item not in first]
        found.append(any((query, item) in positives for item in (first + rest)[:depth]))
    return 100 * np.mean(found)


CORRECT = {
    "NNS": lambda scores: scores,
    "IS": lambda scores: slow_inverted_softmax(scores, 30, True),
    "CSLS": lambda scores: slow_csls(scores, 10),
}


@pytest.mark.parametrize("method", METHODS)
def test_each_method_has_the_recall_of_its_definition(method):
    chosen = {"RGM": 1.5, "IS+RGM": 3.0}  # the third is 2 where none is given
    (row,) = [one for one in compare_methods(Matrix(SCORES), POSITIVES, chosen) if one.method == method]
    relaxation = {"GM": 1.0, "CSLS+RGM": 2.0, **chosen}.get(method)
    assert row.relaxation == relaxation
    correct = CORRECT.get(method.partition("+")[0], CORRECT["NNS"])
    for recalls, scores, pairs in ((row.rows, SCORES, POSITIVES), (row.columns, SCORES.T, POSITIVES[:, ::-1])):
        known = set(map(tuple, pairs.tolist()))
        wanted = [slow_recall(scores, known, correct, relaxation, depth) for depth in (1, 5, 10)]
        assert recalls == pytest.approx(wanted)
    assert row.rsum == pytest.approx(sum(row.rows) + sum(row.columns))


def test_a_hub_hides_the_match_of_every_row_but_its_own():
    """Item 0 is first for all ten rows, the right one second: R@1 is 10% for NNS, 100% for GM, which gives item 0 to
    row 0. Every item's best row is its own, so the columns' R@1 is 100%."""
    scores = np.eye(10)
    scores[1:, 0] = 1.1
    scores[0, 0] = 1.2
    rows = {one.method: one for one in compare_methods(Matrix(scores), np.stack([np.arange(10)] * 2, 1))}
    assert rows["NNS"].rows[0] == 10
    assert rows["GM"].rows[0] == 100
    assert rows["NNS"].columns[0] == rows["GM"].columns[0] == 100


def test_recall_at_5_is_that_of_a_matching_of_each_row_5_times():
    """Seven hubs come before the right item of all ten rows. With each hub in 5 lists, the first five rows have hubs 0
    to 4, and the others hubs 5 and 6, then their own. (Matched once, the first seven rows would have a hub first.)"""
    hubs = 2 - np.arange(10)[:, None] / 100 - np.arange(7) / 1000
    scores = Matrix(np.hstack([np.eye(10), hubs]))
    rows = {one.method: one for one in compare_methods(scores, np.stack([np.arange(10)] * 2, 1))}
    assert (rows["NNS"].rows[1], rows["GM"].rows[1]) == (0, 50)


def test_the_relaxation_of_highest_rsum_is_chosen_for_each_method():
    tried = vary_relaxation(Matrix(SCORES), POSITIVES, (3.0, 1.0))
    assert [(one.method, one.relaxation) for one in tried[:3]] == [("RGM", 1), ("RGM", 3), ("IS+RGM", 1)]
    assert tried[0].rows == compare_methods(Matrix(SCORES), POSITIVES)[1].rows
    some = [MethodRecall("RGM", relaxation, (recall,), ()) for relaxation, recall in ((1, 5), (2, 7), (3, 7))]
    assert best_relaxations(some) == {"RGM": 2}


def test_relaxations_chosen_on_other_scores_are_measured_and_without_any_it_is_2():
    own, other = (Matrix(SCORES), POSITIVES), (Matrix(SCORES[:, ::-1].copy()), POSITIVES)
    best = best_relaxations(vary_relaxation(*other))
    for arguments, wanted in (((other, own), best), ((own,), {})):
        rows = [row for row in tuned_tables(*arguments) if row.pop("table") == "methods"]
        assert rows == [one.figures() for one in compare_methods(*own, wanted)]
    assert set(best.values()) != {2}


@pytest.mark.parametrize("positives", [POSITIVES[:0], POSITIVES[:2]])
def test_too_little_to_compare_on_is_refused(positives):
    with pytest.raises(ValueError, match=f"not on 9 x 24 with {len(positives)}"):
        compare_methods(Matrix(SCORES[:9]), positives)
