"""KCCA on plain pictures whose captions name their colours."""

from dataclasses import replace

import numpy as np
import pytest

from coloured import (
    all_of_a_colour,
    colour_of,
    colours_found,
    gallery,
    learned_once,
    opened,
    trained_arrays,
    training_set,
)
from counterpart_annotators.base import EmbeddingAnnotator, ListAnnotator
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.kinds.kcca import annotator as kcca
from counterpart_annotators.kinds.kcca.annotator import best_of, recalls_of
from counterpart_annotators.plain import TO_CAPTIONS
from counterpart_annotators.progress import silent
from counterpart_annotators.training.learners import TrainingPlan, TrainingSet
from counterpart_metrics.errors import CounterpartError
from pretrained import settings_of

SMALL = {"colour_words": 16, "texture_words": 8, "sift_words": 4, "picture": 48, "dim": 5, "idf": "none"}


def trained(examples: TrainingSet, tmp_path, **options):
    plan = TrainingPlan(settings_of("kcca", **SMALL | options), "", 0, "cpu", Checkpoints(tmp_path))
    return kcca.train(examples, plan, silent)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["bow1", "bow5", "tagrank", "tri5", "tri5sem"])
def test_it_finds_colours_by_every_text_kernel(text):
    annotator = opened("kcca", trained_arrays("kcca", **SMALL, text=text), **SMALL, text=text)
    assert isinstance(annotator, EmbeddingAnnotator)
    assert colours_found(annotator) == 1


def test_embeddings_are_of_length_one_and_do_not_depend_on_their_company():
    annotator = opened("kcca", learned_once("kcca", **SMALL), **SMALL)
    images, captions = gallery()
    together, alone = annotator.encode_images(images), np.concatenate([annotator.encode_images([i]) for i in images])
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert together.dtype == np.float32
    assert np.allclose(together, alone, atol=1e-6)
    assert annotator.encode_captions(captions).shape == (len(captions), together.shape[1])


def test_fewer_pivots_than_images_make_do():
    arrays = trained_arrays("kcca", **SMALL, rank=8)
    assert len(arrays["pivot_signatures"]) == 8
    assert colours_found(opened("kcca", arrays, **SMALL, rank=8)) == 1


def test_several_settings_vote(tmp_path):
    images, captions = gallery()
    validated = replace(training_set(), validation=all_of_a_colour(images, captions))
    arrays = trained(validated, tmp_path, models=15).arrays
    annotator = opened("kcca", arrays, **SMALL, models=15)
    assert isinstance(annotator, ListAnnotator)
    assert arrays["image_directions"].shape[0] == 4
    places, scores = annotator.lists_of(TO_CAPTIONS, images, captions)
    assert [colour_of(captions[place].key) for place in places[:, 0]] == [colour_of(image.key) for image in images]
    assert np.array_equal(np.sort(places, axis=1), np.tile(np.arange(len(captions)), (len(images), 1)))
    assert scores[0, :2].tolist() == pytest.approx([1, 1 - 1 / len(captions)])


def test_votes_need_a_validation_split(tmp_path):
    with pytest.raises(CounterpartError, match="models=15"):
        trained(training_set(), tmp_path, models=15)


def test_captions_that_say_nothing_are_refused(tmp_path):
    examples = training_set()
    silenced = replace(examples, captions=[replace(caption, text="it is") for caption in examples.captions])
    with pytest.raises(CounterpartError, match="Only 0 of 24 training images"):
        trained(silenced, tmp_path)


def test_a_third_of_the_votes_goes_to_each_recall_and_none_twice():
    recalls = np.array([[0.9, 0.1, 0.2], [0.8, 0.9, 0.3], [0.1, 0.8, 0.4], [0.1, 0.1, 0.1]])
    assert best_of(recalls, 3) == [0, 1, 2]
    assert best_of(recalls, 6) == [0, 1, 2, 3]


def test_recalls_count_queries_whose_positive_is_alone_at_the_top():
    scores = np.array([[0.9, 0.1, 0.5], [0.9, 0.9, 0.1]])
    positive = np.array([[True, False, False], [False, True, False]])
    assert recalls_of(scores, positive).tolist() == [0.5, 1, 1]
