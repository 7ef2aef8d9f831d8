"""Take judgments that were given elsewhere into a round of ours, under workers of the channel ``import``."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django.db import connection, transaction

from annotation.models import Assignment, Decision, Judgment, Worker, WorkerIdentity
from annotation.people.workers import mark_simulated, worker_for
from core.database.inserts import insert_rows
from core.errors import CounterpartError, some_of
from core.events import record
from core.progress import Progress, silent, tracked
from core.text import counted
from core.work.authority import check_authority
from corpus.batches import begin_batch
from corpus.models import Batch
from dataset.outside_judgments import LONG_FORM, RAW_FORM, READERS, format_of, opening_of
from dataset.outside_judgments.answer_table import CHANNEL, read_outside
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.outside_judgments.judgment_placing import (
    PAIR,
    Places,
    at_candidates,
    at_items,
    items_of,
    some_pairs,
)
from dataset.outside_judgments.released_forms import read_long, read_raw
from hits.models import Round, Seat
from hits.question import RIGHT_LEVELS
from hits.task_types import require_pairs

KINDS = ("skipped", "rejected", "repeated", "unknown", "unnamed", "controls")
_ANSWER = ["level", "shortcoming", "wrong_way"]
_BATCH = 2_000
_ONLY_ADDED = "Judgments are only added: a corrected file needs another round, and other names for its workers."


@dataclass(frozen=True)
class Imported:
    """What an import added; nothing if the file was imported before. ``undo`` takes ``batch`` back.

    Not taken are ``skipped`` answers, which are blank, cancelled or not submitted; those that were ``rejected``; those
    that the same worker ``repeated``, whose last one counts; and ``unknown`` ones, which are not a level or of no pair
    of the round. ``unnamed`` answers name no worker; ``controls`` are on controls of the round or of the file.
    ``examples`` has some places of each kind.
    """

    judgments: int
    answer_sets: int
    workers: int
    seats_added: int
    known: int
    skipped: int
    rejected: int
    repeated: int
    unknown: int
    unnamed: int
    controls: int
    examples: dict[str, str]
    batch: str = ""

    def __str__(self) -> str:
        found = [f"{name} {getattr(self, name):,} ({places})" for name, places in self.examples.items()]
        noted = f" Answers noted: {'; '.join(found)}." if found else ""
        if not self.judgments:
            return f"All {self.known:,} judgments were imported before; nothing is changed.{noted}"
        known = f"; {self.known:,} were known already" if self.known else ""
        return (
            f"{counted(self.judgments, 'judgment')} of {counted(self.workers, 'worker')} imported in "
            f"{counted(self.answer_sets, 'answer set')}{known}.{noted}"
        )


def import_judgments(
    round: Round,
    path: Path,
    *,
    wanted: JudgmentParameters = JudgmentParameters(),  # noqa: B008  it is frozen
    actor: str = "command",
    progress: Progress = silent,
) -> Imported:
    """Store the judgments of a file as answers to ``round``.

    ``judgments-long`` needs a round that was packed from the same pairs with the same seed. Each of its workers becomes
    a worker of the channel ``import``; their votes count if they counted there, and simulated ones stay marked.
    ``judgments-csv`` names no workers: the first answers of all pairs become those of one worker, the second those of
    another, and so on. Files of other tools name neither HITs nor places: all their votes count, their workers have
    pseudonyms of this round, and what was skipped, cancelled or not submitted is left out, unpaid. Answer sets take the
    open seats of their HITs, and seats are added for more. A file that was imported before changes nothing.

    Raises CounterpartError and changes nothing if the round is open, or the file cannot be read or has unknown HITs,
    pairs, controls, levels or reasons, a worker who judged a pair twice, or other answers than were imported before.
    """
    require_pairs(round)
    _refuse_open(round)
    before = _imported_into(round)
    notes: Places = defaultdict(list)
    rows = _placed(round, path, wanted, notes, progress)
    _check_once(rows)
    new = rows.iloc[:0] if _own(round, rows) == len(rows) else _without_known(rows)
    if _is_timed(new) and (own := _own(round, new)):
        raise CounterpartError(
            f"{own:,} of {counted(len(rows), 'answer')} of the file are the round's own. Import the file into another "
            "round of these pairs."
        )
    notes["controls"] += [f"HIT {hit}" for hit in new.loc[new["polarity"] != "", "hit"]]
    if new.empty:
        return _summary(0, 0, 0, 0, len(rows), notes)
    sets = _answer_sets(new)
    simulated = new.groupby("worker", sort=False)["simulated"].max()
    with transaction.atomic():
        _refuse_open(Round.objects.select_for_update(no_key=True).get(pk=round.pk))
        check_authority()
        if _imported_into(round) != before:
            raise CounterpartError(f"Another process imported judgments into round {round} meanwhile. Import again.")
        workers = _workers(simulated, progress)
        counts = {"judgments": len(new), "answer_sets": len(sets)}
        batch = begin_batch(round.pool.collection, Batch.Kind.JUDGMENTS, actor=actor, path=path, **counts)
        assignments, seats = _assignments(batch, round, sets, workers)
        _store(new, assignments, workers, progress)
        record("imported", round, actor=actor, batch=batch.name, **counts)
    return _summary(len(new), len(assignments), len(workers), seats, len(rows) - len(new), notes, batch.name)


def _summary(
    judgments: int, answer_sets: int, workers: int, seats: int, known: int, notes: Places, batch: str = ""
) -> Imported:
    counts = {kind: len(notes[kind]) for kind in KINDS}
    examples = {kind: some_of(notes[kind], at_most=3) for kind in KINDS if notes[kind]}
    return Imported(judgments, answer_sets, workers, seats, known, **counts, examples=examples, batch=batch)


def _refuse_open(round: Round) -> None:
    if round.state == "open":
        raise CounterpartError(f"Round {round} is open for workers. Close it first, or pack another one.")


def _imported_into(round: Round) -> int:
    return Assignment.objects.filter(hit__round=round, channel=CHANNEL).count()


def _placed(round: Round, path: Path, wanted: JudgmentParameters, notes: Places, progress: Progress) -> pd.DataFrame:
    """Return the judgments of the file with the round's items."""
    opening = opening_of(path)
    tool = format_of(path, opening, wanted.format)
    items = items_of(round)
    if tool == LONG_FORM:
        return at_items(read_long(path, round=wanted.from_round, default=round.name), items, notes)
    if tool == RAW_FORM:
        return at_candidates(read_raw(path), items)
    answers = partial(READERS[tool].read, path, opening)
    return read_outside(round, path.name, answers, wanted, tool=tool, items=items, notes=notes, progress=progress)


def _check_once(rows: pd.DataFrame) -> None:
    twice = rows[rows.duplicated(["worker", *PAIR])]
    if len(twice):
        raise CounterpartError(
            f"{counted(len(twice), 'answer repeats', 'answers repeat')} a worker and a pair: {some_pairs(twice)}. A "
            "worker judges a pair once."
        )


def _without_known(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are not stored yet. Raises CounterpartError where the same worker answered otherwise."""
    identities = WorkerIdentity.objects.filter(channel=CHANNEL)
    columns = ("worker__identities__external_id", "item_id", "image__key", "caption__key", *_ANSWER)
    stored: Any = Judgment.objects.filter(worker__identities__in=identities, worker__identities__channel=CHANNEL)
    names = ["worker", "known_item", *PAIR, *(f"known_{name}" for name in _ANSWER)]
    known = pd.DataFrame.from_records(list(stored.order_by().values_list(*columns)), columns=names)
    known = known[known["worker"].isin(rows["worker"].unique())]
    if known.empty:
        return rows
    both = rows.merge(known, on=["worker", *PAIR], how="left")
    is_known = both["known_item"].notna()
    same = both["known_item"] == both["item_id"]
    for name in _ANSWER:
        same &= both[name] == both[f"known_{name}"]
    if len(other := both[is_known & ~same]):
        raise CounterpartError(
            f"{counted(len(other), 'answer differs', 'answers differ')} from those that were imported before, or are "
            f"answers to another HIT: {some_pairs(other)}. {_ONLY_ADDED}"
        )
    new = both[~is_known].drop(columns=[name for name in names if name.startswith("known_")])
    begun = new.merge(both.loc[is_known, ["worker", "hit_id"]].drop_duplicates(), on=["worker", "hit_id"])
    if len(begun):
        raise CounterpartError(
            f"{counted(len(begun), 'answer belongs', 'answers belong')} to answer sets that were imported before "
            f"without them: {some_pairs(begun)}. {_ONLY_ADDED}"
        )
    return new


def _own(round: Round, rows: pd.DataFrame) -> int:
    """Return how many answers of an export the round has: on the same pairs and, where the file gives times, at the
    same times; 0 for files of other tools."""
    by = ["image_id", "caption_id", *_ANSWER, *(["at"] if _is_timed(rows) else [])]
    columns = Judgment.objects.filter(item__hit__round=round).order_by().values_list(*by)
    stored = pd.DataFrame.from_records(list(columns), columns=by)
    if rows.empty or stored.empty or not {"answer", "control"} & {*rows.columns}:
        return 0
    if _is_timed(rows):  # files have whole seconds
        stored["at"] = pd.to_datetime(stored["at"], utc=True).dt.floor("s")
    there = rows.groupby(by).size().to_frame("file").join(stored.groupby(by).size().rename("round"), how="inner")
    return int(there.min(axis=1).sum())


def _is_timed(rows: pd.DataFrame) -> bool:
    return "control" in rows  # of the long form


def _workers(simulated: "pd.Series[int]", progress: Progress) -> dict[str, Worker]:
    """Return the file's worker → ours."""
    workers = {}
    for name, is_simulated in tracked(simulated.items(), "writing workers", progress, total=len(simulated), every=100):
        workers[str(name)] = worker_for(channel=CHANNEL, external_id=str(name))
        if is_simulated:
            mark_simulated(workers[str(name)])
    return workers


def _answer_sets(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every HIT and worker."""
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
    hits = figures["hit_id"].unique().tolist()
    existing: dict[int, list[Seat]] = {}
    for start in range(0, len(hits), _BATCH):
        some = Seat.objects.select_for_update().filter(hit_id__in=hits[start : start + _BATCH])
        for seat in some.order_by("hit_id", "number"):
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
    for start in range(0, len(filled), _BATCH):
        chosen = [seat.pk for seat in filled[start : start + _BATCH]]
        Seat.objects.filter(pk__in=chosen).update(state=Seat.State.FILLED)
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
