import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit, xlog1py, xlogy

from counterpart_statistics.aggregation import full_conclusion, sorted_votes
from counterpart_statistics.aggregation.certainty import RIGHT, SHRINKAGE, WRONG, certainty_of
from counterpart_statistics.aggregation.sorted_votes import read_votes
from crowds import as_votes, draw_crowd

GOLD = {"p": (1, 2), "n": (3, 4)}


def labels(*rows: tuple[str, str, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["item", "worker", "label"])


def drawn(*, each: int | None = 3, controls: int = 40, items: int = 400, seed: int = 1):
    """Votes of six workers of different quality with gold controls, and whether each item matches."""
    answers, truth = draw_crowd([0.95, 0.9, 0.8, 0.7, 0.6, 0.5], items=items, each=each, seed=seed)
    gold = {item: (1, 2) if truth[item] <= 2 else (3, 4) for item in range(controls)}
    return answers, gold, truth <= 2


def probabilities(answers: pd.DataFrame, gold=None) -> np.ndarray:
    return certainty_of(read_votes(answers, gold=gold)).rows.read()


def test_controls_show_what_one_vote_is_worth():
    controls = [(kind + str(n), "a", level) for kind, level in (("p", 1), ("n", 4)) for n in range(20)]
    gold = {item: GOLD[item[0]] for item, *_ in controls}
    read = read_votes(labels(*controls, ("x", "b", 1), ("y", "b", 4)), gold=gold)
    found = certainty_of(read)
    # 20 of 20 right and 4 of 5 given beforehand: 24 of 25. One yes and one no leave the share of matches at one half.
    assert (found.found, found.refused, found.prior) == pytest.approx((0.96, 0.96, 0.5), abs=0.01)
    assert dict(zip(read.item_names, found.rows.read(), strict=True))["x"] == pytest.approx(0.96, abs=0.01)
    assert dict(zip(read.item_names, found.rows.read(), strict=True))["y"] == pytest.approx(0.04, abs=0.01)


def test_controls_are_known_whatever_their_votes_say():
    read = read_votes(labels(("n", "a", 1), ("p", "a", 4), ("x", "a", 1)), gold=GOLD)
    assert certainty_of(read).rows.read().tolist()[:2] == [0, 1]


def test_a_worker_who_fails_controls_is_believed_less():
    controls = [("p", worker, level) for worker, level in (("good", 1), ("bad", 4))]
    controls += [("n", worker, level) for worker, level in (("good", 4), ("bad", 1))]
    good, bad = probabilities(labels(*controls, ("x", "good", 1), ("y", "bad", 1)), GOLD)[2:]
    assert good > bad


def test_one_vote_without_controls_is_believed_as_far_as_four_right_of_five_are():
    lone = probabilities(labels(*((str(n), "a", 1 + 3 * (n % 2)) for n in range(50))))
    assert sorted(set(lone)) == pytest.approx([0.2, 0.8], abs=0.01)


def test_a_round_of_lone_votes_learns_its_workers_from_controls_alone():
    # The worker says yes to all; a lone vote does not confirm that.
    lone = labels(("p", "a", 1), ("n", "a", 4), *((str(n), "a", 1) for n in range(30)))
    figures = certainty_of(read_votes(lone, gold=GOLD))
    p, crowd = figures.rows.read()[0], figures.figures
    found, refused = ((1 + SHRINKAGE * crowd[side]) / (1 + SHRINKAGE) for side in ("found", "refused"))
    assert p == pytest.approx(expit(logit(crowd["prior"]) + np.log(found / (1 - refused))), abs=1e-3)


def test_the_rates_of_the_crowd_are_the_likeliest():
    """The second witness is a direct search for the highest posterior, all workers alike."""
    answers, gold, _ = drawn()
    table = answers.assign(yes=answers.label <= 2).groupby("item")["yes"].agg(["sum", "size"])
    yes, no = table["sum"].to_numpy(), (table["size"] - table["sum"]).to_numpy()
    side = np.array([np.nan if item not in gold else gold[item] == (1, 2) for item in table.index])

    def surprise(logits):
        prior, found, refused = expit(logits)
        match = xlogy(yes, found) + xlog1py(no, -found)
        other = xlogy(no, refused) + xlog1py(yes, -refused)
        unknown = np.logaddexp(np.log(prior) + match, np.log1p(-prior) + other)
        total = np.where(np.isnan(side), unknown, np.where(side == 1, match, other)).sum() + np.log(prior * (1 - prior))
        return -total - sum(RIGHT * np.log(rate) + WRONG * np.log1p(-rate) for rate in (found, refused))

    found = certainty_of(read_votes(answers, gold=gold))
    best = expit(minimize(surprise, [0, 1, 1], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-8}).x)
    assert (found.prior, found.found, found.refused) == pytest.approx(best, abs=2e-3)


class Slow:
    """The model, vote by vote."""

    def __init__(self, answers: pd.DataFrame, gold, crowd: tuple[float, float], prior: float) -> None:
        self.votes = [(one.item, one.worker, one.label <= 2) for one in answers.itertuples()]
        self.known = {item: float(levels == (1, 2)) for item, levels in gold.items()}
        self.crowd, self.prior = crowd, prior
        self.rates = dict.fromkeys(answers.worker, crowd)
        for _ in range(20):
            self.match = {
                item: self.known.get(item, expit(logit(prior) + self.added(item))) for item in set(answers.item)
            }
            self.rates = self.learned()

    def added(self, item, rates=None) -> float:
        rates = rates or self.rates
        odds = 1.0
        for found, refused, yes in ((*rates[worker], yes) for one, worker, yes in self.votes if one == item):
            odds *= found / (1 - refused) if yes else (1 - found) / refused
        return np.log(odds)

    def learned(self, without=None):
        right = {worker: [0.0, 0.0] for worker in self.rates}
        voted = {worker: [0.0, 0.0] for worker in self.rates}
        for item, worker, yes in self.votes:
            for side, chance in enumerate((self.match[item], 1 - self.match[item])):
                if item != without:
                    voted[worker][side] += chance
                    right[worker][side] += chance * (yes == (side == 0))
        return {
            worker: tuple(
                (right[worker][k] + SHRINKAGE * self.crowd[k]) / (voted[worker][k] + SHRINKAGE) for k in (0, 1)
            )
            for worker in self.rates
        }


def test_the_probabilities_are_those_of_a_slow_reference():
    answers, gold, _ = drawn()
    found = certainty_of(read_votes(answers, gold=gold))
    slow = Slow(answers, gold, (found.found, found.refused), found.prior)
    expected = [
        slow.known.get(item, expit(logit(found.prior) + slow.added(item) / found.temperature)) for item in range(400)
    ]
    assert found.rows.read() == pytest.approx(expected, abs=2e-3)


def test_the_temperature_is_the_likeliest_on_controls_that_taught_nothing():
    answers, gold, _ = drawn()
    found = certainty_of(read_votes(answers, gold=gold))
    slow = Slow(answers, gold, (found.found, found.refused), found.prior)
    held_out = {item: slow.added(item, slow.learned(without=item)) for item in gold}
    start = logit((sum(slow.known.values()) + 1) / (len(gold) + 2))

    def surprise(temperature):
        sure = [(1 if slow.known[item] else -1) * (start + held_out[item] / temperature) for item in gold]
        return np.logaddexp(0, np.negative(sure)).sum() + np.log(temperature) ** 2 / 2

    tried = np.linspace(1, 5, 401)
    assert found.temperature == pytest.approx(tried[np.argmin([surprise(one) for one in tried])], abs=0.02)


@pytest.mark.parametrize("each", [1, 2, 3, None])
def test_probabilities_of_a_drawn_crowd_are_calibrated(each):
    answers, gold, match = drawn(each=each, items=4_000, controls=400)
    p, truth = probabilities(answers, gold)[400:], match[400:]
    bins = np.minimum((p * 10).astype(int), 9)
    error = sum(abs(p[bins == one].mean() - truth[bins == one].mean()) * (bins == one).mean() for one in set(bins))
    assert error <= 0.03


def test_neither_the_order_of_votes_nor_the_size_of_batches_changes_anything(monkeypatch):
    answers, gold, _ = drawn()
    at_once = certainty_of(read_votes(answers, gold=gold))
    monkeypatch.setattr(sorted_votes, "BATCH", 50)
    mixed = certainty_of(read_votes(answers.sample(frac=1, random_state=3), gold=gold))
    assert mixed.rows.read().tolist() == at_once.rows.read().tolist()
    assert mixed.figures == at_once.figures


def test_the_probability_of_a_verdict_is_that_of_its_side():
    votes = as_votes(draw_crowd([0.9, 0.8, 0.7], items=60)[0])
    found = full_conclusion(votes, certain=True)
    match = found.certainty.rows.read()
    is_match = found.verdicts["level"] <= 2
    assert found.verdicts["probability"].tolist() == pytest.approx(np.where(is_match, match, 1 - match).tolist())
