"""Verdicts of a round, written from the judgments that count."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from django.db import transaction
from numpy.typing import NDArray

from annotation.models import Worker
from core.errors import CounterpartError
from core.events import record
from core.files import remove_file
from core.inserts import insert_rows
from core.progress import Progress, silent
from dataset.aggregation import (
    POSITIVE,
    Concluded,
    Method,
    Ties,
    certainty_of,
    conclusions,
    fit_votes,
)
from dataset.aggregation.fit import describe_workers
from dataset.cases import update_queue
from dataset.contents import Policies, proposals_of, verdicts_on
from dataset.models import Aggregation, Verdict
from dataset.rejections import rejections_of, sentence_of
from dataset.release_parameters import AggregateParameters
from dataset.round_votes import COLUMNS, PairCodes, counted_rows, read_round
from dataset.verdict_files import LARGE, SCHEMA, add_rows_under_review, write_verdicts
from hits.models import Item, Round
from hits.question import Level
from hits.task_types import require_pairs, task_type_of
from hits.task_types.task_type import TaskType
from integrations.notifications import notify


def aggregate(
    parameters: AggregateParameters, *, actor: str = "command", progress: Progress = silent
) -> dict[str, Any]:
    """Count the votes of the round that the parameters name, and refresh its part of the reviewers' queue; return the
    figures of ``aggregate_round``, whose errors are raised too."""
    round = Round.objects.named(parameters.round)
    figures = aggregate_round(
        round,
        method=parameters.method,
        ties=parameters.ties,
        seed=parameters.seed,
        workers=parameters.workers,
        actor=actor,
        progress=progress,
    )
    update_queue(round)
    return figures


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
    one per annotator and direction. Raises CounterpartError if no judgment counts; the existing verdicts are then kept.
    """
    require_pairs(round)
    Round.objects.select_for_update().get(pk=round.pk)
    votes, codes = read_round(round, progress=progress)
    judgments = votes.on_candidates
    if not judgments:
        raise CounterpartError(f"Round {round} has no judgments that count. Aggregate it once work is accepted.")
    progress("aggregating", 0, None)
    proposals = codes.added_to(proposals_of([round])) if method == "consensus" else None
    try:
        fit = fit_votes(votes, method, proposals=proposals, seed=seed)
    except ValueError as error:
        raise CounterpartError(f"Round {round}: {error}") from error
    certainty = certainty_of(votes)
    former = list(Aggregation.objects.filter(round=round, method=method))
    Aggregation.objects.filter(round=round, method=method).delete()
    figures = _figures(conclusions(votes, fit, ties, certainty), task_type_of(round))
    worth = {**certainty.figures, "verdicts": figures["pairs"], "expected_wrong": figures["expected wrong"]}
    aggregation = Aggregation.objects.create(
        round=round, method=method, ties=ties, seed=seed, judgments=judgments, certainty=worth
    )
    _write(aggregation, conclusions(votes, fit, ties, certainty), votes.candidates, codes, progress)
    for one in former:
        if one.file and one.file != aggregation.file:
            transaction.on_commit(partial(remove_file, one.stored))
    record("aggregated", round, actor=actor, method=method, ties=ties, seed=seed, judgments=judgments)
    counts = {"judgments": judgments, "verdicts": figures["pairs"]}
    notify("aggregation.made", f"/rounds/{round.name}/aggregations", id=round.name, method=method, **counts)
    if len(fit.members):
        figures["annotators"] = _rows(fit.members)
    if workers:
        figures["workers"] = _rows(describe_workers(votes, fit, ties).reset_index())
    return {"judgments": judgments, **figures}


def rejections_so_far(round: Round) -> str:
    """Say which pairs the round rejects automatically, by its verdicts of today; empty without any."""
    rejections = rejections_of([round])
    if not rejections:
        return ""
    policies = Policies()
    verdicts, _ = verdicts_on(votes_of(round), policies=policies)
    return sentence_of(rejections[0].figures(verdicts, policies.positive_levels))


def votes_of(round: Round, *, progress: Progress = silent) -> pd.DataFrame:
    """Return the counted judgments of a round as ``dataset.aggregation.conclude`` takes them.

    Images and captions are named by their keys, as in a release, workers by their pseudonyms. Beside them, ``hit`` is
    the number of the HIT, and ``simulated`` is 1 if a program answered.
    """
    progress("reading judgments", 0, None)
    empty = np.empty(0, [(name, np.int64) for name in COLUMNS.values()])
    read = np.concatenate([empty, *counted_rows(round)])
    collection = round.pool.collection
    workers = list(Worker.objects.filter(assignments__hit__round=round).distinct())
    programs = [worker.pk for worker in workers if worker.simulated or round.rehearsal]
    controls = Item.objects.filter(hit__round=round, control__isnull=False).values_list("pk", "control__polarity")
    return pd.DataFrame(
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


def _renamed(names: NDArray[np.int64], table: Iterable[tuple[int, str]]) -> "pd.Series[str]":
    """Return the text for each number by ``table``, missing where it has none."""
    return pd.Series(names).map(pd.Series(dict(table), dtype="str"))


def _write(
    aggregation: Aggregation, parts: Iterable[Concluded], total: int, codes: PairCodes, progress: Progress
) -> None:
    """Write the verdicts, ``total`` of them, as rows, or into a file where there are many."""
    if total > LARGE:
        tables = _tables(parts, codes, total, progress)
        stored = write_verdicts(f"verdicts/{aggregation.round}-{aggregation.method}", tables)
        aggregation.file, aggregation.sha256 = stored.path, stored.sha256
        aggregation.save(update_fields=["file", "sha256"])
        add_rows_under_review(aggregation.round.pool.collection)
        return
    found = list(parts)
    images, captions = codes.places(np.concatenate([part.codes for part in found]))
    shares = np.concatenate([part.shares for part in found])
    insert_rows(
        Verdict,
        {
            "aggregation_id": aggregation.pk,
            "image_id": codes.images.ids[images],
            "caption_id": codes.captions.ids[captions],
            "level": np.concatenate([part.levels for part in found]),
            # As JSON writes them, three times as fast.
            "distribution": np.array(list(map(str, shares.tolist())), dtype=object),
            "confidence": np.concatenate([part.confidence for part in found]),
            "votes": np.concatenate([part.votes for part in found]),
            "probability": np.concatenate([part.probability for part in found]),
        },
        step="writing verdicts",
        progress=progress,
    )


def _tables(parts: Iterable[Concluded], codes: PairCodes, total: int, progress: Progress) -> Iterator[pa.Table]:
    done = 0
    for part in parts:
        images, captions = codes.places(part.codes)
        keys = pa.array(codes.images.keys[images]), pa.array(codes.captions.keys[captions])
        yield pa.table([*keys, part.levels, *part.shares.T, part.votes, part.probability], schema=SCHEMA)
        done += len(part.codes)
        progress("writing verdicts", done, total)


def _figures(parts: Iterable[Concluded], task: TaskType) -> dict[str, Any]:
    by_level = Counter(dict.fromkeys(Level.values, 0))
    score = wrong = 0.0
    for part in parts:
        by_level.update(part.levels.tolist())
        wrong += float((1 - part.probability).sum())
        score += float(task.score(part.shares).sum()) if task.score_label else 0.0
    figures: dict[str, Any] = {
        "pairs": by_level.total(),
        **{f"level {level}": count for level, count in sorted(by_level.items())},
        **{f"positive, {name}": sum(by_level[level] for level in levels) for name, levels in POSITIVE.items()},
        "expected wrong": _plain(wrong),
    }
    if task.score_label:
        figures[f"mean {task.score_label}"] = _plain(score / by_level.total())
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
