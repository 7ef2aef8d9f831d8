"""Drawn crowds: labels of workers whose errors are known."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from counterpart_statistics.aggregation import ControlAnswers, certainty_of
from counterpart_statistics.aggregation.sorted_votes import read_votes
from counterpart_statistics.aggregation.votes import Votes

LEVELS = (1, 2, 3, 4)


def draw_crowd(
    accuracies: list[float], *, items: int = 200, each: int | None = None, seed: int = 0
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return labels and the true level of every item. A worker is right with their accuracy, otherwise at any of the
    other levels. ``each`` workers judge an item (None: all)."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 5, items)
    rows = []
    for item in range(items):
        for worker in rng.choice(len(accuracies), each or len(accuracies), replace=False):
            wrong = rng.choice([level for level in LEVELS if level != truth[item]])
            rows.append((item, worker, truth[item] if rng.random() < accuracies[worker] else wrong))
    return pd.DataFrame(rows, columns=["item", "worker", "label"]), truth


def as_votes(labels: pd.DataFrame) -> pd.DataFrame:
    """Return labels as votes on candidate pairs: image ``i{item}`` and caption ``c{item}``."""
    text = labels["item"].map("{:04d}".format)
    return pd.DataFrame(
        {
            "image": "i" + text,
            "caption": "c" + text,
            "worker": labels["worker"],
            "level": labels["label"],
            "control": "",
        }
    )


def share_right(distribution: pd.DataFrame, truth: np.ndarray) -> float:
    return float(np.mean(distribution.idxmax(axis=1).to_numpy() == truth))


@dataclass(frozen=True)
class Round:
    """Counted votes on candidates, the answers to controls of all submitted sets, and which items match."""

    labels: pd.DataFrame
    answers: ControlAnswers
    truth: np.ndarray

    @property
    def votes(self) -> Votes:
        return read_votes(self.labels, levels=LEVELS)

    def with_set(self, worker: int, right: int, times: int = 1) -> "Round":
        """Return the round with further sets of a worker that do not count, both controls right (1) or wrong (0)."""
        old = self.answers
        sets = len(old.worker) + np.repeat(np.arange(times), 2)
        answers = ControlAnswers(
            np.append(old.worker, np.full(times, worker)),
            np.append(old.counted, np.zeros(times, bool)),
            np.append(old.control, old.control.max() + 1 + np.arange(2 * times)),
            np.append(old.of_set, sets),
            np.append(old.side, np.arange(2 * times) % 2),
            np.append(old.right, np.full(2 * times, right)),
        )
        return replace(self, answers=answers)

    @property
    def without_failed(self) -> "Round":
        """The round as if the sets that do not count had no controls."""
        old = self.answers
        kept = old.counted[old.of_set]
        parts = (one[kept] for one in (old.control, old.of_set, old.side, old.right))
        return replace(self, answers=ControlAnswers(old.worker, old.counted, *parts))


def draw_round(
    seed: int = 0, *, items: int = 480, workers: int = 20, careless: float = 0.25, votes: int = 1, pairs: int = 16
) -> Round:
    """Return a round of sets of 16 pairs and two controls that are judged again until both are right. Careless workers
    guess; others are right with 0.97. A third of the pairs match."""
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.33
    quality = np.where(np.arange(workers) < careless * workers, 0.5, 0.97)
    chunks = np.array_split(rng.permutation(items), items // pairs)
    todo = [place for _ in range(votes) for place in range(len(chunks))]
    done: set[tuple[int, int]] = set()
    worker, right, rows = [], [], []
    while todo:
        place = todo.pop(0)
        who = int(rng.choice([one for one in range(workers) if (one, place) not in done]))
        good = rng.random(2) < quality[who]
        worker.append(who)
        right.append(good)
        if not good.all():
            todo.append(place)
            continue
        done.add((who, place))
        chunk = chunks[place]
        yes = truth[chunk] == (rng.random(len(chunk)) < quality[who])
        level = np.where(yes, 1, 3) + rng.integers(0, 2, len(chunk))
        rows.append(pd.DataFrame({"item": chunk, "worker": who, "label": level, "set": len(worker) - 1}))
    labels = pd.concat(rows, ignore_index=True)
    counted = np.all(right, axis=1)
    own = np.arange(2 * len(worker))  # each control is another pair
    answers = ControlAnswers(np.array(worker), counted, own, own // 2, own % 2, np.array(right).ravel().astype(int))
    return Round(labels, answers, truth)


@cache
def drawn(seed: int = 0, **design) -> Round:
    return draw_round(seed, **design)


@cache
def certainty(seed: int = 0, **design):
    round = drawn(seed, **design)
    return certainty_of(round.votes, round.answers)
