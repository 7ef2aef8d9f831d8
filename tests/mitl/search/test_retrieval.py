import numpy as np
import pytest

from core.errors import CounterpartError
from corpus.models import Collection, Sample
from mitl.models import Direction, Retrieval
from mitl.registration import add_annotator
from mitl.search.gallery import load_lists
from mitl.training.trainer import train_annotator
from tests.factories import make_annotator, make_collection, make_sample
from tests.mitl.pictured import make_coloured_collection
from tests.mitl.searches import add_embeddings, add_lists, few_queries, retrieve

I2T, T2I = Direction


@pytest.fixture
def zoo(db) -> Collection:
    return make_collection(images=6, captions_each=2)


def embeddings_of(collection: Collection, tmp_path, dim: int = 4):
    """An annotator of kind files with random whole-number embeddings; returns it with both arrays."""
    rng = np.random.default_rng(5)
    images = rng.integers(-2, 3, (collection.images.count(), dim)).astype(np.float32)
    captions = rng.integers(-2, 3, (collection.captions.count(), dim)).astype(np.float32)
    return add_embeddings(tmp_path, images, captions), images, captions


def slow_lists(scores: np.ndarray, ids: list[int], k: int) -> list[list[int]]:
    return [[ids[j] for j in sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]] for row in scores]


def small_sample(collection: Collection) -> Sample:
    return few_queries(collection, "14", "079")


@pytest.mark.parametrize("engine", ["blocked", "faiss"])
@pytest.mark.parametrize("whole", [True, False])
def test_every_query_gets_its_best_items_of_the_whole_gallery(zoo, tmp_path, engine, whole):
    theirs, images, captions = embeddings_of(zoo, tmp_path)
    sample = None if whole else small_sample(zoo)
    lists = load_lists(retrieve(zoo, annotators=[theirs], sample=sample, depth=6, engine=engine)[0])
    rows, columns = (slice(None), slice(None)) if whole else ([1, 4], [0, 7, 9])
    image_ids, caption_ids = (list(rows_.values_list("pk", flat=True)) for rows_ in (zoo.images, zoo.captions))
    assert lists[I2T].queries.tolist() == np.array(image_ids)[rows].tolist()
    np.testing.assert_allclose(lists[I2T].scores, -np.sort(-(images @ captions.T)[rows])[:, :6])
    assert lists[I2T].items.tolist() == slow_lists((images @ captions.T)[rows], caption_ids, 6)
    assert lists[T2I].items.tolist() == slow_lists((captions @ images.T)[columns], image_ids, 6)


@pytest.mark.parametrize("engine", ["blocked", "faiss"])
def test_stored_lists_sorted_by_their_scores_keep_their_order(zoo, tmp_path, engine):
    """The products of the first image differ by 1e-10, which float32 cannot represent."""
    images = np.array([[1, 1e-5 * (i + 1)] for i in range(6)], dtype=np.float32)
    captions = np.array([[1, 1e-5 * (c * 5 % 12)] for c in range(12)], dtype=np.float32)
    theirs = add_embeddings(tmp_path, images, captions)
    for lists in load_lists(retrieve(zoo, annotators=[theirs], depth=6, engine=engine)[0]).values():
        assert (np.lexsort((lists.items, -lists.scores), axis=1) == np.arange(6)).all()


def test_lists_from_elsewhere_are_kept_in_their_order_and_filled_up(zoo, tmp_path):
    i2t = {str(i): ["3", "1"] if i == 1 else [str(c) for c in range(5)] for i in range(6)}
    t2i = {str(c): [5, 0, 2] for c in range(12)}
    theirs = add_lists(tmp_path, i2t, t2i)
    lists = load_lists(retrieve(zoo, annotators=[theirs], depth=3)[0])
    captions = {caption.key: caption.pk for caption in zoo.captions.all()}
    assert lists[I2T].items[1].tolist() == [captions["3"], captions["1"], 0]
    assert lists[I2T].scores[1].tolist() == [1, 0.5, -np.inf]
    keys = dict(zoo.images.values_list("pk", "key"))
    assert [keys[pk] for pk in lists[T2I].items[7].tolist()] == ["5", "0", "2"]


@pytest.mark.parametrize(
    "change",
    [
        lambda zoo, annotator: {"depth": 4},
        lambda zoo, annotator: {"sample": small_sample(zoo)},
        lambda zoo, annotator: zoo.captions.create(key="new", image=zoo.images.first(), text="new") and {},
        lambda zoo, annotator: setattr(annotator, "checksum", "other") or {},
    ],
    ids=["depth", "queries", "gallery", "weights"],
)
def test_another_search_is_made_where_anything_differs(zoo, change):
    overlap = make_annotator()
    first = retrieve(zoo, annotators=[overlap], depth=5)[0]
    changed = change(zoo, overlap)
    assert retrieve(zoo, annotators=[overlap], **{"depth": 5, **changed})[0] != first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 0}, "at least 1, not 0"),
        ({"engine": "abacus"}, "engine 'abacus'"),
        ({"engine": "faiss"}, "overlap: FAISS"),
    ],
)
def test_what_cannot_be_searched_is_named(zoo, arguments, message):
    with pytest.raises(CounterpartError, match=message):
        retrieve(zoo, annotators=[make_annotator()], **arguments)
    assert not Retrieval.objects.exists()


def test_images_without_files_are_counted_for_annotators_that_look(zoo):
    colours = make_coloured_collection()
    add_annotator("eyes", kind="embedding", options={"image": "histogram", "dim": 8})
    eyes = train_annotator("eyes", collection=colours)
    with pytest.raises(CounterpartError, match="eyes: 6 of 6 images"):
        retrieve(zoo, annotators=[eyes])


def test_ids_that_are_not_in_the_files_are_named(zoo, tmp_path):
    theirs, *_ = embeddings_of(zoo, tmp_path)
    zoo.images.create(key="new", file_name="new.jpg").captions.create(collection=zoo, key="n", text="new")
    with pytest.raises(CounterpartError, match="theirs .* 1 images .*: new"):
        retrieve(zoo, annotators=[theirs])


@pytest.mark.parametrize(
    ("i2t", "message"),
    [
        ({"0": ["1"]}, "no i2t list for 5 queries: 1, 2"),
        ({str(i): ["1", "ghost"] for i in range(6)}, "ranks 1 i2t items .*: ghost"),
        ({str(i): ["1"] for i in range(6)}, "longest i2t list has 1 place"),
    ],
)
def test_lists_that_do_not_fit_the_gallery_are_refused(zoo, tmp_path, i2t, message):
    theirs = add_lists(tmp_path, i2t, {"0": ["1", "2"]})
    with pytest.raises(CounterpartError, match=message):
        retrieve(zoo, annotators=[theirs], depth=2)
    assert not Retrieval.objects.exists()


def test_a_sample_must_be_of_the_collection_and_its_gallery(zoo):
    other = make_sample(make_collection("other"))
    with pytest.raises(CounterpartError, match="queries is of other"):
        retrieve(zoo, annotators=[make_annotator()], sample=other)
    sample = small_sample(zoo)
    zoo.images.filter(key="4").update(split="train")
    with pytest.raises(CounterpartError, match="1 query of few .*: 4"):
        retrieve(zoo, annotators=[make_annotator("more")], sample=sample)
