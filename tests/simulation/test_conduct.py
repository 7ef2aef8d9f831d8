import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from simulation.doors.conduct import drawn_conduct
from simulation.doors.mturk import MTurkSite
from simulation.profiles import load_profile


def drawn(profile, count=10_000):
    rng = np.random.default_rng(1)
    return Counter(drawn_conduct(profile, rng) for _ in range(count))


def test_turns_go_as_often_astray_as_the_profile_says():
    profile = load_profile("rehearsal")
    shares = {name: count / 10_000 for name, count in drawn(profile).items()}
    straying = profile.misconduct
    assert shares == pytest.approx(straying | {"": 1 - sum(straying.values())}, abs=0.01)


@pytest.mark.parametrize("preset", ["careful", "paper"])
def test_a_profile_without_conduct_hands_everything_in(preset):
    assert set(drawn(load_profile(preset), 1_000)) == {""}


def test_a_profile_may_leave_no_turn_as_it_should_be():
    assert set(drawn(replace(load_profile("careful"), returns=0.5, stale_tabs=0.5), 1_000)) == {"returns", "stale_tabs"}


def test_a_name_always_stands_for_one_worker_id_of_the_platforms_form():
    ids = {MTurkSite.worker_id(f"round-1-0-{person}") for person in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch(r"A[A-Z0-9]{1,63}", worker_id) for worker_id in ids)
    assert MTurkSite.worker_id("round-1-0-0") in ids
