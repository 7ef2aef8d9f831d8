"""Drawn crowds: labels of workers whose errors are known."""

import numpy as np
import pandas as pd

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
