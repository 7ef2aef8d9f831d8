"""Choose the settings of KCCA whose rankings are to be merged: a third each by R@1, R@5 and R@10 on a validation split
(Hodosh et al., section 4.1.3)."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from mitl.annotators.base import Arrays
from mitl.annotators.kcca.machine import Spaces
from mitl.models import Direction
from mitl.training.learners import TrainingSet

FEWEST_DIMENSIONS, N_DIMENSIONS = 10, 46
DEPTHS = (1, 5, 10)
SIDES = ("image", "text")


def choose(spaces: Spaces, split: TrainingSet, models: int, most_dimensions: int) -> Arrays:
    """Return ``chosen_i2t`` and ``chosen_t2i``, (models, 2): the number of a regularisation, and a dimension.

    Per direction, the best settings by R@1, then as many others by R@5, then by R@10; of equally good ones those of
    less regularisation, then of fewer dimensions. Dimensions are 46 from 10 to the most, evenly spaced in their
    logarithms, or fewer where there are not so many.
    """
    features = spaces.image_features(split.images), spaces.caption_features(split.captions)
    positive = np.zeros((len(split.images), len(split.captions)), dtype=bool)
    positive[split.pairs[:, 0], split.pairs[:, 1]] = True
    settings = list(product(range(spaces.n_regularisations), dimensions(most_dimensions)))
    recalls: dict[Direction, list[NDArray[np.float64]]] = {direction: [] for direction in Direction}
    for setting in settings:
        images, captions = (
            spaces.projection(side, *setting).of(part) for side, part in zip(SIDES, features, strict=True)
        )
        scores = images @ captions.T
        recalls[Direction.IMAGE_TO_CAPTION].append(recalls_of(scores, positive))
        recalls[Direction.CAPTION_TO_IMAGE].append(recalls_of(scores.T, positive.T))
    return {
        f"chosen_{direction.value}": np.array([settings[place] for place in best_of(np.stack(found), models)])
        for direction, found in recalls.items()
    }


def dimensions(most: int) -> list[int]:
    """Return up to 46 dimensions from 10 to ``most``; ``most`` alone where that is fewer."""
    first = min(FEWEST_DIMENSIONS, most)
    return np.unique(np.geomspace(first, most, N_DIMENSIONS).round().astype(int)).tolist()


def recalls_of(scores: NDArray[np.float32], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return R@1, R@5 and R@10 (3,) of the queries (rows) that have a positive item; an item must score more than all
    others to be first."""
    asking = positive.any(axis=1)
    scores, positive = scores[asking], positive[asking]
    best = np.where(positive, scores, -np.inf).max(axis=1, keepdims=True)
    ahead = ((scores >= best) & ~positive).sum(axis=1)
    return np.array([(ahead < depth).mean() for depth in DEPTHS])


def best_of(recalls: NDArray[np.float64], models: int) -> list[int]:
    """Return the places of the best settings, ``recalls`` (settings, 3): a third of ``models`` by each column, none
    twice; fewer where there are not so many settings."""
    chosen: list[int] = []
    for column in recalls.T:
        order = [place for place in np.argsort(-column, kind="stable").tolist() if place not in chosen]
        chosen += order[: models // len(DEPTHS)]
    return chosen
