"""Re-rank all scores so that hubs do not crowd the lists: CSLS, the inverted softmax, relaxed greedy matching.

The steps are written as text, names with commas between and settings after colons: ``csls:k=5,rgm``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from counterpart_topk.hubness.corrections import BETA, NEIGHBOURS, Csls, LogInvertedSoftmax
from counterpart_topk.hubness.matching import scored_matching
from counterpart_topk.hubness.score_blocks import MEMORY, Blocks, best_places
from counterpart_topk.progress import Progress, silent

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """A number that a step takes."""

    default: float
    allows: Callable[[float], bool]
    meaning: str


def _is_count(number: float) -> bool:
    return number >= 1 and number == int(number)


SETTINGS = {
    "csls": {"k": Setting(NEIGHBOURS, _is_count, "a whole number of neighbours, 1 or more")},
    "is": {"beta": Setting(BETA, lambda number: number > 0, "a temperature above 0")},
    "rgm": {
        "k": Setting(10, _is_count, "a whole number of matches for each query, 1 or more"),
        "relaxation": Setting(2.0, lambda number: number > 0, "a number above 0"),
    },
}
CORRECTIONS = ("csls", "is")


@dataclass(frozen=True)
class Step:
    """One step and all its settings, in the order of ``SETTINGS``. Its text is what ``parse_steps`` reads."""

    name: str
    settings: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        return ":".join([self.name, *(f"{name}={number:g}" for name, number in self.settings)])

    def __getitem__(self, setting: str) -> float:
        return dict(self.settings)[setting]


Steps = tuple[Step, ...]


def parse_steps(text: str) -> Steps:
    """Read steps such as ``csls,rgm`` or ``is:beta=20,rgm:k=10:relaxation=1.5``; settings left out have their defaults.

    Raises ValueError for an unknown step or setting, a repeated step, RGM before another step, CSLS and
    IS together (each corrects the plain scores), and settings out of range.
    """
    steps = tuple(_step(part.strip()) for part in text.split(","))
    names = [step.name for step in steps]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise ValueError(f"The re-ranking {text!r} names {', '.join(doubled)} more than once; use it once.")
    if set(CORRECTIONS) <= set(names):
        raise ValueError(f"The re-ranking {text!r} has both csls and is, which correct the same; choose one.")
    if "rgm" in names[:-1]:
        raise ValueError(f"In the re-ranking {text!r} rgm must be the last step: it matches corrected scores.")
    return steps


def written(steps: Sequence[Step]) -> str:
    """Return the steps with all settings as text that ``parse_steps`` reads back; ``none`` where there are none."""
    return ",".join(map(str, steps)) or "none"


def _step(text: str) -> Step:
    name, *settings = text.split(":")
    if name not in SETTINGS:
        raise ValueError(f"Unknown re-ranking step {name!r}; choose from {', '.join(SETTINGS)}.")
    given = dict(_setting(name, setting) for setting in settings)
    return Step(name, tuple((key, given.get(key, setting.default)) for key, setting in SETTINGS[name].items()))


def _setting(step: str, text: str) -> tuple[str, float]:
    key, _, value = text.partition("=")
    known = SETTINGS[step]
    if key not in known:
        examples = ", ".join(f"{name}={setting.default:g}" for name, setting in known.items())
        raise ValueError(f"The re-ranking step {step} has no setting {text!r}; it has {examples}.")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not isfinite(number) or not known[key].allows(number):
        raise ValueError(f"{key} of the re-ranking step {step} is {known[key].meaning}, not {value!r}.")
    return key, number


def rerank(
    blocks: Blocks,
    steps: Sequence[Step],
    depth: int,
    *,
    rows: Indices | None = None,
    memory: int = MEMORY,
    progress: Progress = silent,
) -> tuple[Indices, NDArray[np.float64]]:
    """Return the best items of queries after ``steps``, in order, and their scores.

    ``blocks`` has a row for every possible query: corrections and matchings are over all of them, so that a query's
    list does not depend on which others were sampled. What a step returns:

    - ``csls``: CSLS scores (the query's own term changes nothing in its list);
    - ``is``: the logarithm of eq. 5, without the query itself;
    - ``rgm``: the items matched to the query first, by falling score, then the others by falling score.

    A score is the pair's own after the correction. With ``rgm`` the scores of the others are lowered by one number a
    query where they would not stay below the matched ones: lists sorted by their scores again do not change.

    Args:
        steps: as ``parse_steps`` returns them; none = the plain search.
        depth: length of the lists, 1 to M.
        rows: the queries whose lists are returned, rising; None = all.
        memory: bytes for tiles and lists in addition to inputs and results.

    Returns:
        Items and scores, (len(rows), depth).

    Raises:
        ValueError: for a depth, rows or a setting that this matrix does not allow, or NaN among the scores.
    """
    if not 1 <= depth <= blocks.shape[1]:
        raise ValueError(f"Lists must be 1 to {blocks.shape[1]} items long, not {depth}.")
    rows = np.arange(blocks.shape[0]) if rows is None else np.asarray(rows, dtype=np.int64)
    if (np.diff(rows, prepend=-1, append=blocks.shape[0]) < 1).any():
        raise ValueError(f"The rows must rise from 0 to {blocks.shape[0] - 1}, each once.")
    scores = corrected(blocks, steps, memory=memory, progress=progress)
    return ranked(scores, steps, depth, rows, memory=memory, progress=progress)


def corrected(blocks: Blocks, steps: Sequence[Step], *, memory: int, progress: Progress) -> Blocks:
    """Return the scores after the correction among the steps, if there is one; their statistics are computed here."""
    for step in steps:
        if step.name == "csls":
            return Csls(blocks, int(step["k"]), memory=memory, progress=progress)
        if step.name == "is":
            return LogInvertedSoftmax(blocks, step["beta"], memory=memory, progress=progress)
    return blocks


def ranked(
    scores: Blocks, steps: Sequence[Step], depth: int, rows: Indices, *, memory: int, progress: Progress
) -> tuple[Indices, NDArray[np.float64]]:
    """Rank by corrected scores; matched items first if the last step is rgm."""
    items, best = best_places(scores, depth, rows=rows, memory=memory, progress=progress)
    if steps and steps[-1].name == "rgm":
        k = int(steps[-1]["k"])
        relaxation = steps[-1]["relaxation"]
        pairs, matched = scored_matching(scores, k, relaxation, memory=memory, progress=progress)
        items, best = _matched_first(_lists_of(pairs, matched, scores.shape, k, rows), (items, best))
    return items, best


def _lists_of(
    pairs: Indices, scores: NDArray[np.float64], shape: tuple[int, int], k: int, rows: Indices
) -> tuple[Indices, NDArray[np.float64]]:
    """Turn pairs in falling order into a list for each of some rows, at most k long, padded with -1."""
    n_rows = shape[0]
    width = min(k, shape[1])
    order = np.argsort(pairs[:, 0], kind="stable")
    counts = np.bincount(pairs[:, 0], minlength=n_rows)
    places = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
    items = np.full((n_rows, width), -1, dtype=np.int64)
    best = np.full((n_rows, width), -np.inf)
    items[pairs[order, 0], places] = pairs[order, 1]
    best[pairs[order, 0], places] = scores[order]
    return items[rows], best[rows]


def _matched_first(
    matched: tuple[Indices, NDArray[np.float64]], by_score: tuple[Indices, NDArray[np.float64]]
) -> tuple[Indices, NDArray[np.float64]]:
    """Join two lists a row: the first without its padding, then the items of the second that are not in the first,
    with scores below the first's."""
    depth = by_score[0].shape[1]
    again = np.zeros(by_score[0].shape, dtype=np.bool_)
    for place in range(matched[0].shape[1]):
        again |= by_score[0] == matched[0][:, place : place + 1]
    left_out = np.concatenate([matched[0] < 0, again], axis=1)
    kept = np.argsort(left_out, axis=1, kind="stable")[:, :depth]
    items, scores = (np.concatenate(both, axis=1) for both in zip(matched, by_score, strict=True))
    items = np.take_along_axis(items, kept, 1)
    scores = np.take_along_axis(scores, kept, 1)
    _lower_after(scores, np.minimum((matched[0] >= 0).sum(1), depth))
    return items, scores


def _lower_after(scores: NDArray[np.float64], n_first: Indices) -> None:
    """Lower all scores of a row after its first ones by one number, where the next would not be below the last."""
    rows = np.flatnonzero((n_first > 0) & (n_first < scores.shape[1]))
    last = scores[rows, n_first[rows] - 1]
    following = scores[rows, n_first[rows]]
    step = np.spacing(np.maximum(abs(last), abs(following)).astype(np.float32))  # scores have this precision
    too_much = np.where(following >= last, following - last + step, 0.0)
    after = np.arange(scores.shape[1]) >= n_first[rows, None]
    scores[rows] -= np.where(after, too_much[:, None], 0.0)
