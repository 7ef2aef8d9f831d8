"""A gallery is opened by ids; rows are read when they are asked for."""

import pytest

from core.errors import CounterpartError
from corpus.models import Image
from mitl.search.gallery import open_gallery
from tests.factories import make_collection


def test_ids_and_queries_are_read_without_rows(db, django_assert_num_queries):
    collection = make_collection()
    with django_assert_num_queries(2):
        gallery = open_gallery(collection, None)
        assert gallery.depth == min(len(gallery.image_ids), len(gallery.caption_ids))
        assert gallery.asks_all
        assert gallery.digest
    with django_assert_num_queries(2):
        images, captions = gallery.images, gallery.captions
    assert [image.key for image in images] == [*collection.images.order_by("pk").values_list("key", flat=True)]
    of_rows = collection.captions.order_by("pk").values_list("key", "text", "image__key")
    assert [(caption.key, caption.text, caption.image) for caption in captions] == [*of_rows]


def test_a_collection_that_grew_meanwhile_is_not_searched(db):
    collection = make_collection()
    gallery = open_gallery(collection, None)
    Image.objects.create(collection=collection, key="late", file_name="late.png")
    with pytest.raises(CounterpartError, match="changed during the search"):
        _ = gallery.images


def test_another_file_is_another_search(db):
    collection = make_collection()
    before = open_gallery(collection, None).digest
    Image.objects.filter(pk=collection.images.first().pk).update(sha256="f" * 64)
    assert open_gallery(collection, None).digest != before
