from corpus.models import Match
from hits.models import Item
from tests.factories import (
    make_collection,
    make_round,
)


def test_a_made_collection_has_its_original_matches(db):
    make_collection(images=3, captions_each=2)
    assert Match.objects.filter(source="original").count() == 6


def test_a_made_round_has_two_controls_a_hit(db):
    made = make_round(hits=2)
    assert Item.objects.filter(hit__round=made, control__isnull=False).count() == 4
