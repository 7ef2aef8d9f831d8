"""KCCA as an annotator, on plain pictures whose captions name their colours."""

from dataclasses import replace

import numpy as np
import pytest
from django.core.management import call_command

from core.errors import CounterpartError
from mitl.annotators import load
from mitl.annotators.base import EmbeddingAnnotator, ListAnnotator
from mitl.annotators.kcca import annotator as kcca
from mitl.annotators.kcca.annotator import best_of, dimensions, recalls_of
from mitl.checkpoints import Checkpoints
from mitl.models import Annotator, Direction
from mitl.training.learners import TrainingPlan, TrainingSet
from tests.mitl.annotators.learned import (
    annotator_of,
    colour_of,
    colours_found,
    gallery,
    learned_once,
    settings_of,
    trained_arrays,
    training_set,
)

SMALL = {"colour_words": 16, "texture_words": 8, "sift_words": 4, "picture": 48, "dim": 5, "idf": "none"}


def validated(colours) -> TrainingSet:
    """The training split; the gallery is its validation split, each picture with the captions of its colour."""
    images, captions = gallery(colours)
    pairs = np.array(
        [(i, c) for i, a in enumerate(images) for c, b in enumerate(captions) if colour_of(a.key) == colour_of(b.key)]
    )
    split = TrainingSet(images, captions, pairs, np.ones(len(pairs), dtype=np.float32))
    return replace(training_set(colours), validation=split)


def plan_of(tmp_path, **options) -> TrainingPlan:
    return TrainingPlan(settings_of("kcca", **SMALL | options), "", 0, "cpu", Checkpoints(tmp_path))


def trained(examples: TrainingSet, plan: TrainingPlan):
    return kcca.train(examples, plan, lambda step, done, total: None)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["bow1", "bow5", "tagrank", "tri5", "tri5sem"])
def test_it_finds_colours_by_every_text_kernel(colours, text):
    arrays = trained_arrays("kcca", colours, loss="", **SMALL, text=text)
    annotator = load(annotator_of("kcca", arrays, **SMALL, text=text))
    assert isinstance(annotator, EmbeddingAnnotator)
    assert colours_found(annotator, colours) == 1


def test_it_finds_colours_by_histograms_of_the_whole(colours):
    arrays = trained_arrays("kcca", colours, loss="", **SMALL, image="histogram")
    assert colours_found(load(annotator_of("kcca", arrays, **SMALL, image="histogram")), colours) == 1


def test_embeddings_are_of_length_one_and_do_not_depend_on_their_company(colours):
    arrays = learned_once("kcca", colours, loss="", **SMALL)
    annotator = load(annotator_of("kcca", arrays, **SMALL))
    images, captions = gallery(colours)
    together, alone = annotator.encode_images(images), np.concatenate([annotator.encode_images([i]) for i in images])
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert together.dtype == np.float32
    assert np.allclose(together, alone, atol=1e-6)
    assert annotator.encode_captions(captions).shape == (len(captions), together.shape[1])


def test_fewer_pivots_than_images_make_do(colours):
    arrays = trained_arrays("kcca", colours, loss="", **SMALL, rank=8)
    assert len(arrays["pivot_signatures"]) == 8
    assert colours_found(load(annotator_of("kcca", arrays, **SMALL, rank=8)), colours) == 1


def test_several_settings_vote(colours, tmp_path):
    arrays = trained(validated(colours), plan_of(tmp_path, models=15)).arrays
    annotator = load(annotator_of("kcca", arrays, **SMALL, models=15))
    assert isinstance(annotator, ListAnnotator)
    assert arrays["image_directions"].shape[0] == 4
    images, captions = gallery(colours)
    places, scores = annotator.lists_of(Direction.IMAGE_TO_CAPTION, images, captions)
    assert [colour_of(captions[place].key) for place in places[:, 0]] == [colour_of(image.key) for image in images]
    assert np.array_equal(np.sort(places, axis=1), np.tile(np.arange(len(captions)), (len(images), 1)))
    assert scores[0, :2].tolist() == pytest.approx([1, 1 - 1 / len(captions)])


def test_it_is_trained_with_votes_and_searches_by_command(colours):
    few = [f"--option={name}={value}" for name, value in SMALL.items()]
    call_command("add_annotator", "kcca", "--kind", "kcca", "--option=models=3", *few)
    call_command("train_annotator", "kcca", "--collection", "colours", "--validation", "held-out")
    call_command("retrieve", "colours", "--annotators", "kcca", "--depth", "2")
    assert Annotator.objects.get(name="kcca").retrievals.exists()


def test_votes_need_a_validation_split(colours, tmp_path):
    with pytest.raises(CounterpartError, match="models=15 chooses settings on a validation split, and there is none"):
        trained(training_set(colours), plan_of(tmp_path, models=15))


def test_captions_that_say_nothing_are_refused(colours, tmp_path):
    colours.captions.update(text="it is")
    with pytest.raises(CounterpartError, match="Only 0 of 24 training images have captions with a word"):
        trained(training_set(colours), plan_of(tmp_path))


def test_a_third_of_the_votes_goes_to_each_recall_and_none_twice():
    recalls = np.array([[0.9, 0.1, 0.2], [0.8, 0.9, 0.3], [0.1, 0.8, 0.4], [0.1, 0.1, 0.1]])
    assert best_of(recalls, 3) == [0, 1, 2]
    assert best_of(recalls, 6) == [0, 1, 2, 3]


def test_recalls_count_queries_whose_positive_stands_alone_at_the_top():
    scores = np.array([[0.9, 0.1, 0.5], [0.9, 0.9, 0.1]])
    positive = np.array([[True, False, False], [False, True, False]])
    assert recalls_of(scores, positive).tolist() == [0.5, 1, 1]


@pytest.mark.parametrize(("most", "first", "last"), [(1000, 10, 1000), (7, 7, 7)])
def test_dimensions_run_from_ten_to_the_most(most, first, last):
    found = dimensions(most)
    assert (found[0], found[-1]) == (first, last)
    assert len(found) <= 46


def test_the_same_seed_trains_the_same_arrays(colours):
    first, second = (train("kcca", colours, loss="", **SMALL) for train in (learned_once, trained_arrays))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_its_page_tells_both_kernels(colours):
    arrays = learned_once("kcca", colours, loss="", **SMALL)
    told = kcca.architecture(settings_of("kcca", **SMALL), arrays)
    assert told["picture kernel"].startswith("pyramid of ")
    assert told["score"] == "cosine"
