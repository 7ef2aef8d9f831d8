"""What lists say of their search: against a slow count, in commands, on the page, and before money is spent."""

from math import exp, log

import numpy as np
import pytest
from django.core.management import CommandError
from django.urls import reverse

from corpus.samples import sample_queries
from counterpart_topk.list_figures import report_lists, report_vectors, says_nothing
from mitl.models import Pool, Retrieval
from mitl.pooling import pool_proposals
from mitl.search.search_report import notes_on
from tests.commands import figures_printed, output_of
from tests.factories import make_collection
from tests.mitl.searches import add_embeddings, retrieve


@pytest.mark.parametrize(
    ("scores", "blind"),
    [([3, 2, 1], False), ([1, 1, 1], True), ([2, 1, 1], False), ([np.nan] * 3, True), ([0, 0, -np.inf], True)],
)
def test_a_list_says_nothing_if_its_scores_are_equal_or_nan(scores, blind):
    items = np.array([[4, 5, 0 if scores[-1] == -np.inf else 6], [7, 8, 9], [9, 6, 4]])
    falling = [3, 2, 1]
    assert says_nothing(items, np.array([scores, falling, falling], float)).tolist() == [blind, False, False]
    assert says_nothing(items[:, :1], np.array([scores[:1]] * 3, float)).tolist() == [False] * 3


def test_a_short_list_of_equals_elsewhere_may_be_all_that_is_found():
    items = np.array([[1, 2, 3], [7, 8, 9], [1, 2, 4]])
    assert says_nothing(items, np.ones((3, 3))).tolist() == [True, False, False]
    assert says_nothing(np.arange(30).reshape(3, 10) + 1, np.ones((3, 10))).all()


@pytest.mark.parametrize("blocks", [1, 3])
def test_figures_agree_with_a_slow_count(blocks):
    rng = np.random.default_rng(blocks)
    items = np.argsort(rng.random((60, 20)), axis=1)[:, :7] + 1
    items[:9] = np.arange(1, 8)
    items[20:30, 5:] = 0
    scores = np.where(items == 0, -np.inf, -np.sort(rng.integers(0, 9, items.shape)).astype(float))
    scores[:3] = 1
    found = report_lists(zip(np.array_split(items, blocks), np.array_split(scores, blocks), strict=True), 25)
    rows = [
        (list(filter(None, one)), values[: np.count_nonzero(one)]) for one, values in zip(items, scores, strict=True)
    ]
    times = np.array([sum(item in row for row, _ in rows) for item in range(1, 26)])
    heads = [tuple(row[:5]) for row, _ in rows]
    expected = {
        "lists": 60,
        "blind": sum(len(set(values)) == 1 for _, values in rows) / 60,
        "tied": sum(len(values) > 5 and values[4] == values[5] for _, values in rows) / 60,
        "in_order": sum(row == sorted(row) for row, _ in rows) / 60,
        "same": max(map(heads.count, heads)) / 60,
        "skewness": float(((times - times.mean()) ** 3).mean() / times.std() ** 3),
        "hub": times.max() / 60,
        "hub_item": 1 + int(times.argmax()),
        "unfound": (times == 0).sum() / 25,
        "unfound_by_chance": exp(times.sum() * log(1 - 1 / 25)),
    }
    assert found == pytest.approx(expected)


def test_collapsed_and_copied_vectors_are_noted():
    rng = np.random.default_rng(0)
    good = rng.normal(size=(200, 8)).astype(np.float32)
    assert report_vectors(good)["copies"] == 0
    assert report_vectors(np.tile(good[:20], (10, 1)))["copies"] == pytest.approx(0.9)
    near = 1 + rng.normal(size=(200, 2, 8)) * 1e-3
    report = {"vectors": {"images": report_vectors(good[[0] * 9]), "captions": report_vectors(near)}}
    assert [note.split(" (")[0] for note in notes_on(report)] == [
        "88.9% of 9 vectors of images are copies of others.",
        "The vectors of images have nearly one direction",
        "The vectors of captions have nearly one direction",
    ]


@pytest.fixture
def zoo(db):
    return make_collection(images=8)


@pytest.fixture
def blind(zoo, tmp_path):
    """An annotator to which all items are the same, with its lists of all queries."""
    sides = [np.ones((rows.count(), 4), np.float32) for rows in (zoo.images, zoo.captions)]
    annotator = add_embeddings(tmp_path, *sides)
    sample_queries("some", collection=zoo, images=3, captions=4, seed=0, actor="test")
    retrieve(zoo, annotators=[annotator], depth=6)
    return annotator


POOL = ("pool", "p", "--collection=zoo", "--annotators=theirs", "--queries=some", "--control-depth=6")


def test_a_pool_of_lists_that_say_nothing_is_refused_until_it_is_accepted(blind):
    refusal = r"theirs, image → captions: 3 of 3 lists have equal scores.*at most 10%.*--accept-blind"
    with pytest.raises(CommandError, match=refusal):
        output_of(*POOL)
    assert not Pool.objects.exists()
    figures = figures_printed(*POOL, "--accept-blind")
    assert (figures["proposals"], figures["seed"]) == (35, 0)


def test_a_pool_of_lists_that_begin_with_the_same_items_is_refused(zoo, tmp_path):
    rng = np.random.default_rng(0)
    images, captions = (rng.normal(size=(rows.count(), 4)) for rows in (zoo.images, zoo.captions))
    sample_queries("some", collection=zoo, images=5, captions=5, seed=0, actor="test")
    retrieve(zoo, annotators=[add_embeddings(tmp_path, images, 1 + captions / 1e5)], depth=6)
    with pytest.raises(CommandError, match=r"caption → images: 5 of 5 lists begin with the same .*--accept-blind"):
        output_of(*POOL, "--direction=t2i")


def test_lists_with_scores_are_pooled_as_before(zoo, blind, tmp_path):
    rng = np.random.default_rng(0)
    other = add_embeddings(tmp_path, *(rng.normal(size=(rows.count(), 4)) for rows in (zoo.images, zoo.captions)), "o")
    retrieve(zoo, annotators=[other], depth=6)
    sample = zoo.samples.get()
    assert pool_proposals("p", collection=zoo, annotators=[other], sample=sample, control_depth=6).n_pairs


def test_the_report_is_printed_returned_and_shown(zoo, blind, researcher):
    out = output_of("retrieve", "zoo", "--annotators=theirs", "--depth=6")
    assert "image → captions" in out
    assert "theirs: caption → images: 100.0% of 16 lists have equal scores, and are in the order of the rows." in out
    assert "copies of others" in out
    made = Retrieval.objects.get()
    assert figures_printed("show", "retrieval", made.pk)["report"] == made.report
    assert "have equal scores" in output_of("show", "retrieval", made.pk)
    assert "100.0% of 16 lists have equal scores" in researcher.get(reverse("annotator", args=["theirs"])).text


def test_a_search_by_parts_reports_the_same(zoo, blind):
    whole = Retrieval.objects.get()
    report = {direction: whole.report[direction] for direction in ("i2t", "t2i")}
    whole.delete()
    figures_printed("retrieve", "zoo", "--annotators=theirs", "--depth=6", "--shards=2")
    assert Retrieval.objects.get().report == report
