"""Rounds of both directions in which every match is known: images and captions of one world ask for each other."""

from dataclasses import replace

import numpy as np

from benchmarks.estimation.beds import bed_of
from counterpart_statistics.audits import audit_order

ANNOTATORS = {"annotator-1": (0.5, 0.6), "annotator-2": (0.5, 0.9), "annotator-3": (0.5, 1.2)}
OUTSIDE = {"outside-1": (0.5, 0.9), "outside-2": (0.0, 0.6), "outside-3": (0.0, 1.1)}


def synthetic_round(*, images=120, matches=12, seed=3):
    """Return both directions with all verdicts, no query drawn; ``matches``: of an image, on average, in the world."""
    rng = np.random.default_rng(seed)
    captions = 5 * images
    sides = [rng.standard_normal((count, 24)) + 0.4 * rng.standard_normal(24) for count in (images, captions)]
    affinity = sides[0] @ sides[1].T
    affinity = affinity / affinity.std() + 0.5 * rng.standard_normal(affinity.shape)
    affinity += 0.5 * rng.standard_normal((images, 1)) + 0.5 * rng.standard_normal((1, captions))
    free = np.arange(captions) // 5 == np.arange(images)[:, None]
    true = free | (affinity >= np.sort(affinity.ravel())[-matches * images])
    common = rng.standard_normal(affinity.shape)
    scores = {
        model: affinity + shared * common + noise * rng.standard_normal(affinity.shape)
        for model, (shared, noise) in (ANNOTATORS | OUTSIDE).items()
    }
    of_captions = {model: one.T for model, one in scores.items()}
    beds = (
        bed_of("both", scores, list(ANNOTATORS), sets_of(true), sets_of(free), range(images)),
        bed_of(
            "both", of_captions, list(ANNOTATORS), sets_of(true.T), sets_of(free.T), range(captions), to_captions=False
        ),
    )
    return [bed.whole(seed) for bed in beds]


def sets_of(rows):
    return [set(np.flatnonzero(row).tolist()) for row in rows]


def drawing(wholes, audited, seed=0):
    """Return the round with as many audited queries of each direction, drawn with the seed."""
    return [
        replace(one, seed=seed).drawing(map(str, audit_order(range(len(one.place)), [seed, side]).order[:audited]))
        for side, one in enumerate(wholes)
    ]
