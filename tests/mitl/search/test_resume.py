"""A search of embeddings goes on from its last finished strip, whatever ended it."""

import numpy as np
import pytest

from core.work.jobs import Cancelled
from mitl.models import Retrieval
from tests.factories import make_collection
from tests.mitl.searches import add_embeddings, kept_files, retrieve

STRIP = 4


@pytest.fixture
def zoo(db, monkeypatch):
    """Twelve images: three strips."""
    monkeypatch.setattr("counterpart_topk.sweep.STRIP", STRIP)
    return make_collection(images=12, captions_each=2)


@pytest.fixture
def theirs(zoo, tmp_path):
    rng = np.random.default_rng(3)
    return add_embeddings(tmp_path, rng.standard_normal((12, 6)), rng.standard_normal((24, 6)))


class Until:
    """Progress that notes the rows searched and, at the first pair of some row, raises what it is given."""

    def __init__(self, row: int = 1_000, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.rows: list[int] = []
        self._row, self._error = row, error

    def __call__(self, step, done, total):
        if "searching" in step:
            self.rows.append(done // 24)
            if done > self._row * 24:
                raise self._error


@pytest.mark.parametrize(("strips", "error"), [(1, Cancelled), (2, KeyboardInterrupt)])
def test_an_interrupted_search_goes_on_to_the_same_bytes(zoo, theirs, settings, strips, error):
    whole = retrieve(zoo, annotators=[theirs], depth=5)[0].sha256
    Retrieval.objects.all().delete()
    with pytest.raises(error):
        retrieve(zoo, annotators=[theirs], depth=5, progress=Until(strips * STRIP, error))
    assert not Retrieval.objects.exists()
    assert kept_files(settings) == ["columns.part", *(f"rows-{strip * STRIP}.part" for strip in range(strips))]
    progress = Until()
    assert retrieve(zoo, annotators=[theirs], depth=5, progress=progress)[0].sha256 == whole
    assert progress.rows == [(strip + 1) * STRIP for strip in range(strips, 3)]
    assert kept_files(settings) == []


def test_another_depth_does_not_go_on_from_there(zoo, theirs):
    with pytest.raises(KeyboardInterrupt):
        retrieve(zoo, annotators=[theirs], depth=5, progress=Until(STRIP))
    progress = Until()
    retrieve(zoo, annotators=[theirs], depth=4, progress=progress)
    assert progress.rows == [4, 8, 12]
