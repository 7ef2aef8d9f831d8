"""Uncertainty of a gallery: measured once, kept by what decides it."""

import numpy as np
import pytest

from core.errors import CounterpartError
from corpus.models import Match
from counterpart_annotators import encoding
from mitl.item_uncertainty import count_positives, kept_uncertainty, measure_uncertainty
from mitl.search.gallery import open_gallery
from tests.factories import make_annotator, make_collection
from tests.mitl import unsure
from tests.mitl.plugged import plug_in


@pytest.fixture
def annotator(db, monkeypatch):
    plug_in(monkeypatch, unsure="tests.mitl.unsure")
    return make_annotator("doubter", kind="unsure")


@pytest.fixture
def zoo(db):
    return make_collection(images=11, captions_each=2)


def test_each_item_gets_its_number_in_the_order_of_the_gallery(annotator, zoo, monkeypatch):
    monkeypatch.setattr(encoding, "CHUNK", 4)
    found = measure_uncertainty(annotator, open_gallery(zoo, None))
    assert found.images.tolist() == list(range(11))
    assert found.captions.tolist() == [1] * 22


def test_it_is_measured_once(annotator, zoo, monkeypatch):
    gallery = open_gallery(zoo, None)
    assert kept_uncertainty(annotator, gallery) is None
    first = measure_uncertainty(annotator, gallery)
    monkeypatch.delattr(unsure.Doubter, "uncertainty_of_images")
    again = measure_uncertainty(annotator, gallery)
    np.testing.assert_array_equal(first.images, again.images)
    np.testing.assert_array_equal(kept_uncertainty(annotator, gallery).captions, first.captions)


def test_other_weights_and_other_galleries_are_measured_again(annotator, zoo):
    gallery = open_gallery(zoo, None)
    measure_uncertainty(annotator, gallery)
    assert kept_uncertainty(annotator, open_gallery(make_collection("other"), None)) is None
    annotator.checksum = "0" * 64
    assert kept_uncertainty(annotator, gallery) is None


def test_an_annotator_that_is_always_sure_is_refused(zoo):
    with pytest.raises(CounterpartError, match="overlap is of kind overlap"):
        measure_uncertainty(make_annotator(), open_gallery(zoo, None))


def test_positives_are_counted_within_the_gallery(zoo):
    first, second = zoo.images.order_by("pk")[:2]
    caption = zoo.captions.filter(image=second).order_by("pk").first()
    Match.objects.create(collection=zoo, image=first, caption=caption, source="people", grade=2)
    Match.objects.create(collection=zoo, image=first, caption=first.captions.first(), source="people", grade=1)
    Match.objects.create(collection=zoo, image=second, caption=caption, source="people", grade=3)
    images, captions = count_positives(open_gallery(zoo, None), zoo, "people")
    assert images.tolist() == [2] + [0] * 10
    assert captions.sum() == 2
    assert captions[2] == 1
