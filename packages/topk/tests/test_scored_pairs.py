"""Which pairs are scored, in which order, and the best of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpart_topk.scored_pairs import BestSoFar, ListedPairs, SampledPairs


@st.composite
def samples(draw):
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    images = draw(st.sets(st.integers(0, n - 1)))
    captions = draw(st.sets(st.integers(0, m - 1)))
    return (n, m), np.array(sorted(images), dtype=np.int64), np.array(sorted(captions), dtype=np.int64)


@settings(max_examples=40)
@given(samples(), st.integers(1, 9))
def test_sampled_pairs_are_all_with_a_query_on_either_side_by_image_then_caption(sample, step):
    shape, images, captions = sample
    pairs = SampledPairs(*sample)
    wanted = [(i, c) for i in range(shape[0]) for c in range(shape[1]) if i in images or c in captions]
    parts = [pairs.part(start, start + step) for start in range(0, len(pairs), step)]
    assert [pair for part in parts for pair in zip(*(side.tolist() for side in part), strict=True)] == wanted
    assert len(pairs) == len(wanted)


def test_listed_pairs_are_each_once_and_never_those_that_fill_up():
    of_images = np.array([[0], [4]]), np.array([[3, 1], [2, -1]])
    of_captions = np.array([[4, 0], [0, 4]]), np.array([[2], [3]])
    pairs = ListedPairs(10, [of_images, of_captions])
    images, captions = pairs.part(0, 99)
    assert list(zip(images.tolist(), captions.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3), (4, 2), (4, 3)]
    assert len(pairs) == 5


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 40))
def test_the_best_so_far_are_the_best_of_all_however_they_stream_by(seed, k, step):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (6, 20)).astype(np.float32)
    queries = np.sort(rng.choice(6, rng.integers(1, 7), replace=False))
    best = BestSoFar(6, queries, k)
    asking, items = np.divmod(np.arange(120), 20)
    for start in range(0, 120, step):
        part = slice(start, start + step)
        best.feed(asking[part], items[part], scores[asking[part], items[part]])
    wanted = [sorted(range(20), key=lambda item: (-row[item], item))[:k] for row in scores[queries]]
    assert best.found[0].tolist() == wanted
    np.testing.assert_array_equal(best.found[1], np.take_along_axis(scores[queries], best.found[0], 1))
