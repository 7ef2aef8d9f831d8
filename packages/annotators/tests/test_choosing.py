"""A round's choice, of annotators of every class, from scores that the test knows."""

import numpy as np
import pytest

from counterpart_annotators.base import ComparingAnnotator, PairScorer
from counterpart_annotators.choosing import Round, Way, ways_of
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.selection import core_set, hard_negative_share, hard_negatives
from counterpart_annotators.training.learners import TrainingSet
from counterpart_metrics.errors import CounterpartError
from counterpart_topk.hubness.score_blocks import Matrix

N, PAIRED = 20, np.array([1, 4, 5, 9, 13, 17])
LESSONS = TrainingSet(
    [PlainImage(str(i)) for i in range(N)],
    [PlainCaption(str(i), str(i)) for i in range(N)],
    np.stack([np.arange(N)] * 2, axis=1),
    np.ones(N, dtype=np.float32),
)
RNG = np.random.default_rng(0)
REGIONS, WORDS = RNG.normal(size=(2, N, 3, 4)).astype(np.float32)
SCORES = np.einsum("nrd,mrd->nm", REGIONS, WORDS)
UNPAIRED = np.setdiff1d(np.arange(N), PAIRED)


def places(rows) -> list[int]:
    return [int(row.key) for row in rows]


class Regioned(ComparingAnnotator):
    looks_at_pictures = False

    def encode_images(self, images):
        return REGIONS[places(images)]

    def encode_captions(self, captions):
        return WORDS[places(captions)]

    def compare(self, images, captions):
        return np.einsum("nrd,mrd->nm", images, captions)


class Scorer(PairScorer):
    looks_at_pictures = False

    def over(self, images, captions):
        return self

    def block(self, images, captions):
        return np.ones((len(images), len(captions)))


@pytest.mark.parametrize("asks_images", [False, True])
def test_the_highest_scores_are_chosen_of_images_or_of_captions(asks_images):
    scores = SCORES.T if asks_images else SCORES
    hard = hard_negatives(Matrix(scores[np.concatenate([UNPAIRED, PAIRED])][:, PAIRED]), top_k=2)
    found = Round(Regioned(), LESSONS, PAIRED, asks_images).chosen([Way("best", "surplus", 2)], 3, seed=1)
    assert found["chosen best"].tolist() == UNPAIRED[np.argsort(-hard)[:3]].tolist()
    assert found["hard best"] == hard_negative_share(hard)


def test_core_set_compares_mean_regions():
    found = Round(Regioned(), LESSONS, PAIRED).chosen(ways_of(("core-set",), (1,), (None,)), 4, seed=1)
    means = REGIONS.mean(1)
    assert found["chosen core-set"].tolist() == UNPAIRED[core_set(means[PAIRED], means[UNPAIRED], 4)].tolist()


class Tripled(Regioned):
    """Three regions (1, 0) an image, but: two of image 0 are (0, 5) and (0, -5), one of image 2 is (0, 90). The mean of
    image 2 is farther from the others', and the bag of image 0: (1, 1, 1) is farther from (3) than (2, 1)."""

    def encode_images(self, images):
        regions = np.tile([1.0, 0.0], (N, 3, 1))
        regions[0, :2] = [[0, 5], [0, -5]]
        regions[2, 0] = [0, 90]
        return regions[places(images)]


@pytest.mark.parametrize(("score", "farthest"), [("core-set", 2), ("core-set-bags", 0)])
def test_core_set_chooses_the_farthest_mean_or_bag(score, farthest):
    found = Round(Tripled(), LESSONS, PAIRED).chosen([Way("way", score)], 1, seed=1)
    assert found["chosen way"].tolist() == [farthest]


def test_equal_scores_and_mini_batches_follow_the_seed():
    state = Round(Scorer(), LESSONS, PAIRED)
    ways = [Way("surplus", "surplus"), Way("random", "random")]
    one, again, other = (state.chosen(ways, 5, seed) for seed in (3, 3, 4))
    assert one["chosen surplus"].tolist() == one["chosen random"].tolist() == again["chosen random"].tolist()
    assert one["chosen random"].tolist() != other["chosen random"].tolist()
    small = Round(Regioned(), LESSONS, PAIRED)
    shares = {float(small.chosen([Way("few", "count", 1, 2)], 2, seed)["hard few"]) for seed in range(6)}
    assert len(shares) > 1


def test_a_grid_names_what_differs():
    assert [way.name for way in ways_of(("count", "random"), (1,), (None,))] == ["count", "random"]
    grid = ways_of(("count",), (1, 5), (None, 64))
    assert [way.name for way in grid] == [
        "count-full-top-1",
        "count-full-top-5",
        "count-mini-64-top-1",
        "count-mini-64-top-5",
    ]
    assert grid[3] == Way("count-mini-64-top-5", "count", 5, 64)


@pytest.mark.parametrize(
    ("score", "message"), [("core-set", "needs embeddings"), ("core-set-bags", "several embeddings")]
)
def test_core_set_needs_embeddings(score, message):
    with pytest.raises(CounterpartError, match=message):
        Round(Scorer(), LESSONS, PAIRED).chosen([Way(score, score)], 2, seed=0)
