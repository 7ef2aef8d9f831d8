import doctest

import numpy as np
import pytest

from counterpart_annotators import selection
from counterpart_annotators.selection import (
    bags_of_regions,
    core_set,
    hard_negative_scores,
    hard_negative_share,
    hard_negatives,
    surpluses_of,
)
from counterpart_topk.hubness.score_blocks import Matrix, Transposed

# Unit vectors of the plane with sides 3, 4, 5: similarities by hand are multiples of 1/25.
RIGHT, UP, STEEP, FLAT = [1, 0], [0, 1], [0.6, 0.8], [0.8, 0.6]


def slow_scores(unpaired, paired, texts, top_k, weight):
    """Equations 2, 4, 5 and 6, one similarity at a time."""

    def s(x, t):
        return sum(a * b for a, b in zip(x, t, strict=True)) / (sum(a * a for a in x) * sum(b * b for b in t)) ** 0.5

    scores = []
    for x in unpaired:
        h = 0.0
        for j, t in enumerate(texts):
            others = sorted((s(z, t) for place, z in enumerate(paired) if place != j), reverse=True)
            surplus = s(x, t) - others[top_k - 1]
            if surplus > 0:
                h += 1 if weight == "count" else surplus
        scores.append(h)
    return scores


def slow_core_set(paired, unpaired, n):
    """Algorithm 1 of Sener and Savarese, one distance at a time."""
    centres, chosen = list(paired), []
    for _ in range(n):
        reach = {
            place: min(sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) for c in centres)
            for place, x in enumerate(unpaired)
            if place not in chosen
        }
        farthest = max(reach, key=lambda place: (reach[place], -place))
        chosen.append(farthest)
        centres.append(unpaired[farthest])
    return chosen


def drawn(seed, x=40, z=25, d=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(x, d)), rng.normal(size=(z, d)), rng.normal(size=(z, d))


def test_hard_negative_scores_of_a_case_worked_by_hand():
    # Text 1 is RIGHT; of the other paired images only UP counts: threshold 0. Text 2 is UP; there RIGHT: threshold 0.
    paired, texts = [RIGHT, UP], [RIGHT, UP]
    unpaired = [STEEP, FLAT, [-1, 0], [0, -1]]
    assert hard_negative_scores(unpaired, paired, texts, weight="count").tolist() == [2, 2, 0, 0]
    # Three pairs. Thresholds: RIGHT 0.6 (STEEP), UP 0.8 (STEEP), STEEP 0.8 (UP).
    paired, texts = [RIGHT, UP, STEEP], [RIGHT, UP, STEEP]
    # FLAT: 0.8 - 0.6 for RIGHT; 0.6 for UP is less than 0.8; 0.48 + 0.48 - 0.8 for STEEP.
    assert hard_negative_scores([FLAT], paired, texts) == pytest.approx([0.2 + 0.16])
    assert hard_negative_scores([FLAT], paired, texts, weight="count").tolist() == [2]
    # The second largest: RIGHT 0 (UP), UP 0 (RIGHT), STEEP 0.6 (RIGHT).
    assert hard_negative_scores([FLAT], paired, texts, top_k=2) == pytest.approx([0.8 + 0.6 + 0.36])


def test_the_share_of_hard_negatives_of_a_case_worked_by_hand():
    # Texts RIGHT and UP with their own images: both thresholds are 0 (the other's image), and those of STEEP, FLAT are
    # above. LEFT and DOWN are above none.
    scores = hard_negative_scores([STEEP, FLAT, [-1, 0], [0, -1], UP], [RIGHT, UP], [RIGHT, UP])
    assert hard_negative_share(scores) == 60


@pytest.mark.parametrize("weight", ["count", "surplus"])
@pytest.mark.parametrize("top_k", [1, 5])
def test_the_share_of_hard_negatives_equals_a_slow_reference(weight, top_k):
    unpaired, paired, texts = drawn(11, z=12)
    hard = [score > 0 for score in slow_scores(unpaired, paired, texts, top_k, "count")]
    scores = hard_negative_scores(unpaired, paired, texts, top_k=top_k, weight=weight)
    assert hard_negative_share(scores) == pytest.approx(100 * sum(hard) / len(hard))


def cosines(rows, columns):
    return np.array([[np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for b in columns] for a in rows])


@pytest.mark.parametrize("weight", ["count", "surplus"])
def test_similarities_of_any_model_give_the_scores_and_the_first_pairs_a_mini_batch(weight):
    unpaired, paired, texts = drawn(2)
    similarity = Matrix(cosines([*unpaired, *paired], texts))
    found = hard_negatives(similarity, top_k=3, mini_batch=7, weight=weight)
    assert found == pytest.approx(slow_scores(unpaired, paired[:7], texts[:7], 3, weight), abs=1e-12)


def test_unpaired_texts_are_chosen_from_the_same_similarities_turned_round():
    unpaired, paired, images = drawn(3)  # texts, the texts of the images
    similarity = Transposed(Matrix(cosines(images, [*unpaired, *paired])))
    expected = slow_scores(unpaired, paired, images, 1, "surplus")
    assert hard_negatives(similarity) == pytest.approx(expected, abs=1e-12)


def test_the_surpluses_of_an_image_are_its_score_text_by_text():
    # The case by hand of above: 0.2 for RIGHT, none for UP, 0.16 for STEEP.
    similarity = Matrix(cosines([FLAT, RIGHT, UP, STEEP], [RIGHT, UP, STEEP]))
    assert surpluses_of(similarity, 0) == pytest.approx([0.2, 0, 0.16])
    assert surpluses_of(similarity, 0).sum() == pytest.approx(hard_negatives(similarity)[0])


def test_bags_count_the_regions_of_each_cluster():
    # Two far clusters, around 0 and 100: the images have 3 and 0, 1 and 2, 0 and 3 regions in them.
    regions = np.array([[[0.0], [1], [0]], [[100], [0], [101]], [[99], [100], [100]]])
    bags = bags_of_regions(regions, 2, seed=4)
    assert sorted(map(tuple, bags.T)) == [(0, 2, 3), (3, 1, 0)]
    assert core_set(bags[:1], bags[1:], 1).tolist() == [1]


def test_bags_equal_a_slow_count_of_the_nearest_centres():
    regions = np.random.default_rng(0).integers(0, 3, (6, 4, 2)).astype(float)
    different = np.unique(regions.reshape(-1, 2), axis=0)
    bags = bags_of_regions(regions, 100)  # more clusters than different regions: each is one
    assert bags.shape == (6, len(different))
    for one, other in np.ndindex(6, 6):
        slow = [[(regions[image] == region).all(1).sum() for region in different] for image in (one, other)]
        assert np.square(bags[one] - bags[other]).sum() == np.square(np.subtract(*slow)).sum()


def test_the_examples_run():
    assert doctest.testmod(selection).failed == 0


def test_core_set_of_a_case_worked_by_hand():
    # From the centre 0, 10 is farthest. Then the nearest centre of 6 is 4 away, that of 3 is 3 away, that of 9 only 1.
    assert core_set([[0]], [[3], [9], [10], [6]], 4).tolist() == [2, 3, 0, 1]


@pytest.mark.parametrize("weight", ["count", "surplus"])
@pytest.mark.parametrize("top_k", [1, 5, 24])
def test_hard_negative_scores_equal_a_slow_reference(weight, top_k):
    for seed in range(3):
        arrays = drawn(seed)
        fast = hard_negative_scores(*arrays, top_k=top_k, weight=weight)
        assert fast == pytest.approx(slow_scores(*arrays, top_k, weight), abs=1e-12)


def test_core_set_equals_a_slow_reference():
    for seed in range(3):
        unpaired, paired, _ = drawn(seed)
        assert core_set(paired, unpaired, 15).tolist() == slow_core_set(paired, unpaired, 15)


def test_blocks_of_texts_and_images_change_nothing(monkeypatch):
    unpaired, paired, texts = drawn(7)
    scores, chosen = hard_negative_scores(unpaired, paired, texts), core_set(paired, unpaired, 9)
    monkeypatch.setattr("counterpart_annotators.selection.BLOCK", 4)
    assert hard_negative_scores(unpaired, paired, texts) == pytest.approx(scores, abs=1e-12)
    assert core_set(paired, unpaired, 9).tolist() == chosen.tolist()


def test_a_mini_batch_is_the_full_batch_of_the_pairs_that_the_seed_draws():
    unpaired, paired, texts = drawn(1)
    by_seed = [hard_negative_scores(unpaired, paired, texts, mini_batch=8, seed=seed) for seed in (3, 3, 4)]
    rows = np.sort(np.random.default_rng(3).choice(25, 8, replace=False))
    assert by_seed[0] == pytest.approx(slow_scores(unpaired, paired[rows], texts[rows], 1, "surplus"), abs=1e-12)
    assert np.array_equal(by_seed[0], by_seed[1])
    assert not np.array_equal(by_seed[0], by_seed[2])


def test_an_image_as_similar_as_the_threshold_is_not_a_hard_negative():
    assert hard_negative_scores([UP], [RIGHT, UP], [RIGHT, UP], weight="count").tolist() == [1]
    assert hard_negative_scores([UP], [UP, UP], [UP, UP], weight="count").tolist() == [0]


def test_equally_far_images_are_chosen_by_their_place():
    assert core_set([[0.0]], [[2.0], [-2.0], [2.0]], 3).tolist() == [0, 1, 2]
    assert core_set([[1.0]], [[1.0], [1.0]], 2).tolist() == [0, 1]


def test_similarity_is_the_cosine():
    unpaired, paired, texts = drawn(5)
    scaled = hard_negative_scores(3 * unpaired, 0.5 * paired, 7 * texts)
    assert scaled == pytest.approx(hard_negative_scores(unpaired, paired, texts), abs=1e-12)
    assert hard_negative_scores([[0, 0]], [RIGHT, UP], [RIGHT, UP]).tolist() == [0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"texts": [RIGHT]}, "2 paired images and 1 texts"),
        ({"unpaired": [1, 0]}, r"unpaired of shape \(2,\)"),
        ({"unpaired": [[1, 0, 0]]}, r"unpaired of shape \(1, 3\)"),
        ({"unpaired": [[np.nan, 0]]}, "embeddings unpaired"),
        ({"weight": "mean"}, "'mean'; .*surplus, count"),
        ({"top_k": 2}, "Invalid top_k 2"),
        ({"top_k": 0}, "Invalid top_k 0"),
        ({"mini_batch": 1}, "Invalid top_k 1: with 1 pairs"),
        ({"mini_batch": -3}, "Invalid mini_batch -3"),
    ],
)
def test_hard_negative_scores_refuse_what_is_invalid(changed, message):
    given = {"unpaired": [FLAT], "paired": [RIGHT, UP], "texts": [RIGHT, UP], **changed}
    with pytest.raises(ValueError, match=message):
        hard_negative_scores(**given)


@pytest.mark.parametrize(
    ("paired", "n", "message"),
    [
        (np.empty((0, 2)), 1, "needs a paired image"),
        ([RIGHT], 3, "number of images 3"),
        ([RIGHT], -1, "number of images -1"),
        ([[1.0]], 1, "matrices of one width"),
    ],
)
def test_core_set_refuses_what_is_invalid(paired, n, message):
    with pytest.raises(ValueError, match=message):
        core_set(paired, [UP, FLAT], n)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: hard_negative_share([]), "at least one unpaired image"),
        (lambda: hard_negatives(Matrix(np.ones((2, 3)))), "fewer rows than the 3 paired"),
        (lambda: bags_of_regions(np.ones((2, 3))), r"not of shape \(2, 3\)"),
        (lambda: bags_of_regions(np.ones((2, 3, 1)), 0), "number of clusters 0"),
    ],
)
def test_shares_and_bags_refuse_what_is_invalid(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
