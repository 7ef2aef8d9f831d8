import csv
import gzip
import json
from collections import defaultdict

import numpy as np
import pytest

from counterpart_annotators.words import UNLIKELY_BELOW, bleu_1


def test_words_count_after_stemming_and_without_stop_words():
    # two, dog, run beside dog, run and dog, jump
    assert bleu_1("Two dogs are running", ["a dog runs", "the dog jumped"]) == pytest.approx(2 / 3)


def test_a_word_counts_as_often_as_one_reference_has_it():
    assert bleu_1("dog dog dog", ["a dog and a dog", "dog"]) == pytest.approx(2 / 3)


def test_a_caption_of_the_image_itself_is_one():
    assert bleu_1("A dog runs", ["A cat sleeps", "A dog runs"]) == 1


def test_short_captions_are_not_punished():
    assert bleu_1("dog", ["a big brown dog runs over the grass"]) == 1


def test_hyphens_part_words():
    assert bleu_1("a tee-shirt", ["a shirt"]) == pytest.approx(1 / 2)


@pytest.mark.parametrize(("caption", "references"), [("it is", ["it is"]), ("", ["dog"]), ("dog", [])])
def test_where_there_is_nothing_to_share_it_is_nothing(caption, references):
    assert bleu_1(caption, references) == 0


@pytest.mark.shared
@pytest.mark.slow
def test_on_coco_it_drops_most_pairs_and_few_good_ones(shared):
    """Hodosh et al. dropped 86.0% of Flickr8k's pairs and 6.7% of the good ones; COCO is more varied, so more go."""
    texts, own = {}, defaultdict(list)
    with gzip.open(shared / "data" / "coco_test_captions.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            texts[row["caption_id"]] = row["text"]
            own[row["image_id"]].append(row["text"])
    rng = np.random.default_rng(0)
    by_lot = [
        bleu_1(*pair) for pair in zip(rng.choice(list(texts.values()), 5000), random_images(own, rng), strict=True)
    ]
    good = [bleu_1(texts[c], own[i]) for c, i in rated(shared / "data" / "cxc" / "sits_test.csv.gz", 4.0) if c in texts]
    assert 0.90 < np.mean(np.array(by_lot) < UNLIKELY_BELOW) < 0.94
    assert 0.06 < np.mean(np.array(good) < UNLIKELY_BELOW) < 0.09


def random_images(own: dict, rng: np.random.Generator) -> list[list[str]]:
    images = list(own.values())
    return [images[place] for place in rng.integers(len(images), size=5000)]


def rated(path, least: float) -> list[tuple[int, int]]:
    """Captions and images of others that raters gave ``least`` of 5 or more."""
    with gzip.open(path, "rt") as file:
        return [
            (int(row["caption"].rsplit(":")[-1]), int(row["image"].rsplit("_")[-1].removesuffix(".jpg")))
            for row in csv.DictReader(file)
            if row["sampling_method"] == "c2i_intrasim" and float(row["agg_score"]) >= least
        ]
