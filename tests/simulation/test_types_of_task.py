"""The simulated crowd works on rounds of every type of task, directly and through the pages."""

from itertools import combinations
from math import log

import numpy as np
import pytest

from annotation.models import Judgment
from corpus.models import Match
from hits.models import Item
from hits.task_types import task_type_of
from simulation.profiles import load_profile
from simulation.simulated_rounds import simulate_round
from simulation.simulated_workers import answer_hit, make_crowd
from simulation.truth import true_levels
from tests.annotation.task_types.rounds import EVERY_TYPE, make_study, open_round

PAIRLESS = ["caption", "determinate", "preference"]


@pytest.mark.parametrize("task", EVERY_TYPE)
def test_every_seat_of_every_type_is_filled(transactional_db, profile, task):
    made = open_round(task)
    figures = simulate_round(made, workers=6, profile=profile())
    assert figures["seats still open"] == 0
    assert figures["simulated votes"] == Item.objects.filter(hit__round=made).count()
    # Only written sentences wait for a person.
    assert figures["waiting for review"] == (figures["submitted"] if task == "caption" else 0)


@pytest.mark.parametrize("task", PAIRLESS)
def test_equal_seeds_give_equal_answers(transactional_db, task):
    made = open_round(task)
    seen = true_levels(made, source="original", seed=5)
    again = true_levels(made, source="original", seed=5)
    assert seen == again
    (person, *_) = make_crowd(load_profile("paper"), workers=3, seed=5)
    assert _answers(person, made, seen) == _answers(person, made, again)


def _answers(person, made, seen):
    given = {"task": task_type_of(made), "reasons": False, "rng": np.random.default_rng(5)}
    return [answer_hit(person, items, **given) for items in seen.values()]


def test_a_caption_of_more_than_three_images_is_not_determinate(transactional_db, profile):
    """Each caption has its own image. Two have two and three further matches, and one is graded as no match."""
    made = open_round("determinate")
    collection = made.pool.collection
    asked = Item.objects.filter(hit__round=made).values_list("caption", flat=True).order_by("caption")
    images = list(collection.images.order_by("pk"))
    rows = [(asked[0], image, 1) for image in images[10:12]] + [(asked[1], image, 2) for image in images[10:13]]
    rows += [(asked[0], images[13], 3)]
    Match.objects.bulk_create(
        Match(collection=collection, source="truth", image=image, caption_id=caption, grade=grade)
        for caption, image, grade in rows
    )
    simulate_round(made, workers=3, profile=profile())
    said = dict(Judgment.objects.values_list("caption", "level"))
    assert {caption for caption, level in said.items() if level == 4} == {asked[1]}
    assert {level for caption, level in said.items() if caption != asked[1]} == {1}


def test_the_ranking_with_more_right_images_sooner_is_preferred(transactional_db, profile):
    """By hand, with gains of 1/log2(rank + 1): A (all but the first) > B (the first) > D (the fifth) > E (none). C has
    what comes after rank 5: three of eight give 1.01, more than B's 1, one of six 0.36, fewer than D's 0.39."""
    made = make_study(replication=1)
    simulate_round(made, workers=2, profile=profile())
    items = list(Item.objects.filter(hit__round=made))
    said = dict(Judgment.objects.values_list("item", "level"))
    matches = Match.objects.filter(source__in=["truth", "original"]).exclude(score=0)
    right = set(matches.values_list("image", "caption"))
    decided = 0
    for item in items:
        left, other = (_slow_gain(ranking, item.caption_id, right) for ranking in item.content["rankings"])
        if left != other:
            decided += 1
            assert said[item.pk] == (1 if left > other else 2)
    assert decided > 300
    for worse, better in [*combinations("EDB", 2), *((one, "A") for one in "BCDE")]:
        for item in items:
            systems = item.content["systems"]
            if set(systems) == {better, worse}:
                assert said[item.pk] == 1 + systems.index(better), (better, worse)


def _slow_gain(ranking: list[int], caption: int, right: set[tuple[int, int]]) -> float:
    """Worked with natural logarithms, a rank at a time."""
    total = 0.0
    for place, image in enumerate(ranking):
        if (image, caption) in right:
            total += log(2) / log(place + 2)
    return round(total, 9)


def test_sentences_say_that_they_are_simulated_and_are_all_different(transactional_db, profile):
    simulate_round(open_round("caption"), workers=6, profile=profile())
    texts = list(Judgment.objects.values_list("text", flat=True))
    assert len(set(texts)) == len(texts) == 3
    assert all(text.startswith("The simulated worker ") for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("task", PAIRLESS)
def test_the_pages_take_every_type(transactional_db, live_server, profile, task):
    made = open_round(task)
    figures = simulate_round(made, workers=3, profile=profile(), through_http=live_server.url)
    assert figures["seats still open"] == 0
    assert Judgment.objects.count() == Item.objects.filter(hit__round=made).count()
