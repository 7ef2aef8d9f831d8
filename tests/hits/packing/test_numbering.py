"""Codes that depend on external keys alone."""

import numpy as np

from corpus.models import Collection, Image, Match
from hits.pair_plans import number_collection
from tests.factories import make_collection


def test_rows_are_numbered_in_the_order_of_their_keys_as_text(db):
    collection = Collection.objects.create(name="zoo")
    for key in ("b", "10", "9", "a"):
        Image.objects.create(collection=collection, key=key, file_name=key)
    images = number_collection(collection).images
    assert images.keys == ["10", "9", "a", "b"]
    assert [Image.objects.get(pk=pk).key for pk in images.ids.tolist()] == images.keys


def test_ids_become_codes_in_any_shape_and_unknown_ones_minus_one(db):
    images = number_collection(make_collection(images=3)).images
    ids = np.array([[images.ids[2], 0], [images.ids[0], 10**9]])
    assert images.codes(ids).tolist() == [[2, -1], [0, -1]]


def test_pairs_are_coded_once_and_in_order(db):
    collection = make_collection(images=2, captions_each=1)
    sides = number_collection(collection)
    rows = list(Match.objects.values_list("image_id", "caption_id"))
    assert sides.pair_codes(rows[::-1] + rows).tolist() == [[0, 0], [1, 1]]
    assert sides.pair_codes([]).tolist() == []
