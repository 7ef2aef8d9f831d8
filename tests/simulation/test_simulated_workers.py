from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hits.task_types.levels import LEVELS
from simulation.profiles import load_profile
from simulation.simulated_workers import answer_hit, make_crowd
from simulation.truth import Seen

EXACT = replace(load_profile("careful"), confusion=tuple(map(tuple, np.eye(4))))
SEEN = [Seen(item, 1 + item % 4) for item in range(4_000)]


def answers_of(person, *, reasons=False, seed=0):
    return answer_hit(person, SEEN, task=LEVELS, reasons=reasons, rng=np.random.default_rng(seed))[0]


def test_a_worker_confuses_levels_in_their_own_shares():
    (person,) = make_crowd(replace(load_profile("paper"), careless_workers=0), workers=1, seed=3)
    shares = np.zeros((4, 4))
    for seen, answer in zip(SEEN, answers_of(person), strict=True):
        shares[seen.level - 1, answer.level - 1] += 4 / len(SEEN)
    assert shares == pytest.approx(person.confusion, abs=0.05)


def test_a_careless_worker_clicks_at_random():
    (person,) = make_crowd(replace(EXACT, careless_workers=1.0), workers=1, seed=0)
    said = Counter(answer.level for answer in answers_of(person))
    assert [said[level] for level in (1, 2, 3, 4)] == pytest.approx([1_000] * 4, rel=0.1)


def test_the_careless_are_as_many_as_asked_for_and_do_their_share_of_the_work():
    crowd = make_crowd(replace(load_profile("paper"), careless_workers=0.3), workers=60, seed=2)
    assert sum(person.random_clicks > 0 for person in crowd) == 18
    work = {person.index: 1 / person.seconds_per_pair for person in crowd}
    careless = sum(work[person.index] for person in crowd if person.random_clicks)
    assert careless / sum(work.values()) == pytest.approx(0.3, abs=0.04)


def test_reasons_are_given_where_they_are_asked_in_the_papers_shares():
    (person,) = make_crowd(EXACT, workers=1, seed=0)
    answers = answers_of(person, reasons=True)
    assert all(bool(answer.shortcoming) == (answer.level in (2, 3)) for answer in answers)
    assert all(bool(answer.wrong_way) == (answer.shortcoming == "wrong_way") for answer in answers)
    share = sum(answer.shortcoming == "wrong_way" for answer in answers) / (len(SEEN) / 2)
    assert share == pytest.approx(0.467, abs=0.04)


@pytest.mark.parametrize(("preset", "low", "high"), [("careful", 0.0, 0.02), ("paper", 0.252, 0.292)])
def test_presets_fail_controls_as_often_as_they_say(preset, low, high):
    # A gold positive and a gold negative, at the levels that a binary truth gives them.
    golds = [[Seen(0, yes), Seen(1, no)] for yes in (1, 2) for no in (3, 3, 4)]
    failed = []
    for person in make_crowd(load_profile(preset), workers=1_000, seed=0):
        rng = np.random.default_rng(person.index)
        for gold in golds:
            positive, negative = (
                answer.level for answer in answer_hit(person, gold, task=LEVELS, reasons=False, rng=rng)[0]
            )
            failed.append(positive > 2 or negative < 3)
    assert low <= np.mean(failed) <= high


def test_who_misreads_the_scale_answers_upside_down():
    (person,) = make_crowd(replace(EXACT, misreading_workers=1.0), workers=1, seed=0)
    assert [answer.level for answer in answers_of(person)] == [5 - seen.level for seen in SEEN]


def test_the_careless_and_those_who_misread_are_different_people_and_the_rest_stays_as_it_was():
    profile = replace(load_profile("paper"), careless_workers=0.3)
    crowd, plain = (make_crowd(p, workers=50, seed=7) for p in (replace(profile, misreading_workers=0.2), profile))
    assert sum(person.misreads for person in crowd) == 10
    assert not any(person.misreads and person.random_clicks for person in crowd)
    assert [person.random_clicks for person in crowd] == [person.random_clicks for person in plain]
    assert all(np.array_equal(one.confusion, other.confusion) for one, other in zip(crowd, plain, strict=True))


def test_who_follows_an_annotator_says_yes_to_what_it_ranks_first_in_their_share_of_answers():
    ranked = [replace(seen, is_first=seen.item_id % 8 < 2) for seen in SEEN]
    shares = []
    for follows in (1.0, 0.5):
        crowd = replace(EXACT, following_workers=1.0, followed="vse", follows=follows)
        (person,) = make_crowd(crowd, workers=1, seed=0)
        answers, _ = answer_hit(person, ranked, task=LEVELS, reasons=False, rng=np.random.default_rng(0))
        as_ranked = [answer.level == (1 if seen.is_first else 4) for seen, answer in zip(ranked, answers, strict=True)]
        shares.append(np.mean(as_ranked))
    truly = np.mean([seen.level == (1 if seen.is_first else 4) for seen in ranked])
    assert shares == [1.0, pytest.approx(0.5 + 0.5 * truly, abs=0.03)]


def test_followers_are_neither_careless_nor_misread():
    profile = replace(EXACT, careless_workers=0.3, misreading_workers=0.2, following_workers=0.2, followed="vse")
    crowd = make_crowd(profile, workers=50, seed=7)
    assert sum(person.follows > 0 for person in crowd) == 10
    assert not any(person.follows and (person.misreads or person.random_clicks) for person in crowd)
