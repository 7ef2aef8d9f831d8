"""Intervals for two questions: the formula written out, the ends of the scale, unfinished audits, and refusals."""

import time
from itertools import product

import numpy as np
import pytest
from scipy import stats

from counterpart_statistics.estimation import nested_interval, score_interval, shrunk, worst_interval

QUERIES = 400
RANDOM = np.random.default_rng(0)
METRIC = RANDOM.random((3, QUERIES))
PROXY = np.clip(METRIC + RANDOM.normal(0, 0.3, METRIC.shape), 0, 1)
PART = np.arange(QUERIES) < 120


def slow_interval(metric, proxy, audited, inclusion, question, level=0.95):
    """An independent witness for metrics between 0 and 1: query by query, with a least squares line of its own."""
    rows = np.flatnonzero(audited)
    n, total = len(rows), len(metric)
    w = 1 / inclusion[rows]
    h = w * (w - 1)
    design = np.stack([proxy[rows], np.ones(n)], axis=1)
    root = np.sqrt(h)[:, None]
    beta, constant = np.linalg.lstsq(design * root, metric[rows] * root[:, 0], rcond=None)[0]
    hat = (design * root) @ np.linalg.inv((design * root).T @ (design * root)) @ (design * root).T
    value = np.mean([beta * g + constant for g in proxy])
    value += sum(one * (metric[q] - beta * proxy[q] - constant) for one, q in zip(w, rows, strict=True)) / total
    far = max(value, 1 - value)
    epsilon = 1.0 if set(metric[rows]) <= {0.0, 1.0} else 0.02

    def with_pseudo(sizes, largest):
        fourth = sum(u**4 for u in sizes) + epsilon * largest**4
        return sum(u**2 for u in sizes) + 2 * fourth / (sum(u**2 for u in sizes) + epsilon * largest**2)

    sizes = [np.sqrt(h[i]) * (metric[q] - beta * proxy[q] - constant) / (1 - hat[i, i]) for i, q in enumerate(rows)]
    variance = n / (n - 1) / total**2 * with_pseudo(sizes, np.sqrt(np.mean(h)) * far)
    if question == "like":
        v = w / np.mean(w)
        mean = np.mean(v * metric[rows])
        variance += with_pseudo(np.sqrt(v) * (metric[rows] - mean), far) / (n - 1) / total
    inner = (n * value + 1) / (n + 2)
    m = inner * (1 - inner) / variance
    t = stats.t.ppf((1 + level) / 2, n - 2)
    half = t * np.sqrt(m * value * (1 - value) + t**2 / 4)
    return value, (m * value + t**2 / 2 - half) / (m + t**2), (m * value + t**2 / 2 + half) / (m + t**2)


@pytest.mark.parametrize("question", ["these", "like"])
@pytest.mark.parametrize("hits", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_an_interval_is_the_formula_written_out(seed, hits, question):
    rng = np.random.default_rng(seed)
    metric = (rng.random(90) < 0.7) * 1.0 if hits else rng.random(90)
    proxy = rng.random(90)
    inclusion = rng.uniform(0.2, 0.9, 90)
    audited = rng.random(90) < inclusion
    found = score_interval(metric, proxy, audited, inclusion, queries=question, level=0.9)
    expected = slow_interval(metric, proxy, audited, inclusion, question, 0.9)
    assert (float(found.value), float(found.low), float(found.high)) == pytest.approx(expected, abs=1e-10)


def test_a_case_worked_by_hand():
    """Three of six queries, all on the line, without residuals: only the two pseudo-queries have a size, that of
    the farther bound, 0.5; each counts w(w - 1) = 2 times: V = 3/2 · 2 · 2 · 0.25 / 36."""
    found = score_interval([0.2, 0.5, 0.8, *[np.nan] * 3], [0.2, 0.5, 0.8, 0.2, 0.5, 0.8], np.arange(6) < 3)
    assert found.value == pytest.approx(0.5)
    assert found.error == pytest.approx(np.sqrt(1.5 * 2 * 2 * 0.25 / 36))
    assert (found.informative, found.beta) == (0, pytest.approx(1.0))


def test_the_interval_of_the_reversed_metric_is_the_mirror_image():
    one = score_interval(METRIC, PROXY, PART)
    other = score_interval(1 - METRIC, 1 - PROXY, PART)
    np.testing.assert_allclose([one.low, one.value], [1 - other.high, 1 - other.value], atol=1e-12)
    step = METRIC[0] - METRIC[1]
    guess = PROXY[0] - PROXY[1]
    there = score_interval(step, guess, PART, bounds=(-1.0, 1.0))
    back = score_interval(-step, -guess, PART, bounds=(-1.0, 1.0))
    np.testing.assert_allclose([there.low, there.value], [-back.high, -back.value], atol=1e-12)


def test_of_an_audit_of_all_queries_these_are_counted_and_those_like_them_are_not():
    every = np.ones(QUERIES, bool)
    counted = score_interval(METRIC, PROXY, every)
    np.testing.assert_array_equal(counted.low, counted.high)
    np.testing.assert_allclose(counted.value, METRIC.mean(axis=1), atol=1e-12)
    assert not counted.is_thin.any()
    like = score_interval(METRIC, PROXY, every, queries="like")
    assert (like.high - like.low > 0.03).all()


def test_these_queries_are_known_better_than_queries_like_them_at_the_same_value():
    these, like = (score_interval(METRIC, PROXY, PART, queries=question) for question in ("these", "like"))
    np.testing.assert_array_equal(these.value, like.value)
    assert (like.low < these.low).all()
    assert (these.high < like.high).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("proxy", [np.full(1000, 0.9), np.random.default_rng(1).random(1000), np.zeros(1000)])
def test_where_all_audited_queries_agree_the_interval_has_width_and_warns(value, proxy):
    found = score_interval(np.full(1000, value), proxy, np.arange(1000) < 30)
    assert found.high - found.low > 0.05
    assert found.low <= value <= found.high
    assert found.is_thin


def test_the_metric_of_queries_that_were_not_audited_is_never_read():
    hidden = score_interval(np.where(PART, METRIC, np.nan), PROXY, PART)
    np.testing.assert_array_equal(hidden.low, score_interval(METRIC, PROXY, PART).low)


def test_one_phase_is_the_audit_and_a_second_with_the_same_proxy_changes_no_value():
    one = score_interval(METRIC, PROXY, PART)
    nested = nested_interval(METRIC, [PROXY], [PART])
    np.testing.assert_allclose([one.value, one.low, one.high], [nested.value, nested.low, nested.high], atol=1e-12)
    longer = np.arange(QUERIES) < 300
    np.testing.assert_allclose(nested_interval(METRIC, [PROXY, PROXY], [longer, PART]).value, one.value, atol=1e-12)


def test_a_second_phase_uses_what_the_first_one_judged():
    rng = np.random.default_rng(4)
    near = np.clip(METRIC + rng.normal(0, 0.02, METRIC.shape), 0, 1)
    longer = np.arange(QUERIES) < 300
    hidden = np.where(longer, near, np.nan)
    nested = nested_interval(METRIC, [PROXY, hidden], [longer, PART])
    assert (nested.error < score_interval(METRIC, PROXY, PART).error / 1.5).all()
    assert nested.question == "wide"
    with pytest.raises(ValueError, match="within the one before"):
        nested_interval(METRIC, [PROXY, near], [PART, longer])


def test_the_estimate_enters_a_guarded_score_as_far_as_the_audit_is_sure():
    counted = np.array([0.5, 0.6])
    errors = np.full(2, 0.02)
    near, none = shrunk(counted + 0.01, errors, counted)
    assert none == 0
    np.testing.assert_array_equal(near, counted)
    far, weight = shrunk(counted + 0.2, errors, counted)
    assert weight == pytest.approx(1 - 3 * 0.02**2 / 0.2**2)
    np.testing.assert_allclose(far, counted + 0.2 * weight)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"audited": np.arange(QUERIES) < 2}, "2 queries were audited. An estimate needs at least 3."),
        ({"metric": np.where(np.arange(QUERIES) == 2, np.nan, METRIC)}, "1 audited queries have no value"),
        ({"metric": np.where(np.arange(QUERIES) == 2, np.inf, METRIC)}, "1 audited queries have no value"),
        ({"metric": METRIC + 0.5}, "outside its bounds 0 and 1"),
        ({"proxy": np.full(QUERIES, np.nan)}, "proxy that is a finite number"),
        ({"proxy": PROXY[:, :5]}, "one last axis, of queries"),
        ({"inclusion": 0.0}, "probability of inclusion above 0"),
        ({"inclusion": 1.0}, "say nothing of the others"),
        ({"level": 1.0}, "Invalid level 1.0"),
        ({"queries": "all"}, "Unknown question all: use these or like."),
    ],
)
def test_what_allows_no_interval_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        score_interval(**({"metric": METRIC, "proxy": PROXY, "audited": PART} | changed))


def test_25_models_and_2600_queries_take_less_than_a_tenth_of_a_second():
    rng = np.random.default_rng(0)
    metric = rng.random((4, 25, 2600))
    proxy = rng.random(metric.shape)
    times = []
    for _ in range(3):
        begun = time.process_time()
        score_interval(metric, proxy, np.arange(2600) < 800)
        times.append(time.process_time() - begun)
    assert min(times) < 0.1


def unfinished(seed, *, queries=30, drawn=12, missing=5, hits=False):
    rng = np.random.default_rng(seed)
    metric = rng.random(queries)
    proxy = np.clip(metric + rng.normal(0, 0.3, queries), 0, 1)
    inside = np.arange(queries) < drawn
    known = inside & (np.arange(queries) >= missing)
    return (metric.round() if hits else metric), proxy, inside, known


@pytest.mark.parametrize("question", ["these", "like"])
@pytest.mark.parametrize(("drawn", "hits"), [(12, False), (12, True), (30, False)])
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_holds_those_of_every_corner_and_of_values_between(seed, drawn, hits, question):
    """An independent witness: every mix of the worst and the best metrics, and random ones."""
    metric, proxy, inside, known = unfinished(seed, drawn=drawn, hits=hits)
    low, high = worst_interval(metric, proxy, inside, known, queries=question)
    missing = np.flatnonzero(inside & ~known)
    mixes = np.array([*product((0.0, 1.0), repeat=len(missing)), *np.random.default_rng(seed).random((50, 5))])
    values = np.tile(metric, (len(mixes), 1))
    values[:, missing] = mixes
    found = score_interval(values, np.tile(proxy, (len(mixes), 1)), inside, queries=question)
    assert low <= found.low.min() + 1e-9
    assert high >= found.high.max() - 1e-9
    assert high - low < 1.8 * (found.high.max() - found.low.min())  # a bound that is of use


@pytest.mark.parametrize("question", ["these", "like"])
@pytest.mark.parametrize("hits", [False, True])
def test_without_missing_metrics_it_is_the_interval_of_the_finished_audit(hits, question):
    metric, proxy, inside, _ = unfinished(1, hits=hits)
    one = score_interval(metric, proxy, inside, queries=question, level=0.9)
    found = worst_interval(metric, proxy, inside, inside, queries=question, level=0.9)
    assert found == pytest.approx((float(one.low), float(one.high)), abs=1e-9)


def test_of_all_queries_only_the_missing_ones_leave_room():
    """Three of three queries drawn, two known: the mean of 0.5, 0.2 and a third between 0 and 1."""
    drawn = [True] * 3
    assert worst_interval([0.5, 0.2, np.nan], [0.2, 0.4, 0.1], drawn, [True, True, False]) == pytest.approx(
        (0.7 / 3, 1.7 / 3)
    )


def test_differences_are_bounded_by_minus_one_and_one():
    metric, proxy, inside, known = unfinished(2)
    narrow = worst_interval(metric, proxy, inside, known)
    wide = worst_interval(metric, proxy, inside, known, bounds=(-1.0, 1.0))
    assert wide[0] < narrow[0]
    assert wide[1] >= narrow[1]


def test_an_audit_of_two_queries_is_refused():
    with pytest.raises(ValueError, match="2 queries were drawn"):
        worst_interval([1, 0, 0], [1, 0, 0], [True, True, False], [True, False, False])


def replays(share, *, draws, kind, seed):
    """Return metrics of 1,000 queries, (draws, 1000), and a proxy: of no use, fair, strong or nearly exact."""
    rng = np.random.default_rng(seed)
    if share == "mostly 0":
        metric = np.where(rng.random((draws, 1000)) < 0.95, 0.0, rng.random((draws, 1000)))
    else:
        metric = (rng.random((draws, 1000)) < share) * 1.0
    noise = rng.standard_normal(metric.shape)
    if kind == "none":
        return metric, noise
    if kind == "fair":
        return metric, 1 / (1 + np.exp(1 - 2 * metric - noise))
    return metric, (0.6 * metric + 0.2 * noise if kind == "strong" else metric + 0.05 * noise)


def today(metric, proxy, count):
    """Return the ends of Student's interval of e, as the estimates had it before: for the negative tests."""
    inside, guess = metric[:, :count], proxy[:, :count]
    centred = guess - guess.mean(1, keepdims=True)
    beta = (centred * inside).sum(1) / (centred**2).sum(1)
    line = beta[:, None] * proxy + (inside.mean(1) - beta * guess.mean(1))[:, None]
    line[:, :count] += 1000 / count * (inside - line[:, :count])
    reach = stats.t.ppf(0.975, count - 1) * line.std(1, ddof=1) / np.sqrt(1000)
    return line.mean(1) - reach, line.mean(1) + reach


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.98, "mostly 0"])
@pytest.mark.parametrize("count", [30, 60, 100, 150, 300])
def test_intervals_of_both_questions_hold_the_truth(count, share):
    """600 replays: a coverage of 95% is seen as 92% or less in one of a thousand."""
    true = 0.025 if share == "mostly 0" else share
    for kind, question in product(("none", "fair", "strong", "near"), ("these", "like")):
        metric, proxy = replays(share, draws=600, kind=kind, seed=count)
        found = score_interval(metric, proxy, np.arange(1000) < count, queries=question)
        truth = metric.mean(1) if question == "these" else true
        held = ((found.low <= truth) & (truth <= found.high)).mean()
        assert held >= 0.92, (kind, question)


@pytest.mark.parametrize(("share", "count"), [(0.95, 30), (0.98, 60), ("mostly 0", 60)])
def test_students_interval_fails_near_the_ends_of_the_scale(share, count):
    metric, proxy = replays(share, draws=600, kind="fair", seed=1)
    low, high = today(metric, proxy, count)
    true = 0.025 if share == "mostly 0" else share
    assert ((low <= true) & (true <= high)).mean() < 0.9


@pytest.mark.slow
def test_a_wide_interval_holds_what_the_pools_own_figure_misses():
    """A round of 1,000 queries of which some are topped up: newcomers' first items are matches in a tenth of them."""
    rng = np.random.default_rng(3)
    pool = rng.random((300, 1000))
    wide = np.clip(pool + np.where(rng.random(pool.shape) < 0.1, rng.uniform(0, 0.5, pool.shape), 0.0), 0, 1)
    for count in (60, 150, 300):
        found = nested_interval(wide, [pool], [np.arange(1000) < count])
        truth = wide.mean(1)
        assert ((found.low <= truth) & (truth <= found.high)).mean() >= 0.92
    fair = pool + rng.normal(0, 0.2, pool.shape)
    own = score_interval(pool, fair, np.arange(1000) < 300)
    assert ((own.low <= truth) & (truth <= own.high)).mean() < 0.8
