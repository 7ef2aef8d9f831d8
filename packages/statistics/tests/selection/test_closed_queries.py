"""Closed queries: those whose pools are estimated complete, and which pairs are not asked because of them."""

import numpy as np
import pytest

from counterpart_statistics.pair_codes import pairs_of
from counterpart_statistics.selection.likely_matches import CLOSING, LikelyMatches

NAN = float("nan")


def made(*pairs, captions=(), recall=0.8):
    """Of (image, caption, probability, gain, opened): every image is a query, and of the captions those named."""
    image, caption, probability, gains, opened = map(np.array, zip(*sorted(pairs), strict=True))
    asking = np.stack([np.ones(len(image), bool), np.isin(caption, captions)])
    return LikelyMatches(image << 32 | caption, probability, gains, opened, asking, recall)


def asked(likely, size=99):
    return pairs_of(likely.next_batch(size).asked)


def test_a_query_closes_where_little_is_to_be_expected_of_its_pairs_and_they_are_not_asked():
    """By hand: queries hold (1 + 0.05 + 0.6 + 0.3) / 2 = 0.975 matches; at a recall of 0.8 they may miss 0.195 each on
    average, and one closes at half of that."""
    assert CLOSING == 0.5
    pairs = [(1, 10, 0.05, NAN, False), (1, 11, 0.9, 1.0, True), (2, 12, 0.6, NAN, False), (2, 13, 0.3, NAN, False)]
    likely = made(*pairs)
    assert likely.closed.tolist() == [True, False]
    assert asked(likely) == [(2, 12), (2, 13)]
    assert likely.said == (
        "About 51% of the matches are found. Closed queries, whose pools are estimated complete: 1 of 2."
    )
    open_still = made((1, 10, 0.1, NAN, False), *pairs[1:])
    assert open_still.closed.tolist() == [False, False]
    assert asked(open_still) == [(2, 12), (2, 13), (1, 10)]


def test_a_pair_of_two_queries_waits_only_until_both_are_closed():
    pairs = [(1, 10, 0.05, NAN, False), (1, 11, 0.9, 1.0, True), (2, 10, 0.6, NAN, False)]
    assert made(*pairs).closed.tolist() == [True, False]
    assert asked(made(*pairs)) == [(2, 10)]
    of_two = made(*pairs, captions=[10])
    assert of_two.closed.tolist() == [True, False, False]
    assert asked(of_two) == [(2, 10), (1, 10)]


def test_pairs_of_closed_queries_follow_once_every_other_pair_has_a_verdict():
    likely = made((1, 10, 0.05, NAN, False), (1, 11, 0.9, 1.0, True), (2, 12, 0.6, 0.0, False))
    assert likely.closed.tolist() == [True, False]
    assert likely.is_complete
    assert asked(likely) == [(1, 10)]
    assert not made((1, 10, 0.05, NAN, False), (2, 12, 0.6, NAN, False)).is_complete


def test_where_no_query_is_known_none_closes():
    likely = LikelyMatches(np.array([1, 2]), np.array([0.002, 0.9]), np.array([NAN, 1.0]), np.array([False, True]))
    assert len(likely.closed) == 0
    assert asked(likely) == [(0, 1)]


def drawn(seed):
    rng = np.random.default_rng(seed)
    pairs = [(image, caption) for image in range(12) for caption in range(12) if rng.random() < 0.5]
    gain = np.where(rng.random(len(pairs)) < 0.5, rng.integers(0, 2, len(pairs)), NAN)
    opened = ~np.isnan(gain) & (rng.random(len(pairs)) < 0.6)
    p = rng.beta(0.3, 2, len(pairs))
    rows = [(*pair, *rest) for pair, *rest in zip(pairs, p.tolist(), gain.tolist(), opened.tolist(), strict=True)]
    return rows, {int(caption) for caption in rng.permutation(12)[:7]}


@pytest.mark.parametrize("seed", range(5))
def test_closed_queries_and_the_pairs_that_are_asked_are_those_of_a_slow_count(seed):
    rows, captions = drawn(seed)
    likely = made(*rows, captions=list(captions), recall=0.6)
    missing = {}
    matches = {}
    for image, caption, p, gain, opened in rows:
        for query in [("image", image)] + [("caption", caption)] * (caption in captions):
            missing[query] = missing.get(query, 0) + (0 if opened else p)
            matches[query] = matches.get(query, 0) + (gain > 0 if opened else p)
    most = CLOSING * (1 - 0.6) * sum(matches.values()) / len(matches)
    closed = {query for query, value in missing.items() if value <= most}
    assert len(likely.closed) == len(missing)
    assert 0 < likely.closed.sum() == len(closed)
    expected = {
        (image, caption)
        for image, caption, _, gain, _ in rows
        if np.isnan(gain)
        and not ({("image", image)} | ({("caption", caption)} if caption in captions else set()) <= closed)
    }
    assert set(asked(likely)) == expected


@pytest.mark.parametrize("seed", range(3))
def test_verdicts_to_which_the_order_has_not_come_close_no_query(seed):
    """Those of audited queries: the order must not know that they were audited."""
    rows, captions = drawn(seed)
    hidden = [(*row[:3], row[3] if row[4] else NAN, row[4]) for row in rows]
    turned = [(*row[:3], row[3] if row[4] else 1 - row[3], row[4]) for row in rows]
    known, unknown, other = (made(*some, captions=list(captions)).closed.tolist() for some in (rows, hidden, turned))
    assert known == unknown == other
