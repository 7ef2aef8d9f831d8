import pytest

from mitl.search.estimates import Estimate


def text_of(**changes) -> str:
    usual = {
        "pairs": 31_525_000,
        "at_most": False,
        "kept": 0,
        "pairs_a_second": 214.0,
        "measured_batches": 3,
        "device": "cpu",
        "cascaded": 0,
    }
    return str(Estimate(annotator="vilt", **{**usual, **changes}))


def test_an_estimate_reads_as_a_sentence():
    assert text_of(cascaded=259_400) == (
        "vilt: 31,525,000 pairs, about 41 h at 214 pairs a second on cpu (measured on 3 batches);"
        " with --cascade A at most 259,400 pairs, about 20 min."
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.01, "1 s"), (89, "89 s"), (90, "2 min"), (89 * 60, "89 min"), (91 * 60, "2 h"), (50 * 3600, "2 days")],
)
def test_times_are_in_the_unit_that_fits(seconds, text):
    assert f", about {text} at 10 " in text_of(pairs=seconds * 10, pairs_a_second=10.0)
