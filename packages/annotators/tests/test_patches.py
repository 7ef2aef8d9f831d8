"""Features of pictures by their patches: the dictionary that is learned, and a row a picture."""

import numpy as np
import pytest
import torch

from counterpart_annotators.kinds.embedding import patches
from counterpart_annotators.kinds.embedding.patches import Patches, Scale

SCALES = (Scale(16, 12, 4, 2, 5), Scale(12, 9, 6, 3, 3))


@pytest.fixture
def few(monkeypatch) -> Patches:
    """Two small scales of 5 and 3 words, two pictures at a time."""
    monkeypatch.setattr(patches, "CHUNK", 2)
    monkeypatch.setattr(Patches, "scales", SCALES)
    monkeypatch.setattr(Patches, "components", 4)
    return Patches()


@pytest.fixture
def pictures() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (5, 48, 64, 3), dtype=np.uint8)


def test_the_row_of_a_picture_is_its_own_whatever_is_read_with_it(few, pictures):
    learned = few.learn(pictures, 0)
    together = few.of(pictures, learned)
    alone = np.concatenate([few.of(pictures[one : one + 1], learned) for one in range(5)])
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-5)
    assert len(np.unique(together.round(4), axis=0)) == 5


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_all_patches_are_cut_where_the_sample_is_larger(few, pictures, scale):
    cut = few._some_patches(pictures, scale, torch.Generator().manual_seed(0))
    assert cut.shape == (5 * scale.patches, 3 * scale.side**2)


def test_about_as_many_patches_are_cut_as_the_sample_has(few, pictures, monkeypatch):
    monkeypatch.setattr(Patches, "sample", 60)  # of 5 x 35; 5 standard deviations either way
    assert 30 < len(few._some_patches(pictures, SCALES[0], torch.Generator().manual_seed(0))) < 90


def test_a_code_is_by_how_much_a_word_is_nearer_than_the_mean():
    """By hand: a patch at 0 is 1 from one word and 3 from the other, so their codes are 2 - 1 and 0."""
    codes = patches._pooled_codes(torch.zeros(1, 1, 1), torch.tensor([[1.0], [3.0]]))
    assert codes.tolist() == [[1.0, 0.0, 1.0, 0.0]]
