"""Visual words, histograms and pyramids: by hand on plain pictures, and against slow sums."""

import numpy as np
import pytest

from counterpart_annotators.classical.visual_words import (
    FEATURES,
    intersections,
    learn_words,
    level_weights,
    signature,
    texture,
)

GREY_WORDS = {"colour": np.array([[0, 0, 0], [50, 0, 0], [100, 0, 0]], dtype=np.float32)}


def halves(left: int, right: int) -> np.ndarray:
    """A picture of two grey halves."""
    picture = np.full((16, 16, 3), left, dtype=np.uint8)
    picture[:, 8:] = right
    return picture


def noise(seed: int, shape=(40, 48)) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*shape, 3), dtype=np.uint8)


def test_a_histogram_holds_the_share_of_pixels_of_each_word():
    assert signature(halves(0, 255), GREY_WORDS, levels=1).tolist() == [0.5, 0, 0.5]


def test_the_whole_counts_a_quarter_its_quarters_too_and_sixteenths_a_half():
    assert level_weights(3) == [0.25, 0.25, 0.5]
    assert level_weights(1) == [1]


def test_a_pyramid_by_hand():
    # Mirrored halves share all pixels at the whole, and none in any part of either finer level.
    one, mirrored = (signature(picture, GREY_WORDS, levels=3) for picture in (halves(0, 255), halves(255, 0)))
    assert intersections(one[None], mirrored[None])[0, 0] == pytest.approx(0.25)
    assert intersections(one[None], one[None])[0, 0] == pytest.approx(1)


def slow_pyramid(one: np.ndarray, other: np.ndarray, levels: int) -> float:
    """Lazebnik's sum over levels of what is first met there, from maps of words."""
    met = []
    for level in range(levels):
        cells = 2**level
        total = 0.0
        for row in np.array_split(np.arange(len(one)), cells):
            for column in np.array_split(np.arange(len(one)), cells):
                pair = (picture[np.ix_(row, column)].ravel() for picture in (one, other))
                first, second = (np.bincount(words, minlength=3) for words in pair)
                total += np.minimum(first, second).sum() / one.size
        met.append(total)
    weights = [2.0 ** -(levels - 1 - level) for level in range(levels)]
    new = [met[level] - (met[level + 1] if level + 1 < levels else 0) for level in range(levels)]
    return sum(weight * first_met for weight, first_met in zip(weights, new, strict=True))


def test_pyramids_agree_with_the_sum_over_levels_of_what_is_new_there():
    rng = np.random.default_rng(4)
    greys = np.array([0, 119, 255], dtype=np.uint8)  # their lightness is near 0, 50 and 100
    maps = [rng.integers(0, 3, (16, 16)) for _ in range(2)]
    one, other = (signature(np.repeat(greys[words][:, :, None], 3, 2), GREY_WORDS, levels=3) for words in maps)
    assert intersections(one[None], other[None])[0, 0] == pytest.approx(slow_pyramid(*maps, levels=3), abs=1e-6)


def test_intersections_agree_with_a_plain_sum_and_make_a_kernel():
    rows = np.random.default_rng(0).random((7, 30)).astype(np.float32)
    kernel = intersections(rows, rows)
    assert np.allclose(kernel, np.minimum(rows[:, None], rows[None]).sum(2), rtol=1e-5)
    assert np.linalg.eigvalsh(kernel.astype(float)).min() > -1e-4


def test_the_features_of_a_picture_are_averaged():
    words = learn_words([noise(0), noise(1)], {name: 4 for name in FEATURES}, 0)
    kernels = []
    for name in FEATURES:
        one, other = (signature(noise(seed), {name: words[name]}, 3)[None] for seed in (2, 3))
        kernels.append(intersections(one, other)[0, 0])
    one, other = (signature(noise(seed), words, 3)[None] for seed in (2, 3))
    assert intersections(one, other)[0, 0] == pytest.approx(np.mean(kernels), abs=1e-5)


def test_an_upright_edge_answers_the_filter_of_its_own_angle_most():
    values, _ = texture(halves(0, 255))
    at_the_edge = np.abs(values.reshape(16, 16, 12)[8, 8])
    assert at_the_edge[0::2].argmax() == 0


@pytest.mark.parametrize("shape", [(40, 48), (1, 1), (5, 300)])
def test_pictures_of_any_shape_have_features(shape):
    for feature in FEATURES.values():
        values, places = feature(noise(0, shape))
        assert len(values) == len(places) > 0
        assert np.isfinite(values).all()
        assert places.min() >= 0
        assert places.max() < 1


def test_the_same_pictures_and_seed_make_the_same_words():
    first, second = (learn_words([noise(0)], {"texture": 8}, seed=3) for _ in range(2))
    assert np.array_equal(first["texture"], second["texture"])
