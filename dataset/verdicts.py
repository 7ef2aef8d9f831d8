"""Verdicts of a round, written from the judgments that count."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from django.db import transaction
from numpy.typing import NDArray

from annotation.models import Judgment, Worker
from core.errors import CounterpartError
from core.events import record
from core.inserts import insert_rows
from core.progress import Progress, silent
from core.seeds import check_seed
from dataset.aggregation import METHODS, POSITIVE, TIES, FullConclusion, Method, Ties, full_conclusion
from dataset.contents import Policies, proposals_of, verdicts_on
from dataset.models import Aggregation, Verdict
from dataset.rejections import rejections_of, sentence_of
from hits.models import Control, Item, Round
from hits.question import Level
from hits.task_types import require_pairs, task_type_of
from hits.task_types.task_type import TaskType


@transaction.atomic
def aggregate_round(
    round: Round,
    *,
    method: Method = "majority",
    ties: Ties = "median",
    seed: int = 0,
    workers: bool = False,
    actor: str = "command",
    progress: Progress = silent,
) -> dict[str, Any]:
    """Replace the round's verdicts by ``method``; return the numbers of judgments, pairs and verdicts of each level.

    The answers on candidates in accepted assignments become verdicts; those on controls that are not retired tell
    some methods about their workers. ``choose_levels`` explains ``ties``; ``seed`` draws the random starts of methods
    that have any. ``workers`` adds a row per worker (``dataset.aggregation.fit.describe_workers``); ``consensus`` adds
    one per annotator and direction. Raises CounterpartError for an unknown method or policy, or if no judgment
    counts; the existing verdicts are then kept.
    """
    require_pairs(round)
    _check(method, METHODS, "aggregation method")
    _check(ties, TIES, "policy for ties")
    check_seed(seed)
    Round.objects.select_for_update().get(pk=round.pk)
    votes = votes_of(round, progress=progress)
    judgments = int((votes["control"] == "").sum())
    if not judgments:
        raise CounterpartError(f"Round {round} has no judgments that count. Aggregate it once work is accepted.")
    progress("aggregating", 0, None)
    proposals = proposals_of([round]) if method == "consensus" else None
    try:
        conclusion = full_conclusion(votes, method=method, ties=ties, proposals=proposals, seed=seed)
    except ValueError as error:
        raise CounterpartError(f"Round {round}: {error}") from error
    Aggregation.objects.filter(round=round, method=method).delete()
    aggregation = Aggregation.objects.create(round=round, method=method, ties=ties, seed=seed, judgments=judgments)
    _write(aggregation, conclusion.verdicts, progress)
    record("aggregated", round, actor=actor, method=method, ties=ties, seed=seed, judgments=judgments)
    return {"judgments": judgments, **_figures(conclusion, task_type_of(round), workers)}


def rejections_so_far(round: Round) -> str:
    """Say which pairs the round rejects automatically, by its verdicts of today; empty without any."""
    rejections = rejections_of([round])
    if not rejections:
        return ""
    policies = Policies()
    verdicts = verdicts_on(votes_of(round), policies=policies)
    return sentence_of(rejections[0].figures(verdicts, policies.positive_levels))


def votes_of(round: Round, *, progress: Progress = silent) -> pd.DataFrame:
    """Return the counted judgments of a round as ``dataset.aggregation.conclude`` takes them.

    Images and captions are named by their keys, as in a release, workers by their pseudonyms. Beside them, ``hit`` is
    the number of the HIT, and ``simulated`` is 1 if a program answered.
    """
    progress("reading judgments", 0, None)
    columns = {
        **{"image_id": "image", "caption_id": "caption", "worker_id": "worker"},
        **{"level": "level", "item_id": "item", "item__hit__number": "hit"},
    }
    counted = Judgment.objects.counted().filter(assignment__hit__round=round).order_by()
    rows: Any = counted.values_list(*columns).iterator(chunk_size=20_000)
    read = np.fromiter(rows, dtype=[(name, np.int64) for name in columns.values()])
    collection = round.pool.collection
    workers = list(Worker.objects.filter(assignments__hit__round=round).distinct())
    programs = [worker.pk for worker in workers if worker.simulated or round.rehearsal]
    controls = Item.objects.filter(hit__round=round, control__isnull=False).values_list("pk", "control__polarity")
    table = pd.DataFrame(
        {
            "image": _renamed(read["image"], collection.images.values_list("pk", "key")),
            "caption": _renamed(read["caption"], collection.captions.values_list("pk", "key")),
            "worker": _renamed(read["worker"], ((worker.pk, worker.pseudonym) for worker in workers)),
            "level": read["level"],
            "control": _renamed(read["item"], controls).fillna(""),
            "hit": read["hit"],
            "simulated": np.isin(read["worker"], programs).astype(int),
        }
    )
    retired = controls.filter(control__state=Control.State.RETIRED).values_list("pk", flat=True)
    return table[~np.isin(read["item"], list(retired))].reset_index(drop=True)


def _renamed(names: NDArray[np.int64], table: Iterable[tuple[int, str]]) -> "pd.Series[str]":
    """Return the text for each number by ``table``, missing where it has none."""
    return pd.Series(names).map(pd.Series(dict(table), dtype="str"))


def _check(name: str, known: tuple[str, ...], what: str) -> None:
    if name not in known:
        raise CounterpartError(f"Unknown {what} {name!r}: use {', '.join(known)}.")


def _write(aggregation: Aggregation, verdicts: pd.DataFrame, progress: Progress) -> None:
    collection = aggregation.round.pool.collection
    shares = verdicts[[f"share_{level}" for level in Level.values]].to_numpy()
    insert_rows(
        Verdict,
        {
            "aggregation_id": aggregation.pk,
            "image_id": verdicts["image"].map(dict(collection.images.values_list("key", "pk"))).to_numpy(),
            "caption_id": verdicts["caption"].map(dict(collection.captions.values_list("key", "pk"))).to_numpy(),
            "level": verdicts["level"].to_numpy(),
            # As JSON writes them, three times as fast.
            "distribution": np.array(list(map(str, shares.tolist())), dtype=object),
            "confidence": verdicts["confidence"].to_numpy(),
            "votes": verdicts["votes"].to_numpy(),
        },
        step="writing verdicts",
        progress=progress,
    )


def _figures(conclusion: FullConclusion, task: TaskType, workers: bool) -> dict[str, Any]:
    by_level = conclusion.verdicts["level"].value_counts().reindex(Level.values, fill_value=0)
    figures: dict[str, Any] = {
        "pairs": len(conclusion.verdicts),
        **{f"level {level}": int(count) for level, count in by_level.items()},
        **{f"positive, {name}": int(by_level[list(levels)].sum()) for name, levels in POSITIVE.items()},
    }
    if task.score_label:
        shares = conclusion.verdicts[[f"share_{level}" for level in Level.values]].to_numpy()
        figures[f"mean {task.score_label}"] = _plain(float(task.score(shares).mean()))
    if len(conclusion.annotators):
        figures["annotators"] = _rows(conclusion.annotators)
    if workers:
        figures["workers"] = _rows(conclusion.workers.reset_index())
    return figures


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    """Return figures with four digits, and None where there is none: JSON knows no NaN."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return None if np.isnan(value) else float(f"{value:.4f}")
    return value
