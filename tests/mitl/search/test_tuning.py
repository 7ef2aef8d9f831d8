import numpy as np
import pytest

from core.errors import CounterpartError
from counterpart_annotators.base import EmbeddingAnnotator
from counterpart_annotators.kinds.overlap import OverlapScores
from mitl.annotators import load
from mitl.search.retrieval import Estimate
from mitl.search.tuning import validation_blocks
from tests.factories import make_annotator, make_collection


class Embeds(EmbeddingAnnotator):
    """Embeds image i and the captions of image i alike, distinguished by their keys."""

    looks_at_pictures = False

    def encode_images(self, images):
        return np.array([[1.0, int(image.key)] for image in images], dtype=np.float32)

    def encode_captions(self, captions):
        return np.array([[1.0, int(caption.key) // 2] for caption in captions], dtype=np.float32)


@pytest.fixture
def zoo(db):
    """Images 2 and 4 of six, with two captions each, are the validation split."""
    zoo = make_collection(images=6, captions_each=2)
    zoo.images.filter(key__in=["2", "4"]).update(split="val")
    return zoo


def test_the_blocks_hold_the_validation_split_and_its_original_pairs(zoo):
    blocks, positives = validation_blocks(Embeds(), zoo)
    assert blocks.block(slice(0, 2), slice(0, 4)).tolist() == [[5, 5, 9, 9], [9, 9, 17, 17]]
    assert positives.tolist() == [[0, 0], [0, 1], [1, 2], [1, 3]]


def test_a_pair_scorer_scores_the_same_split(zoo):
    blocks, _ = validation_blocks(load(make_annotator()), zoo)
    texts = list(zoo.captions.filter(image__split="val").values_list("text", flat=True))
    scores = OverlapScores(texts, [0, 0, 1, 1], 2).block(np.arange(2), np.arange(1, 4))
    np.testing.assert_array_equal(blocks.block(slice(0, 2), slice(1, 4)), scores)


def test_a_collection_without_that_split_is_refused(db):
    zoo = make_collection(split="test")
    with pytest.raises(CounterpartError, match="split 'val'.*: test"):
        validation_blocks(Embeds(), zoo)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.01, "1 s"), (89, "89 s"), (90, "2 min"), (89 * 60, "89 min"), (91 * 60, "2 h"), (50 * 3600, "2 days")],
)
def test_times_are_in_the_unit_that_fits(seconds, text):
    usual = {"at_most": False, "kept": 0, "measured_batches": 3, "device": "cpu", "cascaded": 0}
    estimate = Estimate(annotator="vilt", pairs=seconds * 10, pairs_a_second=10.0, **usual)
    assert f", about {text} at 10 " in str(estimate)
