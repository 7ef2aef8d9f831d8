"""A small drawn collection for the chapter on active learning, and the runs that its items share.

The steps are those of the command ``active_learning``; no database is used. Two kinds learn: ``embedding``, which is
solved in a second, and ``imram``, the paper's model, on fewer pictures, whose regions are 12 cells in the place of a
detector's.
"""

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import django
import numpy as np

from benchmarks.papers.drawings import Kept, draw, trained
from counterpart_annotators.choosing import Round
from counterpart_annotators.progress import silent
from counterpart_annotators.training.learners import TrainingSet
from counterpart_drawn.meanings import CAPTIONS_EACH

DRAWN = (500, 7, 0.2)  # pictures, seed, share tested
SEEDS = 2
COLUMNS, ROWS, SHADES = 4, 3, 4
FEWER = 160  # pictures that imram learns from
KINDS: dict[str, dict[str, Any]] = {
    "embedding": {"image": "histogram", "dim": 64},
    "imram": {"word": 32, "embed": 32, "context": 20, "rarest": 2, "batch": 16, "rate": 3e-3, "epochs": 10},
}

MINI = "36"  # of the 120 pairs at the start; the paper's 2,560 of 8,700
SIZES = {"9": 640, "18": 1280, MINI: 2560, "72": 5120}  # ours by the paper's
WEIGHTS = ("surplus", "count")
CONDITIONS = [(batch, k) for batch in ("full", "mini") for k in (1, 5, 10)]
LOSS = "sum"  # of imram; embedding has none
FOLDERS: list[TemporaryDirectory[str]] = []


def cells_of(image: Kept) -> np.ndarray:
    """Return the features of a picture's cells, (12, 70): mean and spread of each colour, and shares of 64 colours."""
    pixels = np.asarray(image.open())
    strips = [part for rows in np.array_split(pixels, ROWS) for part in np.array_split(rows, COLUMNS, axis=1)]
    cells = np.stack([_described(part.reshape(-1, 3)) for part in strips])
    return cells / np.linalg.norm(cells, axis=1, keepdims=True)


def _described(cell: np.ndarray) -> np.ndarray:
    shade = cell // (256 // SHADES) @ np.array([SHADES**2, SHADES, 1])
    shares = np.bincount(shade, minlength=SHADES**3) / len(cell)
    return np.concatenate([cell.mean(0) / 255 - 0.5, cell.std(0) / 128, np.sqrt(shares)])


@cache
def figures(kind: str, score: str, *, seeds: int = SEEDS, **options: str) -> dict[str, Any]:
    """Return the figures that ``active_learning`` prints with these options."""
    settings = settings_of(kind)
    from mitl.active_learning.active_parameters import ActiveParameters
    from mitl.active_learning.active_steps import Scenario
    from mitl.active_learning.experiments import figures_of
    from mitl.models import Annotator

    asked = ActiveParameters(collection="drawn", kind=kind, score=score, seeds=seeds, **options)
    learned, measured = lessons_of(kind)
    n = len(learned.images)
    start, step = round(n * asked.start / 100), round(n * asked.step / 100)
    annotator = Annotator(name=kind, kind=kind, options=settings)
    with TemporaryDirectory() as kept:
        scenario = Scenario(asked, annotator, LOSS, learned, measured, start, step, Path(kept), silent)
        runs = {seed: scenario.run(seed) for seed in range(seeds)}
    return figures_of(runs, [start + number * step for number in range(asked.steps + 1)], n)


def grid() -> dict[str, Any]:
    """Return the figures of all conditions and weights, by condition and weight."""
    found = figures("embedding", ",".join(WEIGHTS), top_k="1,5,10", mini_batch=f"none,{MINI}")["scores"]
    batches = {"full": "full", "mini": f"mini-{MINI}"}
    return {
        f"{batch} + top-{k}, {weight}": found[f"{weight}-{batches[batch]}-top-{k}"]
        for batch, k in CONDITIONS
        for weight in WEIGHTS
    }


def compared() -> dict[str, Any]:
    """Return the figures of the sizes of mini-batches, of Core-set and of random choices."""
    return figures("embedding", "surplus,core-set,random", mini_batch=",".join(("none", *SIZES)))["scores"]


@cache
def first_round() -> Round:
    """Return the state after the first training: an annotator of the pairs at the start of seed 0."""
    settings = settings_of("embedding")
    from mitl.active_learning.active_parameters import ActiveParameters
    from mitl.active_learning.active_steps import one_caption_each

    learned, _ = lessons_of("embedding")
    n = len(learned.images)
    paired = np.sort(np.random.default_rng([0, 0]).choice(n, round(n * ActiveParameters.start / 100), replace=False))
    return Round(trained("embedding", settings, one_caption_each(learned, paired), LOSS), learned, paired)


@cache
def lessons_of(kind: str) -> tuple[TrainingSet, TrainingSet]:
    """Return what a kind learns from, a caption each, and what it is measured on, with all captions; of ``imram``,
    which is slow, a part with a caption each."""
    most, tested = (FEWER, 1) if kind == "imram" else (None, CAPTIONS_EACH)
    drawings = draw(*DRAWN)
    return drawings.part("train", most=most, captions=1), drawings.part("test", most=most, captions=tested)


@cache
def settings_of(kind: str) -> dict[str, Any]:
    """Return all settings of a kind; of ``imram``, the folder of regions is written first."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from mitl.annotators import kind_of
    from mitl.registration import settings_from

    given = {"regions": str(regions())} if kind == "imram" else {}
    return settings_from(kind, kind_of(kind), {**KINDS[kind], **given})


def regions() -> Path:
    """Write the features of all cells as ``imram`` reads them; the folder lasts as long as the process."""
    FOLDERS.append(TemporaryDirectory())
    folder = Path(FOLDERS[-1].name)
    drawings = draw(*DRAWN)
    drawings.write(folder, np.stack([cells_of(image) for image in drawings.images]))
    return folder
