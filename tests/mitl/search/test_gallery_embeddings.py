"""Embeddings of a gallery's items that were made elsewhere are stored in its parts, all of them or none."""

import numpy as np
import pytest

from core.errors import CounterpartError
from core.models import Event
from corpus.galleries import gallery_imports
from mitl.search.gallery_embeddings import import_embeddings, kept_embeddings, kept_in
from mitl.search.plans import SearchPlan
from tests.commands import figures_printed, output_of
from tests.factories import make_collection
from tests.mitl.galleries import drawn, make_gallery, npy_folder, query_annotator

pytestmark = pytest.mark.django_db

N = 9


@pytest.fixture
def gallery(tmp_path, monkeypatch):
    """Nine images and captions in parts of four."""
    monkeypatch.setattr(gallery_imports, "ROWS", 4)
    return make_gallery(make_collection(images=2), tmp_path, N)


@pytest.fixture
def annotator(gallery, tmp_path):
    return query_annotator(gallery.collection, tmp_path)


def stored(gallery, annotator, side: str) -> list[np.ndarray]:
    from core.files.stored_files import local_copy

    results = SearchPlan(kept_in(gallery, annotator, side), []).results()
    assert list(results) == list(range(len(results)))
    return [np.load(local_copy(file)) for file in results.values()]


def test_rows_are_cut_as_the_items_are(gallery, annotator, tmp_path):
    images, captions = drawn(3, N, 6), drawn(4, N, 6)
    shape = import_embeddings(gallery, annotator, npy_folder(tmp_path / "npy", images, captions, rows_a_file=5))
    assert shape == (6,)
    for side, rows in (("images", images), ("captions", captions)):
        parts = stored(gallery, annotator, side)
        assert [len(part) for part in parts] == [4, 4, 1]
        assert np.array_equal(np.concatenate(parts), rows)
    assert Event.objects.get(verb="embeddings imported").data == {"gallery": "sea", "parts": 6}


@pytest.mark.parametrize(("given", "kept"), [("float16", "float16"), ("float64", "float32"), ("int8", "float32")])
def test_numbers_are_kept_in_16_or_32_bits(gallery, annotator, tmp_path, given, kept):
    rows = np.arange(N * 6).reshape(N, 6).astype(given)
    import_embeddings(gallery, annotator, npy_folder(tmp_path / "npy", rows, rows))
    assert {part.dtype for part in stored(gallery, annotator, "images")} == {np.dtype(kept)}
    assert np.array_equal(np.concatenate(stored(gallery, annotator, "images")), rows)


def test_the_same_again_changes_nothing_and_others_are_refused(gallery, annotator, tmp_path):
    path = npy_folder(tmp_path / "npy", drawn(3, N, 6), drawn(4, N, 6))
    for _ in range(2):
        import_embeddings(gallery, annotator, path)
    before = kept_embeddings(gallery)
    assert len(before) == 6
    with pytest.raises(CounterpartError, match="embeddings of the captions"):
        import_embeddings(gallery, annotator, npy_folder(tmp_path / "other", drawn(3, N, 6), drawn(5, N, 6)))
    assert kept_embeddings(gallery) == before
    assert Event.objects.filter(verb="embeddings imported").count() == 1


def with_nan(rows: np.ndarray) -> np.ndarray:
    rows[7, 2] = np.nan
    return rows


WRONG = {
    "images-000.npy .* row 8": (lambda: with_nan(drawn(3, N, 6)), lambda: drawn(4, N, 6)),
    "8 embeddings of captions": (lambda: drawn(3, N, 6), lambda: drawn(4, 8, 6)),
    "they must agree": (lambda: drawn(3, N, 6), lambda: drawn(4, N, 5)),
    "not numbers of shape": (lambda: drawn(3, N), lambda: drawn(4, N, 6)),
    "not numbers of shape .* row by row": (lambda: np.asfortranarray(drawn(3, N, 6)), lambda: drawn(4, N, 6)),
    r"not numbers of shape \(n, D\)": (lambda: np.full((N, 6), "a"), lambda: drawn(4, N, 6)),
}


@pytest.mark.parametrize("message", WRONG)
def test_files_that_do_not_fit_are_named_and_nothing_is_kept(gallery, annotator, tmp_path, message):
    images, captions = (made() for made in WRONG[message])
    with pytest.raises(CounterpartError, match=message):
        import_embeddings(gallery, annotator, npy_folder(tmp_path / "npy", images, captions))
    assert kept_embeddings(gallery) == []


def test_a_cut_file_and_a_missing_one_are_named(gallery, annotator, tmp_path):
    path = npy_folder(tmp_path / "npy", drawn(3, N, 6), drawn(4, N, 6))
    content = (path / "images-000.npy").read_bytes()
    (path / "images-000.npy").write_bytes(content[:-4])
    with pytest.raises(CounterpartError, match="images-000.npy .* 216 .* 212"):
        import_embeddings(gallery, annotator, path)
    (path / "images-000.npy").unlink()
    with pytest.raises(CounterpartError, match=r"has no files images-\*.npy"):
        import_embeddings(gallery, annotator, path)


def test_the_command_prints_sizes(gallery, annotator, tmp_path):
    path = npy_folder(tmp_path / "npy", drawn(3, N, 6), drawn(4, N, 6))
    said = output_of("import_embeddings", "sea", "theirs", path)
    assert said == "theirs: embeddings of 9 images and 9 captions, 6 each.\n"
    assert figures_printed("import_embeddings", "sea", "theirs", path)["shape"] == [6]
