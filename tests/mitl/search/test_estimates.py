import pytest

from mitl.search.retrieval import Estimate


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.01, "1 s"), (89, "89 s"), (90, "2 min"), (89 * 60, "89 min"), (91 * 60, "2 h"), (50 * 3600, "2 days")],
)
def test_times_are_in_the_unit_that_fits(seconds, text):
    usual = {"at_most": False, "kept": 0, "measured_batches": 3, "device": "cpu", "cascaded": 0}
    estimate = Estimate(annotator="vilt", pairs=seconds * 10, pairs_a_second=10.0, **usual)
    assert f", about {text} at 10 " in str(estimate)
