from collections import Counter
from math import log, sqrt

import numpy as np
import pytest

from mitl.annotators.embedding.annotator import RIDGE, _ridge
from mitl.annotators.overlap import OverlapScores

TEXTS = ["A red dog.", "a dog runs", "Two cats", "two RED cats", "a red car", "???"]
OWN = [0, 0, 1, 1, 2, 2]


def slow_scores(texts: list[str], own: list[int], n_images: int) -> np.ndarray:
    """The definition, pair by pair, with dictionaries."""
    bags = [Counter(text.lower().replace(".", "").replace("?", "").split()) for text in texts]
    idf = {word: log(1 + len(bags) / sum(word in bag for bag in bags)) for bag in bags for word in bag}

    def cosine(one: Counter, other: Counter) -> float:
        def dot(a: Counter, b: Counter) -> float:
            return sum(n * b[word] * idf[word] ** 2 for word, n in a.items())

        lengths = sqrt(dot(one, one) * dot(other, other))
        return dot(one, other) / lengths if lengths else 0.0

    def image(i: int, without: int) -> Counter:
        return sum((bags[c] for c, of in enumerate(own) if of == i and c != without), Counter())

    return np.array([[cosine(bags[c], image(i, c)) for c in range(len(bags))] for i in range(n_images)])


def all_scores(texts: list[str], own: list[int], n_images: int) -> np.ndarray:
    return OverlapScores(texts, own, n_images).block(np.arange(n_images), np.arange(len(texts)))


def test_random_texts_agree_with_the_definition():
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(list("abcdefgh"), size=rng.integers(0, 6))) for _ in range(40)]
    own = rng.integers(0, 12, 40).tolist()
    np.testing.assert_allclose(all_scores(texts, own, 12), slow_scores(texts, own, 12), atol=1e-6)


def test_a_case_worked_by_hand():
    # x is in both of two texts, y in one. Image 1 has only "x".
    scores = all_scores(["x y", "x"], [0, 1], 2)
    x, y = log(1 + 2 / 2), log(1 + 2 / 1)
    assert scores[1, 0] == pytest.approx(x / sqrt(x**2 + y**2))


def test_blocks_are_parts_of_the_whole():
    whole = all_scores(TEXTS, OWN, 3)
    rows, columns = np.array([2, 0]), np.array([5, 1, 0])
    part = OverlapScores(TEXTS, OWN, 3).block(rows, columns)
    np.testing.assert_array_equal(part, whole[np.ix_(rows, columns)])


@pytest.mark.parametrize("shape", [(5, 12), (12, 5)])
def test_the_regression_is_the_same_solved_on_either_side(shape):
    rng = np.random.default_rng(0)
    features, wanted = rng.normal(size=shape).astype(np.float32), rng.normal(size=(shape[0], 2)).astype(np.float32)
    gram = features.T @ features + RIDGE * shape[1] * np.eye(shape[1])
    np.testing.assert_allclose(_ridge(features, wanted), np.linalg.solve(gram, features.T @ wanted), atol=1e-5)
