"""A search of a gallery beyond rows finds what an exact search finds; what it found becomes rows, and no more."""

import numpy as np
import pytest
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.models import Job
from core.work.jobs import Cancelled
from corpus.galleries import gallery_imports
from corpus.models import Caption, Collection, Gallery, Image
from mitl.models import Annotator, Direction, Retrieval
from mitl.registration import add_annotator
from mitl.search.by_parts import checked_opening, retrieve_by_parts, retrieve_for
from mitl.search.gallery import load_lists, open_gallery
from mitl.search.gallery_embeddings import import_embeddings, kept_embeddings, kept_in
from mitl.search.plans import open_plan
from mitl.search.request import Search
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
