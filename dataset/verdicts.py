"""Verdicts of a round: write them from the judgments that count, and find those that are up to date."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from django.db import transaction

from annotation.models import Judgment, JudgmentQuerySet
from core.errors import CounterpartError
from core.events import record
from core.progress import Progress, silent, tracked
from dataset.aggregation import METHODS, Method, Ties, aggregate, choose_levels
from dataset.models import Aggregation, Verdict
from hits.models import Round
from hits.question import Level

# A pair's two database ids in one 64-bit number, so that frames and sets hold pairs as plain integers.
_SHIFT = 32
_BATCH = 5_000


@transaction.atomic
def aggregate_round(
    round: Round, *, method: Method = "majority", ties: Ties = "median", progress: Progress = silent
) -> dict[str, Any]:
    """Replace the round's verdicts by ``method``; return the numbers of judgments, pairs and verdicts of each level.

    Only answers on candidates in accepted assignments count. ``dataset.aggregation.choose_levels`` explains
    ``ties``. Raises CounterpartError for an unknown method or if no judgment counts; the existing verdicts are
    then kept.
    """
    if method not in METHODS:
        raise CounterpartError(f"Unknown aggregation method {method!r}: use {' or '.join(METHODS)}.")
    Round.objects.select_for_update().get(pk=round.pk)
    labels = _labels(round)
    if labels.empty:
        raise CounterpartError(f"Round {round} has no judgments that count. Aggregate it once work is accepted.")
    distribution = aggregate(labels, method, levels=Level.values)
    levels = choose_levels(distribution, ties=ties)
    votes = labels.groupby("item").size()
    Aggregation.objects.filter(round=round, method=method).delete()
    aggregation = Aggregation.objects.create(
        round=round, method=method, ties=ties, judgments=len(labels), fingerprint=_fingerprint(round)
    )
    verdicts = list(_verdicts(aggregation, distribution, levels, votes))
    for start in tracked(range(0, len(verdicts), _BATCH), "verdicts", progress, every=1):
        Verdict.objects.bulk_create(verdicts[start : start + _BATCH])
    record("aggregated", round, actor="command", method=method, ties=ties, judgments=len(labels))
    by_level = levels.value_counts().reindex(Level.values, fill_value=0)
    return {
        "judgments": len(labels),
        "pairs": len(levels),
        **{f"level {level}": int(count) for level, count in by_level.items()},
    }


def current_aggregation(round: Round, method: str = "majority") -> Aggregation:
    """Return the round's aggregation by ``method``.

    Raises CounterpartError if there is none, or if other judgments count now than when it was made.
    """
    command = f"aggregate {round}" + ("" if method == "majority" else f" --method {method}")
    aggregation = Aggregation.objects.filter(round=round, method=method).first()
    if aggregation is None:
        raise CounterpartError(f"Round {round} has no verdicts by {method}. Run {command} first.")
    if aggregation.fingerprint != _fingerprint(round):
        raise CounterpartError(
            f"The verdicts of round {round} are out of date: other judgments count now. Run {command} again."
        )
    return aggregation


def _counted(round: Round) -> JudgmentQuerySet:
    return Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round)


def _labels(round: Round) -> pd.DataFrame:
    rows = _counted(round).order_by().values_list("image_id", "caption_id", "worker_id", "level")
    image, caption, worker, level = np.array(list(rows), dtype=np.int64).reshape(-1, 4).T
    return pd.DataFrame({"item": image << _SHIFT | caption, "worker": worker, "label": level})


def _verdicts(
    aggregation: Aggregation, distribution: pd.DataFrame, levels: pd.Series, votes: pd.Series
) -> Iterator[Verdict]:
    shares = distribution.to_numpy()
    for item, row, level, count in zip(levels.index, shares.tolist(), levels.tolist(), votes.tolist(), strict=True):
        yield Verdict(
            aggregation=aggregation,
            image_id=item >> _SHIFT,
            caption_id=item & (1 << _SHIFT) - 1,
            level=level,
            distribution=row,
            confidence=row[level - 1],
            votes=count,
        )


def _fingerprint(round: Round) -> str:
    """Return the SHA-256 of which judgments count; it changes when a decision changes that."""
    ids = np.fromiter(_counted(round).order_by("pk").values_list("pk", flat=True), dtype=np.int64)
    return hashlib.sha256(ids.tobytes()).hexdigest()
