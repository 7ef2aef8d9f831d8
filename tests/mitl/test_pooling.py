import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction

from core.errors import CounterpartError
from core.models import Event
from core.work.jobs import Cancelled
from corpus.models import Sample
from mitl.models import Annotator, Direction, Pool, Proposal, Retrieval
from mitl.pooling import pool_proposals
from mitl.search.gallery import load_lists
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample
from tests.mitl.searches import retrieve

I2T, T2I = Direction


@pytest.fixture
def sample(db) -> Sample:
    return make_sample(make_collection())


@pytest.fixture
def annotators(sample) -> list[Annotator]:
    """Two annotators, with different random lists of depth 5."""
    annotators = [make_annotator("one"), make_annotator("two")]
    for seed, annotator in enumerate(annotators):
        make_retrieval(annotator, sample, seed=seed)
    return annotators


def pool(sample: Sample, annotators: list[Annotator], name: str = "pool", **changed) -> Pool:
    settings = {"collection": sample.collection, "annotators": annotators, "sample": sample}
    return pool_proposals(name, **{**settings, "top_k": 3, "control_depth": 5, **changed})


def slow_proposals(top_k: int, directions: list[Direction]) -> dict[tuple, float]:
    """(image, caption, annotator, direction, rank) -> score, list by list."""
    named = {}
    for retrieval in Retrieval.objects.all():
        for direction in directions:
            lists = load_lists(retrieval)[direction]
            for query, items, scores in zip(lists.queries, lists.items, lists.scores, strict=True):
                for rank in range(top_k):
                    pair = (query, items[rank]) if direction == I2T else (items[rank], query)
                    named[(*map(int, pair), retrieval.annotator_id, direction.value, rank + 1)] = float(scores[rank])
    return named


@pytest.mark.parametrize(("direction", "directions"), [("both", list(Direction)), ("i2t", [I2T]), ("t2i", [T2I])])
def test_every_place_of_every_list_becomes_one_proposal(sample, annotators, direction, directions):
    made = pool(sample, annotators, direction=direction)
    expected = slow_proposals(3, directions)
    fields = ("image_id", "caption_id", "annotator_id", "direction", "rank")
    rows = {tuple(getattr(row, field) for field in fields): row.score for row in made.proposals.all()}
    assert rows == pytest.approx(expected)
    assert made.n_proposals == len(expected)
    assert made.n_pairs == len({key[:2] for key in expected})
    assert made.directions == [direction.value for direction in directions]


@pytest.mark.parametrize("last", [("joining lists", 0), ("writing proposals", 0), ("writing proposals", 108)])
def test_a_pool_that_is_stopped_while_it_is_made_leaves_nothing_and_can_be_made_again(sample, annotators, last):
    def stop(step, done, total):
        if (step, done) == last:
            raise Cancelled

    with pytest.raises(Cancelled):
        pool(sample, annotators, progress=stop)
    assert [Pool.objects.count(), Proposal.objects.count(), Event.objects.filter(verb="pooled").count()] == [0, 0, 0]
    assert pool(sample, annotators).proposals.count() == 108


def test_a_pool_is_deleted_with_its_proposals_and_no_others(sample, annotators):
    first, second = pool(sample, annotators), pool(sample, annotators, name="second")
    first.delete()
    assert set(Proposal.objects.values_list("pool", flat=True)) == {second.pk}


@pytest.mark.django_db(transaction=True)
def test_the_database_refuses_to_lose_what_proposals_name(sample, annotators):
    """The foreign keys have no indexes, but are constraints."""
    pool(sample, annotators)
    for table, named in (("corpus_image", "image"), ("corpus_caption", "caption"), ("mitl_annotator", "annotator")):
        pk = Proposal.objects.values_list(named, flat=True).first()
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {table} WHERE id = %s", [pk])


def test_the_same_again_returns_the_pool_that_is_there(sample, annotators):
    assert pool(sample, annotators) == pool(sample, annotators[::-1])
    assert Event.objects.filter(verb="pooled").count() == 1


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"top_k": 2}, "top_k"),
        ({"control_depth": 4}, "control_depth"),
        ({"direction": "i2t"}, "directions"),
        ({"seed": 1}, "seed"),
    ],
)
def test_a_name_is_of_one_pool(sample, annotators, changed, named):
    pool(sample, annotators)
    with pytest.raises(CounterpartError, match=f"with other {named}"):
        pool(sample, annotators, **changed)


def test_the_newest_deep_enough_lists_count(sample, annotators):
    newer = make_retrieval(annotators[0], sample, seed=7)
    make_retrieval(annotators[0], sample, depth=4, seed=8)
    assert newer in pool(sample, annotators).retrievals.all()


def test_places_that_fill_up_shorter_lists_are_no_proposals(sample, annotators, monkeypatch):
    lists = load_lists(Retrieval.objects.first())
    lists[I2T].items[0, 1:] = 0
    lists[I2T].scores[0, 1:] = -np.inf
    monkeypatch.setattr("mitl.pooling.load_lists", lambda retrieval, sample: lists)
    assert pool(sample, annotators[:1], direction="i2t").n_proposals == 6 * 3 - 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": "my pool"}, "Invalid name .my pool."),
        ({"top_k": 0}, "top-k 0"),
        ({"top_k": 6}, "top-k 6"),
        ({"direction": "up"}, "direction 'up'"),
        ({"control_depth": 6}, "6 deep for queries: one .5 deep., two .5 deep."),
        ({"control_depth": 9}, "6 images and 12 captions"),
        ({"annotators": []}, "at least one annotator"),
    ],
)
def test_what_cannot_be_pooled_is_named(sample, annotators, changed, message):
    with pytest.raises(CounterpartError, match=message):
        pool(sample, changed.pop("annotators", annotators), **changed)
    assert not Pool.objects.exists()


def test_lists_of_other_weights_do_not_count(sample, annotators):
    Annotator.objects.filter(name="one").update(checksum="retrained")
    annotators[0].refresh_from_db()
    with pytest.raises(CounterpartError, match="1 annotator, .* no lists"):
        pool(sample, annotators)


def test_a_sample_without_images_asks_nothing_of_captions(sample):
    sample.images.clear()
    annotator = make_annotator("one")
    retrieve(sample.collection, annotators=[annotator], sample=sample)
    with pytest.raises(CounterpartError, match="queries has no queries"):
        pool(sample, [annotator], direction="i2t")
    assert not Proposal.objects.exists()


def test_the_number_of_queries_does_not_grow_with_the_pool(db, django_assert_max_num_queries):
    sample = make_sample(make_collection(images=40))
    annotator = make_annotator("one")
    with django_assert_max_num_queries(11):
        retrieve(sample.collection, annotators=[annotator], sample=sample, depth=5)
    with django_assert_max_num_queries(16):
        pool(sample, [annotator])
