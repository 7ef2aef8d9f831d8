"""Slow references of the losses."""

import numpy as np


def slow_loss(similarity: np.ndarray, name: str, margin: float) -> float:
    """The definitions, query by query."""
    total = 0.0
    for matrix in (similarity, similarity.T):
        for query, row in enumerate(matrix):
            positive = row[query]
            negatives = [score for place, score in enumerate(row) if place != query and score != -np.inf]
            below = [score for score in negatives if score < positive]
            if name == "max":
                negatives = [max(negatives)] if negatives else []
            elif name == "semi-hard" and negatives:
                negatives = [max(below)] if below else [min(negatives)]
            total += sum(max(0.0, margin - positive + score) for score in negatives)
    return total
