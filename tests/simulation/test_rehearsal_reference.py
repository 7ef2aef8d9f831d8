"""The figures of a rehearsal equal those of the same crowd in the database, counted there row by row."""

from collections import defaultdict

import pytest
from django.utils import timezone

from annotation.models import Assignment, Payment
from hits.models import Round, Seat
from simulation.rehearsals import rehearse_round
from simulation.simulated_rounds import simulate_round
from simulation.truth import default_source, true_levels
from tests.factories import make_collection, make_round

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
