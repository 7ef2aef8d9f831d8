"""``analyse calibration``: how far the probabilities of a round's pairs hold, in numbers and as a chart."""

import numpy as np
import pytest
from django.core.management import CommandError
from sklearn.metrics import brier_score_loss

from annotation.models import Judgment
from counterpart_statistics.estimation import folds_of, match_probability, pair_features
from evaluation.auditing.whole_queries import whole_queries
from tests.evaluation.analysing import analyse, figures_of, written
from tests.evaluation.worlds import SMALL, judge_all, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db

ALL = "all annotators"


@pytest.fixture
def pool(audit):
    return audit.pool


def by_hand(whole, listing):
    """The labels of audited queries, and their probabilities from the lists of some annotators: each query's from the
    audited queries of other folds."""
    queries = whole.queries
    pairs = queries.asked & whole.audited[:, None]
    features = pair_features(queries.ranks[listing], queries.scores[listing], queries.depth)
    labels = np.where(pairs, queries.gains > 0, np.nan)
    folds = folds_of(queries.images, seed=whole.seed)
    return labels[pairs], match_probability(features, labels, folds)[pairs]


def test_each_annotator_and_all_are_compared_with_the_verdicts_of_audited_queries(audit):
    rows = {(row["direction"], row["annotator"]): row for row in figures_of("calibration", "audit")["calibration"]}
    assert len(rows) == 8
    for whole in whole_queries(audit):
        for annotator, listing in {ALL: [0, 1, 2], "a": [0], "b": [1], "c": [2]}.items():
            row = rows[whole.direction.value, annotator]
            labels, probabilities = by_hand(whole, listing)
            brier = brier_score_loss(labels, probabilities)
            assert (row["queries"], row["pairs"]) == (7, len(labels))
            assert row["matches"] == pytest.approx(labels.mean())
            assert row["brier"] == pytest.approx(brier)
            assert row["skill"] == pytest.approx(1 - brier / labels.var())


def test_the_bins_hold_every_pair_once(audit):
    found = figures_of("calibration", "audit")
    for row in found["calibration"]:
        bins = [
            one for one in found["bins"] if (one["direction"], one["annotator"]) == (row["direction"], row["annotator"])
        ]
        assert sum(one["pairs"] for one in bins) == row["pairs"]
        distances = [one["pairs"] * abs(one["predicted"] - one["observed"]) for one in bins]
        assert row["error"] == pytest.approx(sum(distances) / row["pairs"])


def test_a_finished_round_of_all_pairs_is_compared_with_all_its_verdicts(pool):
    judge_all(published(pack("all", pool, design=SMALL, seed=4)))
    rows = figures_of("calibration", "all")["calibration"]
    assert {row["queries"] for row in rows} == {14}
    assert "They are few" in analyse("calibration", "all")


def test_the_chart_is_drawn_and_the_table_has_a_row_an_annotator(audit, tmp_path):
    assert [row["annotator"] for row in written(tmp_path, "calibration", "audit")] == [ALL, "a", "b", "c"] * 2


def test_a_round_without_verdicts_is_refused(audit):
    Judgment.objects.all().delete()
    with pytest.raises(CommandError, match="audit has no judgments"):
        analyse("calibration", "audit")


def test_a_round_whose_pool_has_no_lists_in_a_direction_is_refused(pool):
    made = judge_all(published(pack("all", pool, design=SMALL, seed=4)))
    made.pool.directions = []
    made.pool.save()
    with pytest.raises(CommandError, match="no probabilities to compare"):
        analyse("calibration", "all")
