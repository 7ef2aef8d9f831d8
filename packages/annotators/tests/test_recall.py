import numpy as np
import pytest

from counterpart_annotators.base import CrossEncoder, EmbeddingAnnotator, JointScores
from counterpart_annotators.training.learners import in_order
from counterpart_annotators.training.recall import measure, rsum
from little import make_examples

SPLIT = make_examples(3)


class Fixed(EmbeddingAnnotator):
    """Embeddings whose inner products are the given scores (3, 6)."""

    looks_at_pictures = False

    def __init__(self, scores):
        self._given = np.asarray(scores, dtype=np.float32)

    def encode_images(self, images):
        return np.eye(3, dtype=np.float32)[[int(image.key) for image in images]]

    def encode_captions(self, captions):
        return self._given.T[[int(caption.key) for caption in captions]]


class Joint(CrossEncoder, JointScores):
    """A cross-encoder of fixed scores that notes what it is asked."""

    looks_at_pictures = False
    batch_size = 4

    def __init__(self, score):
        self._score, self.asked = score, []

    def ready(self, images, captions):
        self._captions = len(captions)
        return self

    def pairs(self, images, captions):
        assert len(images) <= self.batch_size
        self.asked += (images * self._captions + captions).tolist()
        return self._score(images, captions).astype(np.float32)


def test_recall_worked_by_hand():
    # Image 0 finds its caption 1 first, image 1 its caption 3 third, image 2 its caption 4 sixth.
    scores = [[0, 9, 1, 1, 1, 1], [5, 4, 0, 3, 1, 1], [6, 5, 4, 3, 2, 1]]
    recalls = measure(Fixed(scores), SPLIT)
    assert (recalls["i2t R@1"], recalls["i2t R@5"], recalls["i2t R@10"]) == (33.33, 100.0, 100.0)
    # Captions 0 to 5 find their image third, first, third, in the first of equals (1) of two, first, in the last of
    # equals.
    assert recalls["t2i R@1"] == pytest.approx(100 * 3 / 6)
    assert recalls["rsum"] == pytest.approx(sum(recalls.values()) - recalls["rsum"], abs=0.05)
    assert rsum(recalls) == recalls["rsum"]


def test_a_cross_encoder_ranks_few_pairs_and_says_so():
    split = make_examples(40)
    annotator = Joint(lambda images, captions: (captions // 2 == images) * 1.0)
    recalls = measure(annotator, split)
    assert set(recalls) == {f"{d} R@{k} of 16" for d in ("i2t", "t2i") for k in (1, 5, 10)} | {"rsum of 16"}
    assert rsum(recalls) == 600
    assert annotator.asked == sorted(set(annotator.asked))
    assert len(annotator.asked) <= 2 * 80 * 16


def test_a_cross_encoder_s_chance_is_one_in_sixteen():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(300, 600))
    recalls = measure(Joint(lambda images, captions: noise[images, captions]), make_examples(300))
    assert recalls["i2t R@1 of 16"] == pytest.approx(100 / 16, abs=8)


def test_a_split_smaller_than_sixteen_gives_what_it_has():
    assert rsum(measure(Joint(lambda images, captions: -np.abs(captions // 2 - images)), SPLIT)) == 600


@pytest.mark.parametrize("ending", ["", " of 16"])
def test_recalls_that_lost_their_order_find_it_again(ending):
    names = [f"{way} R@{k}{ending}" for way in ("i2t", "t2i") for k in (1, 5, 10)] + [f"rsum{ending}"]
    assert list(in_order(dict.fromkeys(sorted(names, key=len), 1.0))) == names
