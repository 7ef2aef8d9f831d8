"""Inputs of images and captions that are hard to search, named by what makes them hard."""

import numpy as np


def unit(rng, n, dimensions=24):
    vectors = rng.standard_normal((n, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def random(rng):
    return unit(rng, 300), unit(rng, 700)


def ascending(rng):
    images, captions = unit(rng, 300), unit(rng, 700)
    return images, captions[np.argsort(captions @ images[0])]


def with_duplicates(rng):
    images, captions = unit(rng, 300), unit(rng, 700)
    captions[rng.integers(0, 700, 200)] = captions[rng.integers(0, 700, 200)]
    return images, captions


def few_different(rng):
    return unit(rng, 7)[rng.integers(0, 7, 300)], unit(rng, 9)[rng.integers(0, 9, 700)]


def all_the_same(rng):
    return np.ones((300, 24), np.float32), np.ones((700, 24), np.float32)


def tight(rng):
    """A narrow cone: scores differ in the fourth digit."""
    return (np.ones(24) + 0.01 * unit(rng, 300)).astype(np.float32), (np.ones(24) + 0.01 * unit(rng, 700)).astype(
        np.float32
    )


def tighter_than_float32(rng):
    """Different vectors in float64 that are one in float32."""
    return np.ones(24) + 1e-9 * unit(rng, 300), np.ones(24) + 1e-9 * unit(rng, 700)


def crowded_near_some(rng):
    """Most captions crowd around one place, so that bfloat16 cannot separate their scores."""
    captions = np.concatenate([unit(rng, 1) + 1e-4 * unit(rng, 400), unit(rng, 300)]).astype(np.float32)
    return np.concatenate([unit(rng, 280), captions[:20]]), captions


def of_all_lengths(rng):
    return unit(rng, 300) * np.logspace(-9, 9, 300, dtype=np.float32)[:, None], unit(rng, 700) * 1e-6


def balanced_signs(rng):
    """Equal scores of vectors that are all different, more than any buffer holds."""
    return np.ones((300, 24), np.float32), rng.permuted(np.tile(np.float32([1, -1] * 12), (700, 1)), axis=1)


def misleading(rng):
    """The best captions are rounded down and the others up; scores are small, the terms of their sums large."""
    unit_in_last_place, n = 2.0**-7, 700
    captions = np.ones((n, 64)) + 1e-5 * rng.random((n, 64))
    raised = np.arange(32) < rng.integers(8, 31, (680, 1))
    captions[:680, :32] += 0.51 * unit_in_last_place * raised
    captions[680:, :32] += 0.49 * unit_in_last_place
    images = np.tile(np.repeat([1.0, -1.0], 32), (300, 1)) * np.arange(1, 301)[:, None]
    return images.astype(np.float32), captions.astype(np.float32)


def in_float16(rng):
    return unit(rng, 300).astype(np.float16), unit(rng, 700).astype(np.float16)


HARD = [
    random, ascending, with_duplicates, few_different, all_the_same, tight, tighter_than_float32, crowded_near_some,
    of_all_lengths, balanced_signs, misleading, in_float16,
]  # fmt: skip
