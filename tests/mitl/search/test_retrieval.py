import json

import numpy as np
import pytest

from core.errors import CounterpartError
from core.files.stored_files import read_arrays
from corpus.models import Collection, Sample
from mitl.annotators.overlap import OverlapScores
from mitl.models import Direction, Retrieval
from mitl.registration import add_annotator
from mitl.search import embeddings as searching
from mitl.search.gallery import load_lists
from mitl.training.trainer import train_annotator
from tests.factories import make_annotator, make_collection, make_sample
from tests.mitl.pictured import make_coloured_collection
from tests.mitl.searches import add_embeddings, retrieve

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
    sample = Sample.objects.create(name="few", collection=collection, seed=0)
    sample.images.set(collection.images.filter(key__in=["1", "4"]))
    sample.captions.set(collection.captions.filter(key__in=["0", "7", "9"]))
    return sample


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


def test_the_engine_faiss_asks_faiss_in_both_directions(zoo, tmp_path, monkeypatch):
    asked, search = [], searching.flat_topk
    monkeypatch.setattr(searching, "flat_topk", lambda *given: asked.append(given) or search(*given))
    theirs, *_ = embeddings_of(zoo, tmp_path)
    made = retrieve(zoo, annotators=[theirs], depth=6, engine="faiss")[0]
    assert (len(asked), made.engine) == (2, "faiss")


@pytest.mark.parametrize("engine", ["blocked", "faiss"])
def test_stored_lists_sorted_by_their_scores_keep_their_order(zoo, tmp_path, engine):
    """The products of the first image differ by 1e-10, which float32 cannot tell."""
    images = np.array([[1, 1e-5 * (i + 1)] for i in range(6)], dtype=np.float32)
    captions = np.array([[1, 1e-5 * (c * 5 % 12)] for c in range(12)], dtype=np.float32)
    theirs = add_embeddings(tmp_path, images, captions)
    for lists in load_lists(retrieve(zoo, annotators=[theirs], depth=6, engine=engine)[0]).values():
        assert (np.lexsort((lists.items, -lists.scores), axis=1) == np.arange(6)).all()


def test_a_pair_scorer_ranks_by_its_scores(zoo):
    lists = load_lists(retrieve(zoo, annotators=[make_annotator()], sample=small_sample(zoo), depth=3)[0])
    texts = list(zoo.captions.values_list("text", flat=True))
    scores = OverlapScores(texts, [c // 2 for c in range(12)], 6).block(np.arange(6), np.arange(12))
    caption_ids = list(zoo.captions.values_list("pk", flat=True))
    assert lists[I2T].items.tolist() == slow_lists(scores[[1, 4]], caption_ids, 3)
    assert lists[T2I].items.tolist() == slow_lists(
        scores.T[[0, 7, 9]], list(zoo.images.values_list("pk", flat=True)), 3
    )


def test_lists_from_elsewhere_are_kept_in_their_order_and_filled_up(zoo, tmp_path):
    i2t = {str(i): ["3", "1"] if i == 1 else [str(c) for c in range(5)] for i in range(6)}
    t2i = {str(c): [5, 0, 2] for c in range(12)}
    (tmp_path / "lists.json").write_text(json.dumps({"i2t": i2t, "t2i": t2i}))
    theirs = add_annotator("theirs", kind="files", checkpoint=tmp_path / "lists.json")
    lists = load_lists(retrieve(zoo, annotators=[theirs], depth=3)[0])
    captions = {caption.key: caption.pk for caption in zoo.captions.all()}
    assert lists[I2T].items[1].tolist() == [captions["3"], captions["1"], 0]
    assert lists[I2T].scores[1].tolist() == [1, 0.5, -np.inf]
    keys = dict(zoo.images.values_list("pk", "key"))
    assert [keys[pk] for pk in lists[T2I].items[7].tolist()] == ["5", "0", "2"]


def test_what_was_searched_already_is_not_searched_again(zoo):
    overlap = make_annotator()
    first, again = (retrieve(zoo, annotators=[overlap], depth=5)[0] for _ in range(2))
    assert first == again
    assert Retrieval.objects.count() == 1


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


def test_lists_are_no_deeper_than_the_gallery(zoo):
    retrieval = retrieve(zoo, annotators=[make_annotator()], depth=25)[0]
    assert retrieval.depth == 6
    assert read_arrays(retrieval.stored)["i2t_items"].shape == (6, 6)


def test_a_sample_of_captions_alone_is_searched_in_one_direction(zoo):
    sample = small_sample(zoo)
    sample.images.clear()
    assert list(load_lists(retrieve(zoo, annotators=[make_annotator()], sample=sample)[0])) == [T2I]


def test_training_images_are_not_in_the_gallery(zoo):
    zoo.images.filter(key="0").update(split="train")
    lists = load_lists(retrieve(zoo, annotators=[make_annotator()], depth=5)[0])
    assert zoo.images.get(key="0").pk not in lists[T2I].items
    assert not set(zoo.images.get(key="0").captions.values_list("pk", flat=True)) & set(lists[I2T].items.ravel())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 0}, "depth of at least 1, not 0"),
        ({"engine": "abacus"}, "Unknown engine 'abacus'; choose one of blocked, faiss"),
        ({"engine": "faiss"}, "overlap: FAISS searches embeddings"),
        ({"device": "abacus"}, "Unknown device 'abacus'; choose cpu or cuda"),
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
    with pytest.raises(CounterpartError, match="eyes: 6 of 6 images lack a picture file: 0, 1, 2, 3, 4 and 1 more"):
        retrieve(zoo, annotators=[eyes])


def test_ids_that_the_files_lack_are_named(zoo, tmp_path):
    theirs, *_ = embeddings_of(zoo, tmp_path)
    zoo.images.create(key="new", file_name="new.jpg").captions.create(collection=zoo, key="n", text="new")
    with pytest.raises(CounterpartError, match="theirs has no embedding of 1 images that are needed: new"):
        retrieve(zoo, annotators=[theirs])


@pytest.mark.parametrize(
    ("i2t", "message"),
    [
        ({"0": ["1"]}, "theirs has no i2t list for 5 queries: 1, 2, 3, 4, 5"),
        ({str(i): ["1", "ghost"] for i in range(6)}, "ranks 1 i2t items that are not in the gallery: ghost"),
        (
            {str(i): ["1"] for i in range(6)},
            "longest i2t list has 1 place, fewer than the 2 asked for; pass --depth 1",
        ),
    ],
)
def test_lists_that_do_not_fit_the_gallery_are_refused(zoo, tmp_path, i2t, message):
    (tmp_path / "lists.json").write_text(json.dumps({"i2t": i2t, "t2i": {"0": ["1", "2"]}}))
    theirs = add_annotator("theirs", kind="files", checkpoint=tmp_path / "lists.json")
    with pytest.raises(CounterpartError, match=message):
        retrieve(zoo, annotators=[theirs], depth=2)
    assert not Retrieval.objects.exists()


def test_a_sample_must_be_of_the_collection_and_its_gallery(zoo):
    other = make_sample(make_collection("other"))
    with pytest.raises(CounterpartError, match="queries is of other, not of zoo"):
        retrieve(zoo, annotators=[make_annotator()], sample=other)
    sample = small_sample(zoo)
    zoo.images.filter(key="4").update(split="train")
    with pytest.raises(CounterpartError, match="1 query of few is in a training split: 4"):
        retrieve(zoo, annotators=[make_annotator("more")], sample=sample)


def test_an_empty_gallery_is_named(db):
    everything = make_collection(split="train")
    with pytest.raises(CounterpartError, match="zoo has 0 images and 0 captions outside its training splits"):
        retrieve(everything, annotators=[make_annotator()])
