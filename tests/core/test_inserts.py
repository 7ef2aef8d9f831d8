"""Rows from columns: what is written, in which order, and what is refused, on the engine of the run."""

import numpy as np
import pytest
from django.db import IntegrityError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.database import inserts
from core.database.inserts import insert_rows
from core.work.jobs import Cancelled
from corpus.models import Caption, Collection, Image, Match
from tests.factories import make_collection


@pytest.fixture
def collection(db) -> Collection:
    return make_collection(images=3, captions_each=1)


def insert_images(collection: Collection, keys, **changed):
    columns = {"collection_id": collection.pk, "key": np.array(keys), "file_name": "f", "file": "", "sha256": ""}
    insert_rows(Image, {**columns, "split": "", **changed.pop("columns", {})}, **changed)


@pytest.mark.parametrize("rows", [0, 1, 165, 166, 167, 1_000])
def test_any_number_of_rows_is_written_once_in_their_order_with_single_values_in_all(collection, rows):
    keys = [str(number) for number in range(100 + rows, 100, -1)]
    insert_images(collection, np.array(keys, str))
    added = Image.objects.filter(file_name="f").order_by("pk")
    assert list(added.values_list("key", "collection")) == [(key, collection.pk) for key in keys]


def test_masked_entries_are_null_and_numbers_keep_every_digit(collection):
    Match.objects.all().delete()
    images, captions = (list(rows.values_list("pk", flat=True)) for rows in (collection.images, collection.captions))
    columns = {
        "collection_id": collection.pk,
        "image_id": np.array(images),
        "caption_id": np.array(captions),
        "source": "cxc",
        "score": np.array([1 / 3, -1e-300, 12345678.875]),
        "grade": np.ma.array([1, 2, 3], mask=[False, True, False]),
    }
    insert_rows(Match, columns)
    rows = Match.objects.order_by("pk").values_list("score", "grade")
    assert list(rows) == [(1 / 3, 1), (-1e-300, None), (12345678.875, 3)]


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXTS, min_size=1, max_size=5))
def test_any_text_comes_back_as_it_was(collection, texts):
    Caption.objects.filter(key__startswith="new").delete()
    columns = {
        "collection_id": collection.pk,
        "key": np.array([f"new{number}" for number in range(len(texts))]),
        "image_id": collection.images.first().pk,
        "text": np.array(texts, object),
    }
    insert_rows(Caption, columns)
    assert list(Caption.objects.filter(key__startswith="new").order_by("pk").values_list("text", flat=True)) == texts


def test_arrays_of_different_lengths_and_columns_without_an_array_are_refused(collection):
    with pytest.raises(ValueError, match=r"not \[1, 2\]"):
        insert_images(collection, ["a", "b"], columns={"split": np.array(["x"])})
    with pytest.raises(ValueError, match=r"not \[\]"):
        insert_rows(Image, {"collection_id": collection.pk, "key": "a"})


def test_rows_that_a_constraint_forbids_take_the_others_with_them(collection, monkeypatch):
    monkeypatch.setattr(inserts, "CHUNK", 2)
    with pytest.raises(IntegrityError):
        insert_images(collection, ["a", "b", "c", "0"])
    assert Image.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_rows_of_a_parent_that_is_not_there_are_refused():
    with pytest.raises(IntegrityError):
        insert_rows(Image, {"collection_id": 99, "key": np.array(["a"]), "file_name": "", "file": "", "sha256": "",
                            "split": ""})  # fmt: skip
    assert not Image.objects.exists()


def test_progress_is_reported_for_every_chunk_and_may_stop_it_all(collection, monkeypatch):
    reports = []

    def progress(step, done, total):
        reports.append((step, done, total))
        if done == 4:
            raise Cancelled

    monkeypatch.setattr(inserts, "CHUNK", 2)
    with pytest.raises(Cancelled):
        insert_images(collection, list("abcde"), step="adding", progress=progress)
    assert reports == [("adding", 0, 5), ("adding", 2, 5), ("adding", 4, 5)]
    assert Image.objects.count() == 3


def test_progress_may_ask_the_database(collection, monkeypatch):
    monkeypatch.setattr(inserts, "CHUNK", 2)
    seen = []
    insert_images(collection, list("abc"), progress=lambda *report: seen.append(Image.objects.count()))
    assert seen == [3, 5, 6]


def test_thousands_of_rows_take_few_statements(collection, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        insert_images(collection, [str(number) for number in range(100, 2_000)])
