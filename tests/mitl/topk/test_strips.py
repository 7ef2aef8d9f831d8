from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mitl.topk import bidirectional_topk, join_strips, topk_of_strip
from tests.mitl.topk.first_passes import take_first
from tests.mitl.topk.inputs import crowded_near_some, random, tight, with_duplicates
from tests.mitl.topk.references import Reference, assert_best


@settings(max_examples=12, deadline=None)
@given(st.sets(st.integers(1, 299), max_size=6), st.randoms(use_true_random=False))
def test_strips_searched_apart_join_to_the_very_same_bits(cuts, shuffler):
    images, captions = with_duplicates(np.random.default_rng(8))
    whole = bidirectional_topk(images, captions, 25)
    edges = [0, *sorted(cuts), 300]
    strips = [topk_of_strip(images, captions, 25, slice(*edge)) for edge in zip(edges, edges[1:], strict=False)]
    shuffler.shuffle(strips)
    joined = join_strips(strips)
    for part in ("i2t_indices", "i2t_scores", "t2i_indices", "t2i_scores"):
        assert getattr(joined, part).tobytes() == getattr(whole, part).tobytes()


def test_strips_that_leave_a_gap_are_refused():
    images, captions = random(np.random.default_rng(8))
    strips = [topk_of_strip(images, captions, 3, part) for part in (slice(0, 100), slice(101, 300))]
    with pytest.raises(ValueError, match="do not follow one another"):
        join_strips(strips)
    with pytest.raises(ValueError, match="The strip 200:301 does not lie within the 300 images"):
        topk_of_strip(images, captions, 3, slice(200, 301))


class KilledError(Exception):
    """Stands for the end of a process."""


class Memory(dict):
    """Keeps checkpoints of a search until it is killed after so many writes."""

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
