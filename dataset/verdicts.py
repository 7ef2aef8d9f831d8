"""Verdicts of a round, written from the judgments that count."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from django.db import transaction

from core.database.inserts import Columns, insert_rows
from core.errors import CounterpartError
from core.events import record
from core.files.stored_files import remove_file
from core.progress import Progress, silent
from corpus.batches import refuse_undone, undone_in
from counterpart_statistics.aggregation import POSITIVE, Concluded, Method, Ties, certainty_of, conclusions, fit_votes
from counterpart_statistics.aggregation.fit import Tallies
from counterpart_statistics.aggregation.votes import Votes
from dataset.judged.answer_tables import votes_of
from dataset.judged.coded_votes import PairCodes, read_round
from dataset.judged.verdict_files import LARGE, SCHEMA, add_rows_under_review, write_verdicts
from dataset.models import Aggregation, Verdict
from dataset.releases.release_parameters import AggregateParameters
from dataset.reviews.cases import update_queue
from dataset.versions.contents import Policies, proposals_of, verdicts_on
from dataset.versions.rejections import rejections_of, sentence_of
from dataset.versions.review_rows import Reviewed, random_prefix, review_rows
from hits.models import Round
from hits.question import Level
from hits.task_types import require_pairs, task_type_of
from hits.task_types.task_type import TaskType
from integrations.notifications import notify

SAID = ("expected_wrong", "wrong_low", "wrong_high", "silent")
"""The figures of the certainty of a round that a command prints."""


def aggregate(
    parameters: AggregateParameters, *, actor: str = "command", progress: Progress = silent
) -> dict[str, Any]:
    """Count the votes of the round that the parameters name, and refresh its part of the reviewers' queue; return the
    figures of ``aggregate_round``, whose errors are raised too."""
    chosen = asdict(parameters) | {"round": Round.objects.named(parameters.round)}
    figures = aggregate_round(**chosen, actor=actor, progress=progress)
    update_queue(chosen["round"])
    return figures


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

    The answers on candidates in accepted assignments become verdicts; some methods estimate the workers' errors from
    those on controls that are not retired. ``choose_levels`` explains ``ties``; ``seed`` draws the random starts of
    methods that have any. ``workers`` adds a row per worker (``aggregation.fit.Tallies``); ``consensus`` adds
    one per annotator and direction. Raises CounterpartError if no judgment counts, and if another process has replaced
    the verdicts meanwhile; the existing ones are then kept.
    """
    require_pairs(round)
    former = list(Aggregation.objects.filter(round=round, method=method))
    undone = undone_in(round.pool.collection)
    votes, codes, answers = read_round(round, progress=progress)
    judgments = votes.on_candidates
    if not judgments:
        raise CounterpartError(f"Round {round} has no judgments that count. Aggregate it once work is accepted.")
    progress("aggregating", 0, None)
    proposals = codes.added_to(proposals_of([round])) if method == "consensus" else None
    try:
        fit = fit_votes(votes, method, proposals=proposals, seed=seed)
        reviewed = _reviewed_at_random(round, votes, codes)
        certainty = certainty_of(votes, answers, sides=fit.sides(ties), reviewed=reviewed)
    except ValueError as error:
        raise CounterpartError(f"Round {round}: {error}") from error
    worth = certainty.figures
    figures = _figures(conclusions(votes, fit, ties, certainty), task_type_of(round))
    figures |= {name: worth[name] for name in SAID if worth[name] is not None}
    made = Aggregation(round=round, method=method, ties=ties, seed=seed, judgments=judgments, certainty=worth)
    parts = conclusions(votes, fit, ties, certainty)
    how: dict[str, Any] = {"verdicts": figures["pairs"], "undone": undone, "actor": actor, "progress": progress}
    if votes.candidates > LARGE:
        tables = _tables(parts, codes, votes.candidates, progress)
        stored = write_verdicts(f"verdicts/{round}-{method}", tables)
        made.file = stored.path
        made.sha256 = stored.sha256
        _replace(former, made, None, **how)
        add_rows_under_review(round.pool.collection)
    else:
        _replace(former, made, _columns(parts, codes), **how)
    if len(fit.members):
        figures["annotators"] = _rows(fit.members)
    if workers:
        figures["workers"] = _rows(Tallies.of(votes, fit, ties).described(fit.skills).reset_index())
    return {"judgments": judgments, **figures}


def _reviewed_at_random(round: Round, votes: Votes, codes: PairCodes) -> dict[int, bool]:
    """Return whether pairs match that were reviewed at random, by the codes of their candidates."""

    def keys() -> Iterator[tuple[Any, Any]]:
        for batch in votes.batches():
            images, captions = codes.places(batch.rows["code"][~batch.is_gold])
            yield codes.images.keys[images], codes.captions.keys[captions]

    found = random_prefix(keys(), round.seed, Reviewed.of(review_rows(round.pool.collection)))
    items = codes.added_to(pd.DataFrame(list(found), columns=["image", "caption"]))["item"]
    return dict(zip(items.tolist(), found.values(), strict=True))


def rejections_so_far(round: Round) -> str:
    """Say which pairs the round rejects automatically, by its verdicts of today; empty without any."""
    rejections = rejections_of([round])
    if not rejections:
        return ""
    policies = Policies()
    verdicts, _ = verdicts_on(votes_of(round), policies=policies)
    return sentence_of(rejections[0].figures(verdicts, policies.positive_levels))


def _replace(
    former: list[Aggregation],
    made: Aggregation,
    rows: Columns | None,
    *,
    verdicts: int,
    undone: int,
    actor: str,
    progress: Progress,
) -> None:
    """Store an aggregation in place of those that were there when it was begun; its verdicts are rows or a file."""
    round = made.round
    method = made.method
    files = {one.file: one.stored for one in former if one.file and one.file != made.file}
    try:
        with transaction.atomic():
            Round.objects.select_for_update().get(pk=round.pk)
            there = Aggregation.objects.filter(round=round, method=method)
            if list(there) != former:
                raise CounterpartError(f"Another process has counted the votes of round {round} meanwhile. Try again.")
            refuse_undone(round.pool.collection, undone)
            there.delete()
            made.save()
            if rows:
                insert_rows(Verdict, {"aggregation_id": made.pk, **rows}, step="writing verdicts", progress=progress)
            for stored in files.values():
                transaction.on_commit(partial(remove_file, stored))
            seeds = {"ties": made.ties, "seed": made.seed}
            record("aggregated", round, actor=actor, method=method, **seeds, judgments=made.judgments)
            counts = {"judgments": made.judgments, "verdicts": verdicts}
            notify("aggregation.made", f"/rounds/{round.name}/aggregations", id=round.name, method=method, **counts)
    except BaseException:
        if made.file and not Aggregation.objects.filter(file=made.file).exists():
            remove_file(made.stored)
        raise


def _columns(parts: Iterable[Concluded], codes: PairCodes) -> Columns:
    """Return the verdicts as columns of rows."""
    found = list(parts)
    images, captions = codes.places(np.concatenate([part.codes for part in found]))
    shares = np.concatenate([part.shares for part in found])
    return {
        "image_id": codes.images.ids[images],
        "caption_id": codes.captions.ids[captions],
        "level": np.concatenate([part.levels for part in found]),
        # As JSON writes them, three times as fast.
        "distribution": np.array(list(map(str, shares.tolist())), dtype=object),
        "confidence": np.concatenate([part.confidence for part in found]),
        "votes": np.concatenate([part.votes for part in found]),
        "probability": np.concatenate([part.probability for part in found]),
    }


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
    score = 0.0
    for part in parts:
        by_level.update(part.levels.tolist())
        score += float(task.score(part.shares).sum()) if task.score_label else 0.0
    figures: dict[str, Any] = {
        "pairs": by_level.total(),
        **{f"level {level}": count for level, count in sorted(by_level.items())},
        **{f"positive, {name}": sum(by_level[level] for level in levels) for name, levels in POSITIVE.items()},
    }
    if task.score_label:
        figures[f"mean {task.score_label}"] = _plain(score / by_level.total())
    return figures


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): _plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def _plain(value: Any) -> Any:
    """Return figures with four digits, and None for NaN, which JSON does not have."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return None if np.isnan(value) else float(f"{value:.4f}")
    return value
