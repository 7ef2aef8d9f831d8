import re
from collections import Counter

import numpy as np
import pytest

from simulation.doors.conduct import drawn_conduct
from simulation.doors.mturk import MTurkSite
from simulation.doors.prolific import ProlificSite
from simulation.profiles import load_profile


@pytest.mark.parametrize("preset", ["rehearsal", "participants", "careful"])
def test_turns_go_as_often_astray_as_the_profile_says(preset):
    profile, rng = load_profile(preset), np.random.default_rng(1)
    drawn = Counter(drawn_conduct(profile, rng) for _ in range(10_000))
    shares = {name: count / 10_000 for name, count in drawn.items()}
    straying = {name: share for name, share in profile.misconduct.items() if share}
    assert shares == pytest.approx(straying | {"": 1 - sum(straying.values())}, abs=0.01)


@pytest.mark.parametrize(("site", "form"), [(MTurkSite, r"A[A-Z0-9]{1,63}"), (ProlificSite, r"[0-9a-f]{24}")])
def test_a_name_always_gives_the_same_worker_id_of_the_platforms_form(site, form):
    ids = {site.worker_id(f"round-1-0-{person}") for person in range(100)}
    assert len(ids) == 100
    assert all(re.fullmatch(form, worker_id) for worker_id in ids)
    assert site.worker_id("round-1-0-0") in ids
