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
        assert [image.pk for image in gallery.images] == gallery.image_ids.tolist()
        assert [caption.pk for caption in gallery.captions] == gallery.caption_ids.tolist()
        assert {row.collection_id for row in [*gallery.images, *gallery.captions]} == {collection.pk}


def test_a_collection_that_grew_meanwhile_is_not_searched(db):
    collection = make_collection()
    gallery = open_gallery(collection, None)
    Image.objects.create(collection=collection, key="late", file_name="late.png")
    with pytest.raises(CounterpartError, match="changed during the search; run the same command again"):
        _ = gallery.images


def test_another_file_is_another_search(db):
    collection = make_collection()
    before = open_gallery(collection, None).digest
    Image.objects.filter(pk=collection.images.first().pk).update(sha256="f" * 64)
    assert open_gallery(collection, None).digest != before
