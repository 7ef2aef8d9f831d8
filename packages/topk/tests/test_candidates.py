"""Scans of tiles keep the k best of every row and every column, however the tiles are cut for threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpart_topk.candidates import STRIPE, buffer_size, candidates_of, open_buffers, scan_tile


def buffers_of(n, k, key_type, unit):
    entries = np.empty((n, buffer_size(k)), np.int64)
    return open_buffers(np.zeros(n), entries, k, key_type, relative=0.0, unit=unit)


@pytest.mark.parametrize(("kind", "unit"), [(np.float32, 0.0), (np.int16, 1.0)])
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 4))
def test_all_of_the_k_best_are_candidates(kind, unit, seed, k, parts):
    """Scores of both signs, in two tiles of rows with more columns than a thread scans at a time."""
    rng = np.random.default_rng(seed)
    scores = (1_000 * rng.standard_normal((90, 3 * STRIPE))).astype(kind)
    bits = scores.view(np.int32) if kind is np.float32 else scores
    rows, columns = (buffers_of(n, k, bits.dtype.type, unit) for n in scores.shape)
    for part in (slice(0, 70), slice(70, 90)):
        of_columns = columns.of_tile(slice(None), part.start)
        scan_tile(bits[part].copy(), rows.of_tile(part, 0), of_columns, parts)
    for buffers, expected in ((rows, scores), (columns, scores.T)):
        counts, places = candidates_of(buffers)
        queries = np.repeat(np.arange(len(counts)), counts)
        is_candidate = np.zeros(expected.shape, bool)
        is_candidate[queries, places] = True
        kth = np.sort(expected, axis=1)[:, -k]
        assert is_candidate[expected >= kth[:, None]].all()
        assert counts.sum() == is_candidate.sum()  # each once
