import json
import re
from collections import Counter

import numpy as np
import pytest

from core.errors import CounterpartError
from simulation.doors.conduct import drawn_conduct
from simulation.doors.mturk import MTurkSite
from simulation.doors.prolific import ProlificSite
from simulation.profiles import load_profile

GOOD = {
    "confusion": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
    "likeness": 100,
    "careless_workers": 0.5,
    "random_clicks": 1,
    "seconds_per_pair": 20,
    "speed_spread": 0.3,
    "excluded": None,
}


@pytest.fixture
def write(tmp_path):
    def write(content: object) -> str:
        path = tmp_path / "crowd.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


def test_conduct_may_be_left_out_and_then_no_worker_strays(write):
    read = load_profile(write(GOOD))
    assert (read.careless_workers, set(read.misconduct.values())) == (0.5, {0.0})
    assert load_profile(write({**GOOD, "returns": 0.2})).misconduct["returns"] == 0.2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"confusion": [', "is not valid JSON"),
        ([], "Missing or unknown fields in .*: careless_workers"),
        ({**GOOD, "mood": 1}, "Missing or unknown fields in .*: mood"),
        ({**GOOD, "careless_workers": 1.2}, "Invalid careless_workers 1.2 in the crowd profile .*: use 0 to 1"),
        ({**GOOD, "seconds_per_pair": "fast"}, "Invalid seconds_per_pair 'fast'"),
        ({**GOOD, "excluded": True}, "Invalid excluded True"),
        ({**GOOD, "returns": -0.1}, "Invalid returns -0.1 .*: use 0 to 1"),
        ({**GOOD, "following_workers": 0.1}, "Invalid followed '' in the crowd profile .*: name an annotator"),
        ({**GOOD, "followed": 3}, "Invalid followed 3"),
        ({**GOOD, "returns": 0.6, "stale_tabs": 0.5}, "returns, abandons, double_clicks, .* sum to 1.1"),
        ({**GOOD, "confusion": [[1, 0, 0, 0]]}, "use 4 rows of 4 shares"),
        ({**GOOD, "confusion": [*GOOD["confusion"][:3], [0.5, 0.4, 0, 0]]}, "Row 4 of confusion"),
        ({**GOOD, "confusion": [[2, -1, 0, 0], *GOOD["confusion"][1:]]}, "Row 1 of confusion"),
    ],
)
def test_a_bad_profile_is_refused_by_field(write, content, message):
    with pytest.raises(CounterpartError, match=message):
        load_profile(write(content))


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
