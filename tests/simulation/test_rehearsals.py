"""Rehearsing a draft with a simulated crowd: its figures, and that nothing else is stored."""

from collections import defaultdict
from decimal import Decimal

import pytest
from django.utils import timezone

from annotation.models import Assignment, Payment
from core.errors import CounterpartError
from hits.models import Round, Seat
from simulation.doors.memory import Finished
from simulation.rehearsals import REHEARSED, figures_of, rehearse_round
from simulation.simulated_rounds import simulate_round
from simulation.truth import Seen, default_source, true_levels
from tests.dataset.releasing import release_version
from tests.factories import make_collection, make_round

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


# The figures of a rehearsal equal those of the same crowd in the database, counted there row by row


SEED = 5
RIGHT = {"positive": (1, 2), "negative": (3, 4)}
MISTAKEN = [[0.7, 0.2, 0.1, 0.0], [0.3, 0.4, 0.2, 0.1], [0.0, 0.2, 0.6, 0.2], [0.0, 0.1, 0.2, 0.7]]


def middle(numbers: list[int]) -> float:
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def is_right_verdict(votes: list[bool], is_match: bool) -> bool:
    agreeing = len([vote for vote in votes if vote == is_match])
    return agreeing > len(votes) - agreeing


def figures_in_rows(made: Round) -> dict[str, object]:
    work = list(Assignment.objects.filter(hit__round=made, submitted_at__isnull=False))
    seen = true_levels(made, source=default_source(made.pool.collection), seed=SEED)
    is_match = {item.item_id: item.level in (1, 2) for items in seen.values() for item in items}
    controls: list[bool] = []
    votes: dict[int, list[bool]] = defaultdict(list)
    seconds_of_worker: dict[int, int] = defaultdict(int)
    for one in work:
        seconds_of_worker[one.worker_id] += one.active_seconds
        for judgment in one.judgments.select_related("item__control"):
            if judgment.item.control:
                controls.append(judgment.level in RIGHT[judgment.item.control.polarity])
            elif one.state == "accepted":
                votes[judgment.item_id].append(judgment.level in (1, 2))
    return {
        "submitted": len(work),
        "flagged": len([one for one in work if one.control_failures]),
        "excluded": len([one for one in work if one.state == "excluded"]),
        "seats_open": Seat.objects.filter(round=made, state="open").count(),
        "cost": str(sum(payment.amount for payment in Payment.objects.filter(round=made))),
        "seconds_of_hit": middle([one.active_seconds for one in work]),
        "seconds_of_work": sum(one.active_seconds for one in work),
        "seconds_elapsed": max(seconds_of_worker.values()),
        "controls": len(controls),
        "right_controls": len([one for one in controls if one]),
        "verdicts": len(votes),
        "right_verdicts": len([item for item in votes if is_right_verdict(votes[item], is_match[item])]),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("replication", "excluded"), [(1, 1.0), (3, 0.5)])
def test_a_rehearsal_has_the_figures_of_its_crowd_in_the_database(transactional_db, replication, excluded, profile):
    made = make_round(make_collection(images=48), hits=6, candidates=6, replication=replication, published=False)
    shape = profile(careless_workers=0.3, random_clicks=0.5, confusion=MISTAKEN, excluded=excluded)
    crowd = {"workers": 6, "seed": SEED, "profile": shape}
    figures = rehearse_round(made, **crowd, actor="kim")
    assert 0 < figures["right_controls"] < figures["controls"]
    assert 0 < figures["right_verdicts"] < figures["verdicts"]
    made.channel, made.published_at = "browser", timezone.now()
    made.save()
    simulate_round(made, **crowd)
    expected = figures_in_rows(made)
    assert {name: figures[name] for name in expected} == expected
