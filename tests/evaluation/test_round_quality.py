"""The quality of a round, compared with its rows one by one."""

import pytest

from annotation.models import Judgment
from evaluation.round_quality import quality_of
from tests.annotation.cast import answer, say
from tests.factories import make_assignment, make_collection, make_round

pytestmark = pytest.mark.django_db


def test_controls_count_in_any_work_unless_retired_and_levels_in_accepted_work_alone():
    made = make_round(make_collection(images=20), hits=3, candidates=2, replication=2)
    other = make_round(made.pool.collection, name="other", hits=1, candidates=2)
    first, second, third = made.hits.all()
    answer(first, 1, 2)
    answer(first, 1, 4, seat=2, state="flagged")
    answer(second, 3, 4, state="excluded")
    answer(third, 4, 4)
    answer(other.hits.get(), 1, 1)
    wrong = make_assignment(second.seats.get(number=2))
    for item in second.items.filter(control__isnull=False):
        say(wrong, item, 2)
    made.controls.filter(items__hit=third).update(state="retired")
    rows = list(Judgment.objects.filter(item__hit__round=made).select_related("item__control", "assignment"))
    right = {"positive": (1, 2), "negative": (3, 4)}
    rated = [row for row in rows if row.item.control and row.item.control.state != "retired"]
    votes = [row.level for row in rows if row.item.control is None and row.assignment.state == "accepted"]
    quality = quality_of(made)
    assert quality.controls.answered == len(rated) > 0
    assert quality.controls.right == sum(row.level in right[row.item.control.polarity] for row in rated) < len(rated)
    assert quality.levels == {level: votes.count(level) for level in (1, 2, 3, 4)} == {1: 1, 2: 1, 3: 0, 4: 2}
