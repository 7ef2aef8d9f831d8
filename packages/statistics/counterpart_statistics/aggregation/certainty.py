"""Certainty of verdicts: how probable it is that the side of each is right, how many of a round are wrong, with a 90%
interval, and when nothing may be said. One model for every method of aggregation.

``crowds`` rates answer sets, ``posterior`` gives the probability of a match. What no control can say, as of pairs on
which everybody errs, only reviews say: those of pairs drawn at random correct all probabilities.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpart_statistics.aggregation.certainty_intervals import (
    Correction,
    Judged,
    corrected,
    correction_by,
    interval_of,
)
from counterpart_statistics.aggregation.crowds import ControlAnswers, Crowd, crowd_of, shared_errors
from counterpart_statistics.aggregation.posterior import DIGITS, Pairs, Part, Posterior, posterior_of
from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import Batch, Floats, Votes

Flags = NDArray[np.bool_]
OfBatch = Callable[[Batch], Flags]
NARROWEST = 0.02  # share of verdicts: a narrower interval claims more than is known
FEWEST = {"sets": 20, "workers": 10, "controls": 30}
"""Submitted answer sets, their workers and different controls below which nothing may be said."""
WIDEST = 0.15  # share of verdicts
LOWEST = 0.6
FEW_ANSWERS = 60  # to controls, without a wrong one
UNRATED = 0.1  # share of votes in sets without a control
SEVERAL = 60
REVIEWED = 30
"""Pairs with two votes, or reviews of pairs drawn at random, from which on lone votes have a percentage."""


@dataclass(frozen=True)
class Certainty:
    """``rows`` (items,): the probability of a match by votes, 0 or 1 for gold controls; ``correction``: by reviews.
    ``figures``: of the verdicts, for JSON."""

    rows: SpooledRows
    correction: Correction | None = None
    figures: dict[str, Any] = field(default_factory=dict)

    def of(self, batch: Batch) -> Floats:
        return self.rows.read(batch.first, batch.last)

    def right(self, match: Floats, is_match: Flags) -> Floats:
        """Return the probability that verdicts are right, by that of a match and their sides."""
        said = np.where(is_match, match, 1 - match)
        return (corrected(said, self.correction) if self.correction else said).round(DIGITS)


def certainty_of(
    votes: Votes,
    answers: ControlAnswers | None = None,
    match: Collection[int] = (1, 2),
    *,
    sides: OfBatch | None = None,
    kept: OfBatch | None = None,
    reviewed: Mapping[int, bool] | None = None,
) -> Certainty:
    """Return how certain verdicts are.

    Args:
        answers: to controls, of all submitted sets, which ``votes`` name by their numbers. None: those among the votes,
            each worker as one set; then the figures say that nothing may be said.
        match: the levels that are a match.
        sides: which verdicts of a batch's items are a match; None: the likelier side.
        kept: the candidates of a batch whose verdicts are counted; None: all.
        reviewed: by code of the item, whether it is a match: reviews of pairs that were drawn at random.

    Raises ValueError for votes of a set that ``answers`` do not have.
    """
    is_match = np.isin(votes.levels, list(match))
    given = answers or _answers_among(votes, is_match)
    if not all(np.isin(batch.sets, np.arange(len(given.worker))).all() for batch in votes.batches()):
        raise ValueError("Some votes are of answer sets that are not among those of the answers to controls.")
    crowd = crowd_of(given)
    pairs = Pairs(votes, given, is_match, shared_errors(given, crowd))
    sample = pairs.sample(reviewed or ())
    found, rows = posterior_of(pairs, crowd, sample)
    judged = _judged(pairs, rows, sample, sides, kept, reviewed or {})
    said = np.where(judged.is_match, rows.read()[sample.items], 1 - rows.read()[sample.items])[judged.reviewed]
    certainty = Certainty(rows, correction_by(said, judged.right)[0] if len(said) else None)
    counts = _count(certainty, pairs, sides, kept)
    judged = replace(judged, total=counts.verdicts)
    figures = _crowd_figures(pairs, crowd, found) | {
        "several": counts.several,
        "reviewed": len(said),
        "reviewed_right": int(judged.right.sum()),
    }
    silent = _too_few(figures, counts, without_sets=answers is None)
    ends = None
    if not silent:
        ends = _widened(interval_of(pairs, crowd, found, judged), counts.share) if judged.kept.any() else (0.0, 1.0)
        silent = _too_wide(ends)
    return replace(certainty, figures={**counts.figures(None if silent else ends), **figures, "silent": silent})


def shows_percentage(figures: Mapping[str, Any] | None, votes: int) -> bool:
    """Whether the probability of a pair with this number of votes may be shown. Controls do not say how much harder
    pairs are: a lone vote needs pairs with several, or reviews of pairs drawn at random. ``figures`` are those of
    ``Certainty``; by those of an earlier program, which knew only the controls of counted sets, nothing may be shown.
    """
    if not figures or figures.get("silent", "unknown"):
        return False
    return votes > 1 or figures["several"] >= SEVERAL or figures["reviewed"] >= REVIEWED


def _answers_among(votes: Votes, is_match: Flags) -> ControlAnswers:
    """Return the answers to controls of a known side among the votes."""
    pairs = Pairs(votes, ControlAnswers.none(), is_match, 0.0)
    found = [np.zeros((4, 0), np.int64)]
    workers: dict[int, int] = {}
    for batch in votes.batches():
        workers |= dict(zip(batch.sets.tolist(), batch.workers.tolist(), strict=True))
        side = pairs.known(batch)[batch.items]
        right = is_match[batch.labels] == (side == 1)
        answers = np.stack([batch.first + batch.items, batch.sets, np.nan_to_num(side).astype(np.int64), right])
        found.append(answers[:, ~np.isnan(side)])
    worker = np.zeros(max(workers, default=-1) + 1, np.int64)
    worker[list(workers)] = list(workers.values())
    counted = np.isin(np.arange(len(worker)), list(workers))
    return ControlAnswers(worker, counted, *np.concatenate(found, axis=1))


def _verdicts(
    pairs: Pairs, rows: SpooledRows, sides: OfBatch | None, kept: OfBatch | None
) -> Iterator[tuple[Batch, Floats, Flags, Flags]]:
    """Yield each batch with its probabilities of a match, the sides of its verdicts, and which are counted."""
    for batch in pairs.votes.batches():
        match = rows.read(batch.first, batch.last)
        is_counted = ~batch.is_gold
        yield batch, match, sides(batch) if sides else match >= 0.5, is_counted & kept(batch) if kept else is_counted


def _judged(
    pairs: Pairs,
    rows: SpooledRows,
    sample: Part,
    sides: OfBatch | None,
    kept: OfBatch | None,
    reviewed: Mapping[int, bool],
) -> Judged:
    parts = [np.zeros((3, 0), np.int64)]
    for batch, _, is_match, counted in _verdicts(pairs, rows, sides, kept):
        begin, end = np.searchsorted(sample.items, [batch.first, batch.last])
        places = sample.items[begin:end] - batch.first
        parts.append(np.stack([batch.rows["code"][places], is_match[places], counted[places]]))
    codes, is_match, counted = np.concatenate(parts, axis=1)
    places = np.flatnonzero(np.isin(codes, list(reviewed)))
    right = np.array([reviewed[code] for code in codes[places].tolist()], dtype=bool) == is_match[places]
    return Judged(sample, is_match.astype(bool), counted.astype(bool), 0, places, right)


@dataclass(frozen=True)
class _Counts:
    """The number of verdicts that are counted, how many of them are expected to be right, the pairs with several votes,
    the votes, and those in sets without a control."""

    verdicts: int
    right: float
    several: int
    votes: int
    unrated: int

    @property
    def share(self) -> float:
        return self.right / max(self.verdicts, 1)

    def figures(self, ends: tuple[float, float] | None) -> dict[str, Any]:
        """Return the shares and numbers; ``ends`` of the interval, None where nothing may be said."""
        names = ("right", "right_low", "right_high", "expected_wrong", "wrong_low", "wrong_high")
        if ends is None:
            return {"verdicts": self.verdicts, **dict.fromkeys(names)}
        low, high = ends
        wrong = (self.verdicts - self.right, floor(self.verdicts * (1 - high)), ceil(self.verdicts * (1 - low)))
        shares = (round(self.share, 4), round(low, 4), round(high, 4))
        return {"verdicts": self.verdicts, **dict(zip(names, (*shares, round(wrong[0], 2), *wrong[1:]), strict=True))}


def _count(certainty: Certainty, pairs: Pairs, sides: OfBatch | None, kept: OfBatch | None) -> _Counts:
    sums = np.zeros(3)
    by_set = np.zeros(len(pairs.answers.worker))
    for batch, match, is_match, counted in _verdicts(pairs, certainty.rows, sides, kept):
        several = ~batch.is_gold & (batch.rows["votes"] > 1)
        right = certainty.right(match, is_match) @ counted
        sums += np.array([counted.sum(), right, several.sum()])
        by_set += np.bincount(batch.sets, ~batch.on_gold, minlength=len(by_set))
    unrated = by_set[pairs.answers.totals[1] == 0].sum()
    return _Counts(int(sums[0]), float(sums[1]), int(sums[2]), int(by_set.sum()), int(unrated))


def _crowd_figures(pairs: Pairs, crowd: Crowd, found: Posterior) -> dict[str, Any]:
    answers = pairs.answers
    submitted = answers.counted | (answers.totals[1] > 0)
    numbers = {"mean": crowd.mean, "alike": crowd.alike, "carry": crowd.carry, "shared": pairs.shared}
    numbers |= {"gap": found.gap, "prior": found.prior}
    return {
        **{name: round(number, 4) for name, number in numbers.items()},
        "easier": crowd.easier.round(4).tolist(),
        "levels": found.levels.round(4).tolist(),
        "sets": int(submitted.sum()),
        "uncounted": int((submitted & ~answers.counted).sum()),
        "workers": len(np.unique(answers.worker[submitted])),
        "controls": len(answers.controls[1]),
        "control_answers": len(answers.control),
        "control_errors": len(answers.right) - int(answers.right.sum()),
    }


def _widened(ends: tuple[float, float], share: float) -> tuple[float, float]:
    """Return an interval that is not too narrow and holds the share."""
    low = min(ends[0], share - NARROWEST / 2)
    high = max(ends[1], share + NARROWEST / 2)
    return max(min(low, 1 - NARROWEST), 0.0), min(high, 1.0)


def _too_few(figures: Mapping[str, Any], counts: _Counts, *, without_sets: bool) -> str:
    """Return why the controls are too few to show a percentage; empty where they are not."""
    if without_sets:
        return "The votes came without answer sets, whose controls could say how good they are."
    for name, words in (("sets", "answer sets"), ("workers", "workers"), ("controls", "controls")):
        if figures[name] < FEWEST.get(name, 0):
            number = f"{figures[name]} different ones" if name == "controls" else f"{figures[name]}"
            return f"Too few {words} to say ({number}; {FEWEST[name]} are needed)."
    if counts.unrated > UNRATED * counts.votes:
        return f"{counts.unrated:,} of {counts.votes:,} votes are of answer sets without a control that rates them."
    if not figures["control_errors"] and not figures["uncounted"] and figures["control_answers"] < FEW_ANSWERS:
        return (
            f"No control was answered wrong, and {figures['control_answers']} answers to controls are too few to say."
        )
    return ""


def _too_wide(ends: tuple[float, float]) -> str:
    """Return why an interval of the share of right verdicts is not to be shown; empty where it is."""
    low, high = (round(end, 2) for end in ends)  # as they are shown
    if round(high - low, 2) > WIDEST or low < LOWEST:
        return "The controls leave too wide a range for the share of right verdicts to say."
    return ""
