"""A search of a gallery beyond rows finds what an exact search finds; what it found becomes rows, and no more."""

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.models import Event, Job
from core.work.jobs import Cancelled
from corpus.galleries import gallery_imports
from corpus.models import Caption, Collection, Gallery, Image
from mitl.models import Annotator, Direction, Retrieval
from mitl.registration import add_annotator
from mitl.search.by_parts import checked_opening, retrieve_by_parts, retrieve_for
from mitl.search.gallery import load_lists, open_gallery
from mitl.search.gallery_embeddings import import_embeddings, kept_embeddings, kept_in
from mitl.search.plans import SearchPlan, open_plan
from mitl.search.request import Search
from tests.commands import figures_printed, output_of
from tests.factories import make_collection, make_sample
from tests.mitl.galleries import drawn, make_gallery, npy_folder, query_annotator

pytestmark = pytest.mark.django_db


N, DEPTH = 40, 7


@pytest.fixture
def sea(tmp_path, monkeypatch) -> Gallery:
    """Forty images and captions in parts of sixteen."""
    monkeypatch.setattr(gallery_imports, "ROWS", 16)
    return make_gallery(make_collection(images=3), tmp_path, N)


@pytest.fixture
def annotator(sea, tmp_path) -> Annotator:
    made = query_annotator(sea.collection, tmp_path)
    import_embeddings(sea, made, npy_folder(tmp_path / "npy", drawn(3, N, 6), drawn(4, N, 6)))
    return made


@pytest.fixture
def sample(sea):
    return make_sample(sea.collection)


def searched(sea: Gallery, annotator: Annotator, sample, *, shards=None, engine="local", depth=DEPTH) -> Retrieval:
    search = Search(open_gallery(sea.collection, sample, sea), [annotator], depth)
    return retrieve_by_parts(search, annotator, engine=engine, shards=shards)


def best(queries: NDArray, items: NDArray, k: int) -> list[list[int]]:
    """The places of the largest products, ties by the lower place."""
    return [sorted(range(len(items)), key=lambda place: (-row[place], place))[:k] for row in queries @ items.T]


def keys_of(retrieval: Retrieval, direction: Direction) -> list[list[str]]:
    rows = Caption if direction == Direction.IMAGE_TO_CAPTION else Image
    keys = dict(rows.objects.values_list("pk", "key"))
    return [[keys[item] for item in items] for items in load_lists(retrieval)[direction].items.tolist()]


@pytest.mark.parametrize("shards", [None, 2, 100])
def test_the_lists_are_those_of_an_exact_search(sea, annotator, sample, shards):
    made = searched(sea, annotator, sample, shards=shards)
    captions = best(drawn(1, 3, 6), drawn(4, N, 6), DEPTH)
    images = best(drawn(2, 6, 6), drawn(3, N, 6), DEPTH)
    assert keys_of(made, Direction.IMAGE_TO_CAPTION) == [[f"c{place:02}" for place in places] for places in captions]
    assert keys_of(made, Direction.CAPTION_TO_IMAGE) == [[f"i{place:02}" for place in places] for places in images]
    assert made.gallery == sea


def test_only_what_was_found_becomes_rows(sea, annotator, sample):
    searched(sea, annotator, sample, depth=2)
    captions = {place for places in best(drawn(1, 3, 6), drawn(4, N, 6), 2) for place in places}
    images = {place for places in best(drawn(2, 6, 6), drawn(3, N, 6), 2) for place in places}
    of_captions = {N - 1 - place for place in captions}  # as gallery_items pairs them
    assert Caption.objects.filter(key__startswith="c").count() == len(captions)
    assert Image.objects.filter(key__startswith="i").count() == len(images | of_captions)


def test_the_same_search_is_made_once_and_rows_that_came_meanwhile_do_not_matter(sea, annotator, sample):
    made = searched(sea, annotator, sample)
    Image.objects.create(collection=sea.collection, key="new")
    assert searched(sea, annotator, sample, shards=2) == made
    assert searched(sea, annotator, sample, depth=3) != made


def test_items_without_embeddings_are_encoded_once_and_kept(sea, sample, tmp_path):
    """The annotator knows the items too, and so can encode them."""
    made = knowing(sea.collection, tmp_path)
    first = searched(sea, made, sample)
    assert len(kept_embeddings(sea)) == 6
    keys = keys_of(first, Direction.IMAGE_TO_CAPTION)
    assert keys == [[f"c{place:02}" for place in places] for places in best(drawn(1, 3, 6), drawn(4, N, 6), DEPTH)]
    kept = kept_embeddings(sea)
    searched(sea, made, sample, depth=2)
    assert kept_embeddings(sea) == kept


def test_a_cancelled_search_ends_its_plan_and_keeps_the_embeddings_that_it_made(sea, sample, tmp_path):
    made = knowing(sea.collection, tmp_path)
    search = Search(open_gallery(sea.collection, sample, sea), [made])
    job = checked_opening(search, made, engine="local", shards=None)()
    Job.objects.update(cancel_requested=True)

    def cancelled(step: str, done: int, total: int | None) -> None:
        if "encoding parts of captions" in step and done == 1:
            raise Cancelled

    with pytest.raises(Cancelled):
        retrieve_for(job, cancelled)
    kept = kept_embeddings(sea)
    assert len(kept) == 3 + 1
    assert open_plan(kept_in(sea, made, "captions")) is None
    searched(sea, made, sample)
    assert set(kept) < set(kept_embeddings(sea))


def knowing(collection: Collection, tmp_path) -> Annotator:
    arrays = {
        "image_ids": np.array([*(row.key for row in collection.images.all()), *(f"i{n:02}" for n in range(N))]),
        "caption_ids": np.array([*(row.key for row in collection.captions.all()), *(f"c{n:02}" for n in range(N))]),
        "images": np.concatenate([drawn(1, 3, 6), drawn(3, N, 6)]),
        "captions": np.concatenate([drawn(2, 6, 6), drawn(4, N, 6)]),
    }
    np.savez(tmp_path / "knowing.npz", **arrays)
    return add_annotator("knowing", kind="files", checkpoint=tmp_path / "knowing.npz")


def test_a_gallery_needs_queries_of_its_collection(sea, annotator):
    with pytest.raises(CounterpartError, match="pass --queries SAMPLE"):
        open_gallery(sea.collection, None, sea)
    other = make_sample(make_collection("other"), "others")
    with pytest.raises(CounterpartError, match="others is of other"):
        open_gallery(sea.collection, other, sea)
    with pytest.raises(CounterpartError, match="sea is of zoo"):
        open_gallery(other.collection, other, sea)


# Embeddings of a gallery's items that were made elsewhere are stored in its parts, all of them or none


SIZE = 9


@pytest.fixture
def gallery(tmp_path, monkeypatch):
    """Nine images and captions in parts of four."""
    monkeypatch.setattr(gallery_imports, "ROWS", 4)
    return make_gallery(make_collection(images=2), tmp_path, SIZE)


@pytest.fixture
def bare(gallery, tmp_path):
    return query_annotator(gallery.collection, tmp_path)


def stored(gallery, bare, side: str) -> list[np.ndarray]:
    from core.files.stored_files import local_copy

    results = SearchPlan(kept_in(gallery, bare, side), []).results()
    assert list(results) == list(range(len(results)))
    return [np.load(local_copy(file)) for file in results.values()]


def test_rows_are_cut_as_the_items_are(gallery, bare, tmp_path):
    images, captions = drawn(3, SIZE, 6), drawn(4, SIZE, 6)
    shape = import_embeddings(gallery, bare, npy_folder(tmp_path / "npy", images, captions, rows_a_file=5))
    assert shape == (6,)
    for side, rows in (("images", images), ("captions", captions)):
        parts = stored(gallery, bare, side)
        assert [len(part) for part in parts] == [4, 4, 1]
        assert np.array_equal(np.concatenate(parts), rows)
    assert Event.objects.get(verb="embeddings imported").data == {"gallery": "sea", "parts": 6}


@pytest.mark.parametrize(("given", "kept"), [("float16", "float16"), ("float64", "float32"), ("int8", "float32")])
def test_numbers_are_kept_in_16_or_32_bits(gallery, bare, tmp_path, given, kept):
    rows = np.arange(SIZE * 6).reshape(SIZE, 6).astype(given)
    import_embeddings(gallery, bare, npy_folder(tmp_path / "npy", rows, rows))
    assert {part.dtype for part in stored(gallery, bare, "images")} == {np.dtype(kept)}
    assert np.array_equal(np.concatenate(stored(gallery, bare, "images")), rows)


def test_the_same_again_changes_nothing_and_others_are_refused(gallery, bare, tmp_path):
    path = npy_folder(tmp_path / "npy", drawn(3, SIZE, 6), drawn(4, SIZE, 6))
    for _ in range(2):
        import_embeddings(gallery, bare, path)
    before = kept_embeddings(gallery)
    assert len(before) == 6
    with pytest.raises(CounterpartError, match="embeddings of the captions"):
        import_embeddings(gallery, bare, npy_folder(tmp_path / "other", drawn(3, SIZE, 6), drawn(5, SIZE, 6)))
    assert kept_embeddings(gallery) == before
    assert Event.objects.filter(verb="embeddings imported").count() == 1


def with_nan(rows: np.ndarray) -> np.ndarray:
    rows[7, 2] = np.nan
    return rows


WRONG = {
    "images-000.npy .* row 8": (lambda: with_nan(drawn(3, SIZE, 6)), lambda: drawn(4, SIZE, 6)),
    "8 embeddings of captions": (lambda: drawn(3, SIZE, 6), lambda: drawn(4, 8, 6)),
    "they must agree": (lambda: drawn(3, SIZE, 6), lambda: drawn(4, SIZE, 5)),
    "not numbers of shape": (lambda: drawn(3, SIZE), lambda: drawn(4, SIZE, 6)),
    "not numbers of shape .* row by row": (lambda: np.asfortranarray(drawn(3, SIZE, 6)), lambda: drawn(4, SIZE, 6)),
    r"not numbers of shape \(n, D\)": (lambda: np.full((SIZE, 6), "a"), lambda: drawn(4, SIZE, 6)),
}


@pytest.mark.parametrize("message", WRONG)
def test_files_that_do_not_fit_are_named_and_nothing_is_kept(gallery, bare, tmp_path, message):
    images, captions = (made() for made in WRONG[message])
    with pytest.raises(CounterpartError, match=message):
        import_embeddings(gallery, bare, npy_folder(tmp_path / "npy", images, captions))
    assert kept_embeddings(gallery) == []


def test_a_cut_file_and_a_missing_one_are_named(gallery, bare, tmp_path):
    path = npy_folder(tmp_path / "npy", drawn(3, SIZE, 6), drawn(4, SIZE, 6))
    content = (path / "images-000.npy").read_bytes()
    (path / "images-000.npy").write_bytes(content[:-4])
    with pytest.raises(CounterpartError, match="images-000.npy .* 216 .* 212"):
        import_embeddings(gallery, bare, path)
    (path / "images-000.npy").unlink()
    with pytest.raises(CounterpartError, match=r"has no files images-\*.npy"):
        import_embeddings(gallery, bare, path)


def test_the_command_prints_sizes(gallery, bare, tmp_path):
    path = npy_folder(tmp_path / "npy", drawn(3, SIZE, 6), drawn(4, SIZE, 6))
    said = output_of("import_embeddings", "sea", "theirs", path)
    assert said == "theirs: embeddings of 9 images and 9 captions, 6 each.\n"
    assert figures_printed("import_embeddings", "sea", "theirs", path)["shape"] == [6]
