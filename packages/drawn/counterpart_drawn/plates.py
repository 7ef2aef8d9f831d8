"""The plans of a drawn collection: its pictures' keys, splits and scenes, and their captions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpart_drawn.meanings import CAPTIONS_EACH, Meaning, meanings_of
from counterpart_drawn.phrases import word
from counterpart_drawn.scenes import Scene, sample_scenes

ROUNDS = (("test", 0.4), ("val", 0.1))
LESSONS = (("val", 0.1),)  # splits other than "train", and their shares


@dataclass(frozen=True)
class Plate:
    """The plan of a picture: its key, split and scene, and the keys, meanings and texts of its captions."""

    key: str
    split: str
    scene: Scene
    caption_keys: list[str]
    meanings: list[Meaning]
    texts: list[str]


def compose(images: int, seed: int, held_out: Sequence[tuple[str, float]] = ROUNDS) -> list[Plate]:
    """Return the plans of ``images`` pictures; keys and order reveal nothing about them.

    ``held_out``: splits with their shares; the other pictures are in "train". Equal arguments give equal plans.
    """
    rng = np.random.default_rng([seed, 1])
    keys = rng.choice(np.arange(100_000, 1_000_000), size=images, replace=False)
    caption_keys = rng.choice(np.arange(1_000_000, 10_000_000), size=(images, CAPTIONS_EACH), replace=False).astype(str)
    splits = [split for split, share in held_out for _ in range(round(images * share))]
    splits += ["train"] * (images - len(splits))
    plates = []
    places = rng.permutation(images).tolist()
    for number, scene in enumerate(sample_scenes(images, seed)):
        lot = np.random.default_rng([seed, 2, number])
        meanings = meanings_of(scene, lot)
        texts = _differently_worded(meanings, lot)
        split = splits[places[number]]
        plates.append(Plate(str(keys[number]), split, scene, caption_keys[number].tolist(), meanings, texts))
    return plates


def _differently_worded(meanings: list[Meaning], rng: np.random.Generator) -> list[str]:
    """Return a text for each meaning; a text that an earlier caption has is worded again."""
    texts: list[str] = []
    for meaning in meanings:
        text = word(meaning, rng)
        while text in texts:
            text = word(meaning, rng)
        texts.append(text)
    return texts
