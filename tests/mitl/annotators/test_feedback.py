"""Relevance feedback moves embeddings towards verified matches and away from rejected pairs."""

import numpy as np
import pytest

from core.errors import CounterpartError
from corpus.models import Collection, Match
from mitl.annotators import load
from mitl.models import Annotator
from mitl.registration import add_annotator
from mitl.training.examples import Validation
from mitl.training.trainer import train_annotator
from tests.factories import make_annotator, make_collection
from tests.mitl.searches import add_embeddings

SIZE = 3
pytestmark = pytest.mark.django_db


@pytest.fixture
def zoo() -> Collection:
    """Four images with a caption each."""
    return make_collection(images=4, captions_each=1)


@pytest.fixture
def base(zoo, tmp_path) -> Annotator:
    rng = np.random.default_rng(0)
    return add_embeddings(tmp_path, *(rng.standard_normal((4, SIZE)).astype(np.float32) for _ in range(2)), "base")


def judge(collection: Collection, levels: dict[tuple[int, int], int]) -> None:
    """Enter the levels of pairs (places of image and caption) as a version does."""
    images, captions = list(collection.images.order_by("pk")), list(collection.captions.order_by("pk"))
    for (image, caption), level in levels.items():
        score = float(level < 3)
        Match.objects.create(
            collection=collection, image=images[image], caption=captions[caption], source="v1", score=score, grade=level
        )


def taught(collection: Collection, **options: object) -> Annotator:
    add_annotator("taught", kind="feedback", options={"of": "base"})
    wishes = {"matches": "v1", "validation": Validation.NONE, "gallery": True, **options}
    return train_annotator("taught", collection=collection, **wishes)


def rows_of(annotator: Annotator, collection: Collection) -> tuple[np.ndarray, np.ndarray]:
    return load(annotator).encode(list(collection.images.order_by("pk")), list(collection.captions.order_by("pk")))


def test_an_image_moves_by_half_the_mean_of_its_verified_captions(zoo, base):
    judge(zoo, {(0, 1): 1, (0, 2): 2, (3, 0): 4})
    images, captions = rows_of(base, zoo)
    moved, _ = rows_of(taught(zoo), zoo)
    np.testing.assert_allclose(moved[0], images[0] + 0.5 * (captions[1] + captions[2]) / 2, atol=1e-6)
    np.testing.assert_array_equal(moved[3], images[3])  # too few rejected pairs to choose a share of them


def test_an_own_caption_moves_neither_its_image_nor_itself(zoo, base):
    judge(zoo, {(0, 0): 1, (1, 2): 1})
    before, after = rows_of(base, zoo), rows_of(taught(zoo), zoo)
    np.testing.assert_array_equal(after[0][0], before[0][0])
    np.testing.assert_array_equal(after[1][0], before[1][0])


def test_the_shares_are_those_that_separate_held_out_matches_and_rejected_pairs_best(tmp_path):
    """Images and captions of two kinds: a judgment of a pair says something of the other pairs of its image."""
    zoo = make_collection(images=20, captions_each=1)
    rng = np.random.default_rng(1)
    kinds = np.arange(20) % 2
    axes = np.eye(SIZE, dtype=np.float32)
    noise = 0.9 * rng.standard_normal((40, SIZE)).astype(np.float32)
    rows = axes[np.tile(kinds, 2)] + noise
    base = add_embeddings(tmp_path, rows[:20], rows[20:], "base")
    pairs = [(image, caption) for image in range(20) for caption in range(20) if image != caption]
    chosen = [pairs[place] for place in rng.permutation(len(pairs))[:160]]
    judge(zoo, {(image, caption): 1 if kinds[image] == kinds[caption] else 4 for image, caption in chosen})
    annotator = taught(zoo)
    assert annotator.trained_on["towards"] > 0
    before, after = (images @ captions.T for images, captions in (rows_of(one, zoo) for one in (base, annotator)))
    unseen = [pair for pair in pairs if pair not in chosen]
    of_match = np.array([kinds[image] == kinds[caption] for image, caption in unseen])
    scores = [np.array([table[pair] for pair in unseen]) for table in (before, after)]
    assert _area(scores[1], of_match) > _area(scores[0], of_match) + 0.1


def _area(scores: np.ndarray, matches: np.ndarray) -> float:
    """The share of pairs of a match and another that the scores order rightly."""
    return float((scores[matches][:, None] > scores[~matches]).mean())


def test_an_annotator_without_embeddings_cannot_be_moved(zoo):
    make_annotator("base")
    judge(zoo, {(0, 1): 1})
    with pytest.raises(CounterpartError, match="^base does not compare"):
        taught(zoo)


def test_all_embeddings_of_an_item_move_by_the_mean_of_those_of_its_matches(zoo, base, monkeypatch):
    judge(zoo, {(0, 1): 1})
    rng = np.random.default_rng(2)
    images, captions = (rng.standard_normal((4, 2, SIZE)).astype(np.float32) for _ in range(2))
    monkeypatch.setattr("mitl.annotators.files.KeyedEmbeddings.encode_images", lambda self, rows: images[_places(rows)])
    monkeypatch.setattr(
        "mitl.annotators.files.KeyedEmbeddings.encode_captions", lambda self, rows: captions[_places(rows)]
    )
    moved, _ = rows_of(taught(zoo), zoo)
    np.testing.assert_allclose(moved[0], images[0] + 0.5 * captions[1].mean(axis=0), atol=1e-6)
    np.testing.assert_array_equal(moved[3], images[3])


def _places(rows) -> list[int]:
    return [int(row.key) for row in rows]
