from collections import Counter

import pytest

from core.errors import CounterpartError
from corpus.models import Match
from hits.models import Item
from simulation.truth import default_source, true_levels
from tests.annotation.cast import associate, candidates
from tests.factories import make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def round():
    return make_round(candidates=2)


def levels(round, source="truth", seed=0) -> list[int]:
    """Of the two candidates, the positive and the negative control."""
    (seen,) = true_levels(round, source=source, seed=seed).values()
    return [item.level for item in seen]


def test_a_graded_source_is_followed_and_other_pairs_do_not_match(round):
    (seen,) = true_levels(round, source="original", seed=0).values()
    assert [item.item_id for item in seen] == [*round.hits.get().items.order_by("place").values_list("pk", flat=True)]
    first, _second = candidates(round.hits.get())
    associate(round.pool.collection, "truth", [first], grade=3)
    assert levels(round)[:2] == [3, 4]


def test_original_pairs_are_true_where_the_source_says_nothing_of_them(round):
    associate(round.pool.collection, "truth", candidates(round.hits.get()), grade=4)
    assert levels(round)[2] in (1, 2)


def test_levels_of_a_binary_source_are_drawn_on_the_right_side(round):
    first, _second = candidates(round.hits.get())
    associate(round.pool.collection, "eccv", [first])
    sides = [level <= 2 for level in levels(round, "eccv")]
    assert sides == [True, False, True, False]


def test_a_score_can_be_asked_of_the_source(round):
    first, second = candidates(round.hits.get())
    associate(round.pool.collection, "cxc", [first], score=3.0)
    associate(round.pool.collection, "cxc", [second], score=2.9)
    assert [level <= 2 for level in levels(round, "cxc>=3")[:2]] == [True, False]


def test_binary_levels_have_the_shares_of_table_b2(db):
    large = make_round(make_collection(images=602, captions_each=1), hits=100, candidates=4)
    associate(large.pool.collection, "eccv", list(Item.objects.filter(place__lt=3).values_list("image", "caption")))
    said = Counter(seen.level for hit in true_levels(large, source="eccv", seed=1).values() for seen in hit[:4])
    assert said[1] / (said[1] + said[2]) == pytest.approx(0.4975, abs=0.08)
    assert said[3] / (said[3] + said[4]) == pytest.approx(0.6473, abs=0.08)


def test_a_pair_has_one_truth_in_every_hit(round):
    again = make_round(round.pool.collection, name="round-2", candidates=2)
    assert levels(round, "original", seed=4) == levels(again, "original", seed=4)


def test_the_known_truth_is_the_default_and_the_original_pairs_else(round):
    assert default_source(round.pool.collection) == "original"
    Match.objects.filter(pk=Match.objects.first().pk).update(source="truth")
    assert default_source(round.pool.collection) == "truth"


@pytest.mark.parametrize(
    ("source", "message"), [("eccv", "not in zoo: eccv"), ("original,eccv", "name one match source")]
)
def test_a_bad_source_is_refused(round, source, message):
    with pytest.raises(CounterpartError, match=message):
        true_levels(round, source=source, seed=0)
