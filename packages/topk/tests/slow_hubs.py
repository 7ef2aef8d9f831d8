"""The hubness paper's definitions, entry by entry: slow witnesses for tests."""

from math import exp, isinf

import numpy as np


def slow_matching(similarity: np.ndarray, k: int, relaxation: float) -> list[list[int]]:
    """Algorithm 1 as printed, over a sorted list of all scores."""
    n, m = similarity.shape
    column_cap = m * n if isinf(relaxation) else round(relaxation * k)
    by_row, by_column, matched = [0] * n, [0] * m, []
    cells = ((i, j) for i in range(n) for j in range(m))
    for i, j in sorted(cells, key=lambda cell: (-similarity[cell], cell)):
        if len(matched) == min(n, m) * k:
            break
        if by_row[i] < k and by_column[j] < column_cap:
            matched.append([i, j])
            by_row[i] += 1
            by_column[j] += 1
    return matched


def slow_inverted_softmax(similarity: np.ndarray, beta: float, leave_one_out: bool) -> np.ndarray:
    n, m = similarity.shape
    return np.array(
        [
            [
                exp(beta * similarity[i, j])
                / sum(exp(beta * similarity[q, j]) for q in range(n) if not (leave_one_out and q == i))
                for j in range(m)
            ]
            for i in range(n)
        ]
    )


def slow_csls(similarity: np.ndarray, k: int) -> np.ndarray:
    def mean_of_best(scores: np.ndarray) -> float:
        return sum(sorted(scores, reverse=True)[:k]) / k

    return np.array(
        [
            [2 * score - mean_of_best(similarity[i]) - mean_of_best(similarity[:, j]) for j, score in enumerate(row)]
            for i, row in enumerate(similarity)
        ]
    )
