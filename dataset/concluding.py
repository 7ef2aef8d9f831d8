"""Conclude a round: rewrite its verdicts from the judgments that count."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from django.db import transaction

from annotation.models import Judgment, JudgmentQuerySet
from core.errors import CounterpartError
from core.events import record, subject_of
from core.models import Event
from core.progress import Progress, silent, tracked
from dataset.aggregation import METHODS, Method, Ties, aggregate, choose_levels
from dataset.models import Verdict
from hits.models import Round
from hits.question import Level

# A pair's two database ids in one 64-bit number, so that frames and sets hold pairs as plain integers.
_SHIFT = 32
_BATCH = 5_000


@transaction.atomic
def aggregate_round(
    round: Round, *, method: Method = "majority", ties: Ties = "median", progress: Progress = silent
) -> dict[str, Any]:
    """Rewrite the round's verdicts of ``method``; return how many judgments, pairs and verdicts of each level.

    Only accepted assignments' answers on candidates are counted. ``ties`` is explained in
    ``dataset.aggregation.choose_levels``. Raises CounterpartError for an unknown method or where no
    judgment counts; the old verdicts then stand.
    """
    if method not in METHODS:
        raise CounterpartError(f"No method {method!r} to aggregate by; there is {', '.join(METHODS)}.")
    Round.objects.select_for_update().get(pk=round.pk)
    labels = _labels(round)
    if labels.empty:
        raise CounterpartError(f"Round {round} has no judgments that count; let its HITs be answered first.")
    distribution = aggregate(labels, method, levels=Level.values)
    levels = choose_levels(distribution, ties=ties)
    votes = labels.groupby("item").size()
    Verdict.objects.filter(round=round, method=method).delete()
    verdicts = list(_verdicts(round, method, distribution, levels, votes))
    for start in tracked(range(0, len(verdicts), _BATCH), "verdicts", progress, every=1):
        Verdict.objects.bulk_create(verdicts[start : start + _BATCH])
    counted = _fingerprint(round)
    record("aggregated", round, actor="command", method=method, ties=ties, judgments=len(labels), counted=counted)
    by_level = levels.value_counts().reindex(Level.values, fill_value=0)
    return {
        "judgments": len(labels),
        "pairs": len(levels),
        **{f"level {level}": int(count) for level, count in by_level.items()},
    }


def conclusion_of(round: Round, *, method: Method = "majority") -> dict[str, Any]:
    """Return how the round's present verdicts were made: ``method`` and ``ties``.

    Raises CounterpartError where it was never aggregated, or where other judgments count now than then.
    """
    events = Event.objects.filter(subject=subject_of(round), verb="aggregated", data__method=method)
    made = events.first()
    if made is None:
        raise CounterpartError(f"Round {round} has no verdicts; run aggregate {round} first.")
    if made.data["counted"] != _fingerprint(round):
        raise CounterpartError(f"Other judgments of round {round} count now than in its verdicts; run aggregate again.")
    return {"method": method, "ties": made.data["ties"]}


def _counted(round: Round) -> JudgmentQuerySet:
    return Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round)


def _labels(round: Round) -> pd.DataFrame:
    rows = _counted(round).order_by().values_list("image_id", "caption_id", "worker_id", "level")
    image, caption, worker, level = np.array(list(rows), dtype=np.int64).reshape(-1, 4).T
    return pd.DataFrame({"item": image << _SHIFT | caption, "worker": worker, "label": level})


def _verdicts(
    round: Round, method: str, distribution: pd.DataFrame, levels: pd.Series, votes: pd.Series
) -> Iterator[Verdict]:
    shares = distribution.to_numpy()
    for item, row, level, count in zip(levels.index, shares.tolist(), levels.tolist(), votes.tolist(), strict=True):
        yield Verdict(
            round=round,
            method=method,
            image_id=item >> _SHIFT,
            caption_id=item & (1 << _SHIFT) - 1,
            level=level,
            distribution=row,
            confidence=row[level - 1],
            votes=count,
        )


def _fingerprint(round: Round) -> str:
    """The SHA-256 of which judgments count, which tells verdicts that a later decision has overtaken."""
    ids = np.fromiter(_counted(round).order_by("pk").values_list("pk", flat=True), dtype=np.int64)
    return hashlib.sha256(ids.tobytes()).hexdigest()
