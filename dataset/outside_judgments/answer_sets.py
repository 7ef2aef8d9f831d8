"""Imported judgments as rows: their workers, and an accepted or excluded answer set for each worker and HIT."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
from django.db import connection

from annotation.models import Assignment, Decision, Judgment, Worker
from annotation.people.workers import mark_simulated, worker_for
from core.database.inserts import insert_rows
from core.progress import Progress, tracked
from corpus.models import Batch
from dataset.outside_judgments.answer_table import CHANNEL
from hits.models import Round, Seat
from hits.question import RIGHT_LEVELS

_BATCH = 2_000


def answer_sets(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every HIT and worker of imported judgments."""
    judged = zip(rows["polarity"], rows["level"], strict=True)
    wrong = [polarity != "" and level not in RIGHT_LEVELS[polarity] for polarity, level in judged]
    sets = rows.assign(wrong=wrong).groupby(["hit", "assignment", "worker"], sort=True)
    return sets.agg(
        hit_id=("hit_id", "first"),
        counted=("counted", "max"),
        seconds=("active_seconds", "max"),
        first=("at", "min"),
        last=("at", "max"),
        wrong=("wrong", "sum"),
    ).reset_index()


def write_answers(batch: Batch, round: Round, rows: pd.DataFrame, sets: pd.DataFrame, progress: Progress) -> int:
    """Store the judgments and their answer sets, which take open seats of their HITs; return the number of seats that
    are added for more."""
    workers = _workers(rows.groupby("worker", sort=False)["simulated"].max(), progress)
    assignments, added = _assignments(batch, round, sets, workers)
    _store(rows, assignments, workers, progress)
    return added


def _workers(simulated: "pd.Series[int]", progress: Progress) -> dict[str, Worker]:
    """Return the file's worker → ours."""
    workers = {}
    for name, is_simulated in tracked(simulated.items(), "writing workers", progress, total=len(simulated), every=100):
        workers[str(name)] = worker_for(channel=CHANNEL, external_id=str(name))
        if is_simulated:
            mark_simulated(workers[str(name)])
    return workers


def _assignments(
    batch: Batch, round: Round, figures: pd.DataFrame, workers: dict[str, Worker]
) -> tuple[dict[tuple[int, str], Assignment], int]:
    """Make an assignment with a decision for every answer set; return them and the number of seats added."""
    seats, added = _seats(batch, round, figures)
    made = []
    for one, seat in zip(figures.itertuples(index=False), seats, strict=True):
        row: Any = one
        seconds = None if np.isnan(row.seconds) else int(row.seconds)
        made.append(
            Assignment(
                seat=seat,
                hit_id=row.hit_id,
                worker=workers[row.worker],
                channel=CHANNEL,
                state=Assignment.State.ACCEPTED if row.counted else Assignment.State.EXCLUDED,
                leased_at=row.first - timedelta(seconds=seconds or 0),
                deadline=row.last,
                submitted_at=row.last,
                active_seconds=seconds,
                control_failures=row.wrong,
                batch=batch,
            )
        )
    assignments = Assignment.objects.bulk_create(made, batch_size=_BATCH)
    Decision.objects.bulk_create(
        (
            Decision(
                assignment=one,
                votes_count=one.state == Assignment.State.ACCEPTED,
                paid=False,
                reason=f"Imported from {batch.file}.",
            )
            for one in assignments
        ),
        batch_size=_BATCH,
    )
    keys = zip(figures["hit_id"], figures["worker"], strict=True)
    return dict(zip(keys, assignments, strict=True)), added


def _seats(batch: Batch, round: Round, figures: pd.DataFrame) -> tuple[Sequence[Seat], int]:
    """Return a seat for each answer set: an open or new one if it counts, otherwise any seat of its HIT."""
    existing: dict[int, list[Seat]] = {}
    for seat in Seat.objects.select_for_update().filter(round=round).order_by("hit_id", "number"):
        existing.setdefault(seat.hit_id, []).append(seat)
    last = {hit: of_hit[-1].number for hit, of_hit in existing.items()}
    open_seats = {hit: [one for one in of_hit if one.state == Seat.State.OPEN] for hit, of_hit in existing.items()}
    taken: list[Seat] = []
    added: list[Seat] = []
    filled: list[Seat] = []
    for hit, counts in zip(figures["hit_id"], figures["counted"], strict=True):
        if not counts:
            taken.append(existing[hit][0])
        elif open_seats[hit]:
            filled.append(open_seats[hit].pop(0))
            taken.append(filled[-1])
        else:
            last[hit] += 1
            added.append(Seat(round=round, hit_id=hit, number=last[hit], state=Seat.State.FILLED, batch=batch))
            taken.append(added[-1])
    Seat.objects.bulk_create(added, batch_size=_BATCH)
    for seat in filled:
        seat.state = Seat.State.FILLED
    Seat.objects.bulk_update(filled, ["state"], batch_size=_BATCH)
    return taken, len(added)


def _store(
    rows: pd.DataFrame,
    assignments: dict[tuple[int, str], Assignment],
    workers: dict[str, Worker],
    progress: Progress,
) -> None:
    at = {one: str(connection.ops.adapt_datetimefield_value(one)) for one in rows["at"].unique()}
    keys = zip(rows["hit_id"], rows["worker"], strict=True)
    insert_rows(
        Judgment,
        {
            "assignment_id": np.array([assignments[key].pk for key in keys]),
            "worker_id": np.array([workers[name].pk for name in rows["worker"]]),
            **{name: rows[name].to_numpy(np.int64) for name in ("item_id", "image_id", "caption_id", "level")},
            **{name: rows[name].to_numpy(object) for name in ("shortcoming", "wrong_way", "seconds")},
            "at": np.array([at[one] for one in rows["at"]], object),
        },
        step="writing judgments",
        progress=progress,
    )
