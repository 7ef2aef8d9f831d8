import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from counterpart_statistics.aggregation.ordinal import BIAS_SD, LAPSES, LOG_NOISE_SD, LOOKS, NOISE, ordinal
from counterpart_statistics.aggregation.sorted_votes import read_votes
from counterpart_statistics.aggregation.votes import Floats
from crowds import LEVELS, draw_crowd


def draw_perceptions(bias: list[float], noise: list[float], lapses: list[float], items: int = 600) -> tuple:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 5, items)
    seen = truth[:, None] + rng.normal(bias, noise, (items, len(bias)))
    answers = np.where(rng.random(seen.shape) < lapses, 4, np.clip(np.round(seen), 1, 4)).astype(int)
    item, worker = np.indices(answers.shape)
    return pd.DataFrame({"item": item.ravel(), "worker": worker.ravel(), "label": answers.ravel()}), truth


def slow_log_posterior(labels: pd.DataFrame, skills: pd.DataFrame, prior: Floats, habits: Floats) -> float:
    """What the model maximises, by loops: the logarithm of its likelihood times the priors of the parameters."""
    total = 0.0
    for _, votes in labels.groupby("item"):
        likelihood = prior.copy()
        for vote in votes.itertuples():
            one, answer = skills.loc[vote.worker], vote.label - 1
            edges = np.array([-np.inf, 0.5, 1.5, 2.5, np.inf])
            for level in range(4):
                low, high = norm.cdf((edges[answer : answer + 2] - level - one["bias"]) / one["noise"])
                likelihood[level] *= (1 - one["lapses"]) * (high - low) + one["lapses"] * habits[vote.worker, answer]
        total += np.log(likelihood.sum())
    total += norm.logpdf(skills["bias"], 0, BIAS_SD).sum()
    total += norm.logpdf(np.log(skills["noise"]), np.log(NOISE), LOG_NOISE_SD).sum()
    total += (LAPSES * np.log(skills["lapses"]) + LOOKS * np.log1p(-skills["lapses"])).sum()
    return total + np.log(prior).sum()


def test_bias_noise_and_lapses_of_workers_are_found():
    labels, _ = draw_perceptions([0.4, -0.4, 0, 0, 0], [0.3, 0.3, 0.8, 0.3, 0.3], [0, 0, 0, 0, 0.5])
    skills = ordinal(read_votes(labels)).skills.sort_index()
    assert skills["bias"].tolist()[:2] == pytest.approx([0.4, -0.4], abs=0.15)
    assert skills["noise"].idxmax() == 2
    assert skills["lapses"].idxmax() == 4
    assert skills.at[4, "lapses"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow
def test_the_parameters_are_the_most_probable_ones():
    """No small change of any parameter makes the posterior, computed by loops, greater."""
    labels, _ = draw_perceptions([0.3, -0.2, 0], [0.3, 0.5, 0.6], [0, 0.1, 0.2], items=30)
    fit = ordinal(read_votes(labels), iterations=5_000)
    prior = fit.distribution.sum(axis=0) + 1
    prior /= prior.sum()
    counts = (
        pd.crosstab(labels["worker"], labels["label"]).to_numpy()
        + 4 * labels["label"].value_counts(normalize=True).sort_index().to_numpy()
    )
    habits = counts / counts.sum(axis=1, keepdims=True)
    skills = fit.skills.sort_index()
    best = slow_log_posterior(labels, skills, prior, habits)
    for name in skills:
        for worker in skills.index:
            for factor in (0.95, 1.05):
                changed = skills.copy()
                changed.at[worker, name] *= factor
                assert slow_log_posterior(labels, changed, prior, habits) <= best + 1e-4


def test_it_is_right_where_workers_are_biased_and_the_majority_is_not():
    labels, truth = draw_perceptions([0.5, 0.5, 0.5, 0, 0], [0.35] * 5, [0] * 5)
    shares = pd.crosstab(labels["item"], labels["label"]).to_numpy()
    found = ordinal(read_votes(labels)).distribution.argmax(axis=1) + 1
    assert np.mean(found == truth) > np.mean(shares.argmax(axis=1) + 1 == truth)


def test_gold_items_keep_their_right_levels():
    labels = pd.DataFrame([(0, "x", 4), (0, "y", 4), (1, "x", 4)], columns=["item", "worker", "label"])
    distribution = ordinal(read_votes(labels, gold={0: (1, 2)})).distribution
    assert distribution[0, 2:].tolist() == [0, 0]


def test_unconfirmed_votes_are_kept():
    labels, _ = draw_crowd([0.9] * 20, items=400, each=1)
    found = ordinal(read_votes(labels, levels=LEVELS)).distribution.argmax(axis=1) + 1
    assert np.mean(found == labels.sort_values("item")["label"].to_numpy()) > 0.99


def test_an_iteration_is_one_step_of_fisher_scoring():
    """On gold items, whose levels are known, against information and gradient of numerical derivatives."""
    labels, truth = draw_perceptions([0.5, -0.3], [0.8, 0.3], [0, 0.2], items=80)
    votes = read_votes(labels, gold={item: (level,) for item, level in enumerate(truth)})
    counts = 4 * labels["label"].value_counts(normalize=True).sort_index().to_numpy()
    skills = ordinal(votes, iterations=1).skills

    def chances(parameters: Floats) -> Floats:
        """The probabilities of the answers (rows) to items of each level of one who looks."""
        bias, log_noise = parameters
        edges = np.array([-np.inf, 0.5, 1.5, 2.5, np.inf])[:, None]
        return np.diff(norm.cdf((edges - np.arange(4) - bias) / np.exp(log_noise)), axis=0)

    for worker in (0, 1):
        own = labels[labels["worker"] == worker]
        answered = pd.crosstab(own["label"], truth[own["item"]]).to_numpy()
        habits = answered.sum(axis=1) + counts
        unlooked = LAPSES / (LAPSES + LOOKS) * (habits / habits.sum())[:, None]
        start, small = np.array([0, np.log(NOISE)]), 1e-5 * np.eye(2)
        at_start = chances(start)
        looks = answered * (1 - unlooked / (LOOKS / (LAPSES + LOOKS) * at_start + unlooked))
        slopes = [(np.log(chances(start + one)) - np.log(chances(start - one))) / 2e-5 for one in small]
        gradient = np.array([(looks * slope).sum() for slope in slopes])
        information = [[(looks.sum(axis=0) * at_start * one * other).sum() for one in slopes] for other in slopes]
        priors = np.diag([1 / BIAS_SD**2, 1 / LOG_NOISE_SD**2])
        expected = start + np.clip(np.linalg.inv(np.array(information) + priors) @ gradient, -0.5, 0.5)
        found = skills.loc[worker]
        assert [found["bias"], np.log(found["noise"])] == pytest.approx(expected, abs=1e-6)
        assert found["lapses"] == pytest.approx((80 - looks.sum() + LAPSES) / (80 + LAPSES + LOOKS))
