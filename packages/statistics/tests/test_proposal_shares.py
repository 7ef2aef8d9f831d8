import doctest

import numpy as np
import pandas as pd
import pytest

from counterpart_metrics import coverage
from counterpart_statistics.judged import PAIR, plausible_sources
from counterpart_statistics.judged.proposal_shares import source_coverage

NO_PROPOSALS = pd.DataFrame(columns=[*PAIR, "annotator", "direction"])


def test_the_documented_example_holds():
    assert doctest.testmod(plausible_sources).failed == 0


def test_coverage_on_arrays_is_that_of_items_by_query():
    rng = np.random.default_rng(0)
    verdicts = pd.DataFrame({"image": rng.integers(0, 9, 80), "caption": rng.integers(0, 20, 80)}).drop_duplicates()
    verdicts["level"] = rng.integers(1, 5, len(verdicts))
    source = pd.DataFrame({"image": rng.integers(0, 9, 60), "caption": rng.integers(0, 20, 60)})
    queries = {"i2t": range(1, 8), "t2i": range(3, 20)}
    found = list(source_coverage(verdicts, queries, sources={"a": source}, proposals=NO_PROPOSALS))
    for row in found:
        query, item = PAIR if row["direction"] == "i2t" else PAIR[::-1]
        lists = [
            {one: set(pairs[pairs[query] == one][item]) for one in queries[row["direction"]]}
            for pairs in (source, verdicts[verdicts["level"] <= 2], verdicts)
        ]
        expected = coverage(*lists[:2])
        assert (row["precision"], row["recall"]) == pytest.approx(expected)
        assert row["precision_judged"] == pytest.approx(coverage(*lists[:2], judged=lists[2]).precision)
    assert [row["direction"] for row in found] == ["i2t", "t2i"]
