"""Rehearsing a draft with a simulated crowd: its figures, and that nothing else is stored."""

from decimal import Decimal

import pytest

from annotation.models import Assignment
from core.errors import CounterpartError
from simulation.doors.memory import Finished
from simulation.rehearsals import REHEARSED, discard_rehearsal, figures_of, rehearse_round
from simulation.truth import Seen
from tests.dataset.releasing import release_version
from tests.factories import make_round

State = Assignment.State


def finished(person: int, levels: dict[int, int], seconds: int, *, state=State.ACCEPTED, right=True) -> Finished:
    return Finished(person, 1, levels, seconds, state, not right, [right])


def test_figures_worked_by_hand():
    """Two pairs (a match, a wrong one) and a control. Of four submissions one is excluded; two of three counted votes
    are right about each pair."""
    seen = {1: [Seen(1, 1), Seen(2, 4), Seen(3, 1, "positive")]}
    work = [
        finished(0, {1: 1, 2: 4, 3: 1}, 60),
        finished(0, {1: 2, 2: 1, 3: 1}, 100),
        finished(1, {1: 4, 2: 3, 3: 2}, 80),
        finished(2, {1: 4, 2: 1, 3: 4}, 10, state=State.EXCLUDED, right=False),
    ]
    assert figures_of(work, seen, seats=4, reward=Decimal("0.65")) == {
        "submitted": 4, "flagged": 1, "excluded": 1, "seats_open": 1, "cost": "2.60", "seconds_of_hit": 70,
        "seconds_of_work": 250, "seconds_elapsed": 160, "controls": 4, "right_controls": 3, "verdicts": 2,
        "right_verdicts": 2,
    }  # fmt: skip


def test_a_tie_is_not_a_right_verdict():
    work = [finished(0, {1: 1}, 10), finished(1, {1: 4}, 10)]
    figures = figures_of(work, {1: [Seen(1, 1)]}, seats=2, reward=Decimal(1))
    assert (figures["verdicts"], figures["right_verdicts"]) == (1, 0)


def test_an_exact_crowd_passes_all_controls_and_is_paid_once_a_seat(db, profile):
    made = make_round(hits=3, replication=2, published=False)
    figures = rehearse_round(made, workers=4, profile=profile(), actor="kim")
    assert (figures["submitted"], figures["flagged"], figures["cost"]) == (6, 0, "3.90")
    assert figures["right_controls"] == figures["controls"] == 12
    assert figures["right_verdicts"] == figures["verdicts"] == 6
    made.refresh_from_db()
    assert made.summary[REHEARSED] == figures
    assert made.state == "draft"


def test_a_careless_crowd_is_excluded_until_no_worker_is_left(db, profile):
    made = make_round(hits=2, published=False)
    careless = profile(careless_workers=1.0, random_clicks=1.0)
    figures = rehearse_round(made, workers=3, profile=careless, seed=1, actor="kim")
    assert figures["excluded"] > 0
    assert figures["submitted"] == figures["excluded"] + 2 - figures["seats_open"]


def test_nothing_of_a_rehearsal_can_be_released(db, profile):
    made = make_round(hits=2, published=False)
    rehearse_round(made, workers=3, profile=profile(), actor="kim")
    with pytest.raises(CounterpartError, match="2 of 2 answer sets"):
        release_version("v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made])


def test_a_round_that_people_may_see_is_not_rehearsed(db):
    with pytest.raises(CounterpartError, match="only a draft is rehearsed"):
        rehearse_round(make_round(), actor="kim")


def test_a_discarded_rehearsal_leaves_nothing_and_twice_is_as_once(db, profile):
    made = make_round(published=False)
    rehearse_round(made, workers=2, profile=profile(), actor="kim")
    for _ in range(2):
        discard_rehearsal(made, actor="kim")
        assert REHEARSED not in made.summary
