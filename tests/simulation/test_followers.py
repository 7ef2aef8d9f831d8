"""A simulated round in which a worker follows an annotator, and what the analysis says of it."""

import csv

import pytest
from django.core.management import CommandError

from annotation.models import Judgment, Worker
from core.errors import CounterpartError
from evaluation.analyses.mimicry_analysis import FLAGGED, TOO_FEW
from hits.models import Round
from mitl.models import Pool
from simulation.simulated_rounds import simulate_round
from tests.evaluation.analysing import analyse, figures_of
from tests.evaluation.worlds import known_round


@pytest.fixture
def large_round(transactional_db) -> Round:
    """HITs of 48 pairs: signals are looked for once a HIT."""
    return known_round(images=70, candidates=48)


def follower_of(made: Round) -> Worker:
    """The worker who says yes to exactly the pairs that ``a`` has first."""
    first = set(made.pool.proposals.filter(annotator__name="a", rank__lte=2).values_list("image", "caption"))
    votes = Judgment.objects.filter(item__control=None).values_list("worker", "image", "caption", "level")
    odd = {worker for worker, *pair, level in votes if (tuple(pair) in first) != (level == 1)}
    return Worker.objects.exclude(pk__in=odd).get()


def test_only_the_worker_who_follows_an_annotator_is_flagged(large_round, profile, tmp_path):
    crowd = profile(following_workers=0.17, followed="a", excluded=0.0, speed_spread=0)
    simulate_round(large_round, workers=6, profile=crowd, seed=2)
    table, chart = tmp_path / "table.csv", tmp_path / "chart.svg"
    figures = figures_of("mimicry", "round-1", "--csv", str(table), "--plot", str(chart))
    rows = {row["worker"]: row for row in figures["workers"]}
    follower = follower_of(large_round).pseudonym
    assert {name for name, row in rows.items() if row["result"] == FLAGGED} == {follower}
    found = rows[follower]
    assert (found["annotator"], found["auc"]) == ("a", 1)
    assert found["expected_auc"] < 0.8
    assert found["adjusted_p"] < 0.01
    assert figures["workers"][0] == found
    assert {row["worker"] for row in csv.DictReader(table.open())} == set(rows)
    assert chart.read_bytes().startswith(b"<svg")


def test_of_an_honest_crowd_no_worker_is_flagged_though_all_say_the_truth(large_round, profile):
    simulate_round(large_round, workers=6, profile=profile(excluded=0.0, speed_spread=0), seed=2)
    assert [row["result"] for row in figures_of("mimicry", "round-1")["workers"]] == ["not flagged"] * 6


def test_few_answers_are_not_tested_and_a_pool_without_directions_is_refused(transactional_db, profile):
    small = known_round()
    simulate_round(small, workers=2, profile=profile())
    rows = figures_of("mimicry", "round-1")["workers"]
    assert {(row["result"], row["p"]) for row in rows} == {(TOO_FEW, None)}
    assert analyse("mimicry", "round-1").startswith("0 workers tested, 0 flagged")
    Pool.objects.update(directions=[])
    with pytest.raises(CommandError, match="No annotator of pool pool"):
        figures_of("mimicry", "round-1")


def test_an_annotator_that_is_not_of_the_pool_cannot_be_followed(db, profile):
    with pytest.raises(CounterpartError, match="no annotator z to follow"):
        simulate_round(known_round(), profile=profile(following_workers=0.5, followed="z"))
    assert not Judgment.objects.exists()
