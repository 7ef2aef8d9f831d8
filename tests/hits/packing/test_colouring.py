"""Packing against the rules of a HIT: worked cases, and any pool that hypothesis thinks of."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.packing.colouring import pack_pairs
from hits.packing.plan import count_shared, distinct


def pack(pairs, capacity, *, sharing="avoid", seed=0):
    images, captions = np.array(sorted(pairs), np.int64).T
    packed = pack_pairs(images, captions, capacity=capacity, sharing=sharing, rng=np.random.default_rng(seed))
    return packed, images, captions


def fewest_shared(codes: np.ndarray, hits: int) -> int:
    """No packing repeats a thing less: of d pairs, at most one a HIT repeats nothing."""
    return sum(max(0, int((codes == code).sum()) - hits) for code in set(codes.tolist()))


POOLS = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=80)


@settings(max_examples=150, deadline=None)
@given(pairs=POOLS, capacity=st.integers(1, 9), seed=st.integers(0, 99))
def test_every_pair_is_packed_once_and_nothing_is_shared_that_need_not_be(pairs, capacity, seed):
    packed, images, captions = pack(pairs, capacity, seed=seed)
    hits = -(-len(pairs) // capacity)
    sizes = np.bincount(packed, minlength=hits)
    assert sizes.sum() == len(pairs)
    assert len(sizes) == hits
    assert sizes.max() <= capacity
    assert (np.diff(sizes) <= 0).all()
    assert count_shared(packed, images) == fewest_shared(images, hits)
    assert count_shared(packed, captions) == fewest_shared(captions, hits)


@settings(max_examples=50, deadline=None)
@given(pairs=POOLS, capacity=st.integers(1, 9), sharing=st.sampled_from(["avoid", "allow"]))
def test_the_same_seed_packs_alike(pairs, capacity, sharing):
    once, again = (pack(pairs, capacity, sharing=sharing, seed=5)[0] for _ in range(2))
    assert once.tobytes() == again.tobytes()


def test_images_that_must_be_in_every_hit_are():
    """16 images with 200 captions each, in 200 HITs of 16: first fit alone gets stuck in the last of them."""
    packed, images, captions = pack({(i, c) for i in range(16) for c in range(200)}, 16)
    assert np.bincount(packed).tolist() == [16] * 200
    assert count_shared(packed, images) == count_shared(packed, captions) == 0


def test_swaps_find_the_only_packing_where_first_fit_is_stuck():
    """A path of three pairs in HITs of two: the middle pair must be alone, whichever comes first."""
    for seed in range(20):
        packed, images, captions = pack({(0, 0), (1, 0), (1, 1)}, 2, seed=seed)
        assert packed.tolist() == [0, 1, 0]


def test_where_sharing_is_allowed_hits_are_chunks_of_the_shuffle():
    packed, images, _ = pack({(0, caption) for caption in range(50)}, 16, sharing="allow")
    assert np.bincount(packed).tolist() == [16, 16, 16, 2]
    assert count_shared(packed, images) == 46


@pytest.mark.parametrize(
    ("hits", "things", "shared"),
    [([0, 0, 0], [1, 1, 2], 1), ([0, 0, 0], [1, 1, 1], 2), ([0, 1, 2], [1, 1, 1], 0), ([], [], 0)],
)
def test_sharing_counts_what_repeats_within_a_hit(hits, things, shared):
    assert count_shared(np.array(hits, np.int64), np.array(things, np.int64)) == shared


@pytest.mark.parametrize("numbers", [[], [3], [2, 2], [5, 1, 5, 0, 1]])
def test_distinct_numbers_come_once_and_ascending(numbers):
    assert distinct(np.array(numbers, np.int64)).tolist() == sorted(set(numbers))


def test_a_hundred_thousand_pairs_with_hubs_are_packed_without_sharing():
    """As many as 6,000 queries to five annotators give; the most frequent image is in a fifth of the HITs."""
    rng = np.random.default_rng(0)
    weights = 1 / np.arange(1, 1_001) ** 0.6
    cells = rng.choice(1_000, 140_000, p=weights / weights.sum()) * 5_000 + rng.integers(0, 5_000, 140_000)
    images, captions = np.divmod(np.unique(cells), 5_000)
    assert len(images) > 100_000
    assert np.bincount(images).max() > len(images) / 16 / 5
    packed = pack_pairs(images, captions, capacity=16, sharing="avoid", rng=rng)
    sizes = np.bincount(packed)
    assert len(sizes) == -(-len(images) // 16)
    assert (sizes[:-1] == 16).all()
    assert count_shared(packed, images) == count_shared(packed, captions) == 0
