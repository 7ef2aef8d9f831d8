from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from counterpart_annotators.training.learners import Batches, disjoint
from little import make_examples

EXAMPLES = make_examples(20)


def pairs_of(batches) -> list[tuple[str, str]]:
    return [(i.key, c.key) for batch in batches for i, c in zip(batch.images, batch.captions, strict=True)]


def test_no_image_and_no_caption_is_twice_in_a_batch():
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 12, size=(400, 2))
    for batch in disjoint(pairs, 8):
        assert len(set(batch[:, 0])) == len(set(batch[:, 1])) == len(batch) <= 8


def test_every_pair_comes_once_an_epoch():
    assert Counter(pairs_of(Batches(EXAMPLES, 8).of_epoch(0, 1))) == Counter(
        (str(place // 2), str(place)) for place in range(40)
    )


def test_a_caption_of_very_many_images_ends_no_epoch_early():
    hub = np.array([[i, 0] for i in range(100)] + [[i, i] for i in range(1, 100)])
    dealt = np.concatenate(list(disjoint(hub, 4)))
    assert set(map(tuple, hub[100:].tolist())) <= set(map(tuple, dealt.tolist()))


@pytest.mark.parametrize("other", [(1, 1), (0, 2)])
def test_seed_and_number_decide_the_order(other):
    batches = Batches(EXAMPLES, 8)
    first = pairs_of(batches.of_epoch(0, 1))
    assert first == pairs_of(batches.of_epoch(0, 1)) != pairs_of(batches.of_epoch(*other))


def test_further_known_matches_are_marked():
    crossed = replace(EXAMPLES, pairs=np.array([[0, 0], [1, 2], [0, 2]]), weights=np.ones(3, dtype=np.float32))
    for batch in Batches(crossed, 8).of_epoch(0, 1):
        assert not batch.known.diagonal().any()
        for row, image in enumerate(batch.images):
            for column, caption in enumerate(batch.captions):
                further = (image.key, caption.key) == ("0", "2") and row != column
                assert batch.known[row, column] == further


def test_a_pair_that_weighs_half_takes_part_every_other_time():
    weights = np.ones(40, dtype=np.float32)
    weights[0] = 0.5
    batches = Batches(replace(EXAMPLES, weights=weights), 8)
    came = Counter(pair for epoch in range(100) for pair in pairs_of(batches.of_epoch(0, epoch)))
    assert came["1", "2"] >= 95  # but for the odd pair left over alone
    assert came["0", "0"] == pytest.approx(50, abs=20)


def test_an_epoch_that_drew_too_few_takes_all():
    few = replace(EXAMPLES, pairs=EXAMPLES.pairs[[0, 2, 4]], weights=np.array([1, 0.01, 0.01], dtype=np.float32))
    assert all(len(pairs_of(Batches(few, 8).of_epoch(0, epoch))) >= 2 for epoch in range(20))
