"""Rows of scores against overlaps and of first captions, against slow counts."""

import numpy as np
import pandas as pd
import pytest

from counterpart_statistics.agreement import cohen_kappa
from counterpart_statistics.judged import PAIR
from counterpart_statistics.judged.agreement_rows import Bootstrap
from counterpart_statistics.judged.overlap_rows import first_results, mean_scores, with_overlap
from counterpart_statistics.significance import fisher_randomisation, mcnemar

BOOTSTRAP = Bootstrap(0.95, 50, 0)
RNG = np.random.default_rng(3)
IMAGES = 40
VOTES = pd.DataFrame(
    [(image, 10 * image + c, level) for image in range(IMAGES) for c in (0, 1) for level in RNG.integers(1, 5, 3)],
    columns=[*PAIR, "level"],
)
VOTES.loc[:5, "level"] = 1
PAIRS = VOTES[PAIR].drop_duplicates(ignore_index=True)
OVERLAP = PAIRS.assign(overlap=RNG.random(len(PAIRS)))


def scores() -> dict[tuple[int, int], float]:
    """Four for the first level, one for the last, the mean of three judgments."""
    levels: dict[tuple[int, int], list[int]] = {}
    for image, caption, level in VOTES.itertuples(index=False):
        levels.setdefault((image, caption), []).append(5 - level)
    return {pair: sum(found) / len(found) for pair, found in levels.items()}


def test_a_pairs_score_is_the_mean_of_its_judgments():
    found = mean_scores(VOTES)
    assert dict(zip(zip(found["image"], found["caption"], strict=True), found["score"], strict=True)) == scores()


def test_kappa_of_each_level_is_that_of_the_best_tenth():
    rows = list(with_overlap(VOTES, "bleu-all", OVERLAP, BOOTSTRAP))
    people = np.array([scores()[pair] for pair in PAIRS.itertuples(index=False, name=None)])
    for row, level in zip(rows, (4, 11 / 3, 10 / 3, 3, 8 / 3, 7 / 3, 2), strict=False):
        slow = [cohen_kappa(OVERLAP["overlap"] >= tenth / 10, people > level - 0.01) for tenth in range(1, 11)]
        assert row["value"] == pytest.approx(np.nanmax(slow))
        assert row["measure"] == f"kappa, overlap ≥ {(1 + np.nanargmax(slow)) / 10:.1f}"
        assert (row["scale"], row["pairs"], row["judgments"]) == (f"score ≥ {level:.2f}", 80, 240)
        assert row["low"] <= row["value"] <= row["high"]
    assert rows[-1]["measure"] == "tau-b"


def test_pairs_without_an_overlap_are_left_out():
    known = OVERLAP.assign(overlap=OVERLAP["overlap"].where(OVERLAP.index < 30))
    assert {row["pairs"] for row in with_overlap(VOTES, "bleu-all", known, BOOTSTRAP)} == {30}
    assert list(with_overlap(VOTES, "bleu-all", OVERLAP.iloc[:0], BOOTSTRAP)) == []


def proposals() -> pd.DataFrame:
    """Two annotators' first captions of each image, the second's of half of them; and places that do not count."""
    rows = [("a", image, 10 * image, "i2t", 1) for image in range(IMAGES)]
    rows += [("b", image, 10 * image + 1, "i2t", 1) for image in range(IMAGES // 2)]
    rows += [("b", 30, 300, "i2t", 2), ("b", 31, 310, "t2i", 1)]
    return pd.DataFrame(rows, columns=["annotator", *PAIR, "direction", "rank"])


def test_first_captions_are_those_of_rank_1_and_compared_over_the_images_of_both():
    rows = list(first_results(VOTES, proposals(), "a", {"bleu-all": OVERLAP}, BOOTSTRAP))
    found = {(row["of"], row["scale"], row["measure"]): row["value"] for row in rows}
    one, other = (np.array([scores()[image, 10 * image + c] for image in range(IMAGES)]) for c in (0, 1))
    half = IMAGES // 2
    assert found["a", "score", "mean"] == pytest.approx(one.mean())
    assert found["b", "score", "mean"] == pytest.approx(other[:half].mean())
    assert found["b", "score ≥ 2.67", "share"] == (other[:half] > 2.6).mean()
    assert found["b", "score ≥ 2.67", "McNemar's p"] == mcnemar(other[:half] > 2.6, one[:half] > 2.6).pvalue
    assert found["b", "score", "Fisher's p"] == fisher_randomisation(other[:half], one[:half], 500).pvalue
    assert found["a", "score", "Fisher's p"] == 1
    overlap = OVERLAP["overlap"].to_numpy().reshape(IMAGES, 2)
    assert found["b", "bleu-all", "mean"] == pytest.approx(overlap[:half, 1].mean())
    assert {row["pairs"] for row in rows if row["of"] == "b"} == {half}


def test_without_a_judged_first_caption_of_the_annotator_nothing_is_compared():
    assert list(first_results(VOTES, proposals(), "c", {}, BOOTSTRAP)) == []
