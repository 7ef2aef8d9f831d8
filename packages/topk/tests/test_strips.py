from functools import cache

import numpy as np
import pytest

from counterpart_topk import bidirectional_topk
from first_passes import take_first
from slow_topk import Reference, assert_best
from topk_inputs import crowded_near_some, random, tight, with_duplicates


class KilledError(Exception):
    """In place of the end of a process."""


class Memory(dict):
    """Keeps checkpoints of a search until it is killed after some number of writes."""

    def __init__(self, lives: int) -> None:
        self.lives = lives

    def save(self, name, **arrays):
        self.lives -= 1
        if self.lives < 0:
            raise KilledError
        self[name] = {key: array.copy() for key, array in arrays.items()}

    def load(self, name):
        return self.get(name)


@cache
def reference_of_fewer(make) -> Reference:
    images, captions = make(np.random.default_rng(9))
    return Reference(images, captions[::3], 10)


@pytest.mark.slow
@pytest.mark.parametrize("make", [with_duplicates, crowded_near_some, tight])
@pytest.mark.parametrize("lives", [0, 1, 2, 5, 12])
def test_a_killed_search_goes_on_from_its_last_strip(make, lives, monkeypatch):
    take_first("bfloat16", monkeypatch)  # of all passes it leaves most to the one after it
    best = reference_of_fewer(make)
    images, captions = best.images, best.captions
    store = Memory(lives)
    with pytest.raises(KilledError):
        bidirectional_topk(images, captions, 10, memory=100_000, store=store)
    store.lives = 10_000
    steps = []
    found = bidirectional_topk(
        images, captions, 10, memory=100_000, store=store, progress=lambda step, done, total: steps.append(done)
    )
    best.hold(found)
    if lives >= 2 and make is with_duplicates:
        assert steps[0] > len(captions) * 30 * (lives // 2)  # strips are of 31 images


def test_a_lost_strip_is_searched_again():
    images, captions = random(np.random.default_rng(9))
    store = Memory(lives=10_000)
    bidirectional_topk(images, captions, 10, memory=100_000, store=store)
    del store["rows-0"]
    assert_best(bidirectional_topk(images, captions, 10, memory=100_000, store=store), images, captions, 10)
