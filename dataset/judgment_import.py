"""Take judgments that were given elsewhere into a round of ours, under workers of the channel ``import``."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Assignment, Decision, Judgment, Worker, WorkerIdentity
from annotation.people.workers import mark_simulated, worker_for
from core.errors import CounterpartError, some_of
from core.events import record
from core.inserts import insert_rows
from core.progress import Progress, silent, tracked
from core.text import counted
from dataset.outside_answers import form_of, read_long, read_raw
from hits.models import Item, Round, Seat
from hits.question import RIGHT_LEVELS
from hits.task_types import require_pairs

CHANNEL = "import"
_PAIR = ["image", "caption"]
_ANSWER = ["level", "shortcoming", "wrong_way"]
_BATCH = 2_000


@dataclass(frozen=True)
class Imported:
    """What an import added; nothing if the file was imported before."""

    judgments: int
    answer_sets: int
    workers: int
    seats_added: int
    known: int


def import_judgments(
    round: Round,
    path: Path,
    *,
    from_round: str | None = None,
    actor: str = "command",
    progress: Progress = silent,
) -> Imported:
    """Store the judgments of a file in the form ``judgments-long`` or ``judgments-csv`` as answers to ``round``.

    The long form needs a round that was packed from the same pairs with the same seed; ``from_round`` names one of
    several rounds of the file (default: the name of ``round``). Each of its workers becomes a worker of the channel
    ``import``; their votes count if they counted there, and simulated ones stay marked. The raw columns name no
    workers: the first answers of all pairs become those of one worker, the second those of another, and so on.
    Nobody is paid. Answer sets take the open seats of their HITs, and seats are added for more. A file that was
    imported before changes nothing.

    Raises CounterpartError and changes nothing if the round is open, or the file cannot be read or has unknown HITs,
    pairs, controls, levels or reasons, a worker who judged a pair twice, or other answers than were imported before.
    """
    require_pairs(round)
    if round.state == "open":
        raise CounterpartError(f"Round {round} is open: people are answering it. Close it first, or pack another one.")
    is_long = form_of(path) == "judgments-long"
    rows = read_long(path, round=from_round, default=round.name) if is_long else read_raw(path)
    progress("reading", len(rows), len(rows))
    with transaction.atomic():
        Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        items = _items(round)
        rows = _at_items(rows, items) if is_long else _at_candidates(rows, items)
        _check_once(rows)
        new = _without_known(rows)
        if new.empty:
            return Imported(0, 0, 0, 0, len(rows))
        workers = _workers(new, progress)
        assignments, seats = _assignments(round, new, workers, path.name)
        _store(new, assignments, workers, progress)
        added = Imported(len(new), len(assignments), len(workers), seats, len(rows) - len(new))
        record("imported", round, actor=actor, judgments=added.judgments, answer_sets=added.answer_sets)
    return added


def _items(round: Round) -> pd.DataFrame:
    columns = {
        "pk": "item_id",
        "hit__number": "hit",
        "hit_id": "hit_id",
        "image__key": "image",
        "caption__key": "caption",
        "image_id": "image_id",
        "caption_id": "caption_id",
        "control__polarity": "polarity",
    }
    found: Any = Item.objects.filter(hit__round=round).order_by("hit__number", "place").values_list(*columns)
    return pd.DataFrame.from_records(list(found), columns=list(columns.values())).fillna({"polarity": ""})


def _at_items(rows: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with their items. Raises CounterpartError for HITs and pairs that the round does not have."""
    unknown = sorted(set(rows["hit"]) - set(items["hit"]))
    if unknown:
        raise CounterpartError(
            f"The round lacks {counted(len(unknown), 'HIT')} of the file: {some_of(unknown)}. {_ALIKE}"
        )
    found = rows.merge(items, on=["hit", *_PAIR], how="left")
    missing = found[found["item_id"].isna()]
    if len(missing):
        raise CounterpartError(
            f"{counted(_count_pairs(missing), 'pair')} of the file cannot be found in their HITs: "
            f"{_some_pairs(missing)}. {_ALIKE}"
        )
    other = found[found["control"] != found["polarity"]]
    if len(other):
        raise CounterpartError(
            f"{counted(_count_pairs(other), 'pair is a control', 'pairs are controls')} in the file or in the round "
            f"but not in both: {_some_pairs(other)}. {_ALIKE}"
        )
    return found


_ONLY_ADDED = "Judgments are only added: a corrected file needs another round, and other names for its workers."
_ALIKE = "Pack the round from the same pool with the same seed, design and controls."


def _at_candidates(rows: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the items of their pairs; where a pair is in several HITs, its answers take turns.

    Raises CounterpartError for pairs that are no candidates of the round.
    """
    candidates = items[items["polarity"] == ""].copy()
    candidates["turn"] = candidates.groupby(_PAIR).cumcount()
    turns = candidates.groupby(_PAIR).size().rename("turns").reset_index()
    found = rows.merge(turns, on=_PAIR, how="left")
    missing = found[found["turns"].isna()]
    if len(missing):
        raise CounterpartError(
            f"The round does not ask about {counted(_count_pairs(missing), 'pair')} of the file: "
            f"{_some_pairs(missing)}. Pack a round of the pool that they were proposed in."
        )
    found["turn"] = (found["answer"] - 1) % found["turns"].astype(int)
    found = found.merge(candidates, on=[*_PAIR, "turn"])
    return found.assign(
        assignment=found["answer"], simulated=0, counted=1, active_seconds=np.nan, seconds=None, at=timezone.now()
    )


def _check_once(rows: pd.DataFrame) -> None:
    twice = rows[rows.duplicated(["worker", *_PAIR])]
    if len(twice):
        raise CounterpartError(
            f"{counted(len(twice), 'answer repeats', 'answers repeat')} a worker and a pair: {_some_pairs(twice)}. A "
            "worker judges a pair once."
        )


def _without_known(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are not stored yet. Raises CounterpartError where the same worker answered otherwise."""
    identities = WorkerIdentity.objects.filter(channel=CHANNEL)
    columns = ("worker__identities__external_id", "item_id", "image__key", "caption__key", *_ANSWER)
    stored: Any = Judgment.objects.filter(worker__identities__in=identities, worker__identities__channel=CHANNEL)
    names = ["worker", "known_item", *_PAIR, *(f"known_{name}" for name in _ANSWER)]
    known = pd.DataFrame.from_records(list(stored.order_by().values_list(*columns)), columns=names)
    known = known[known["worker"].isin(rows["worker"].unique())]
    if known.empty:
        return rows
    both = rows.merge(known, on=["worker", *_PAIR], how="left")
    is_known = both["known_item"].notna()
    same = both["known_item"] == both["item_id"]
    for name in _ANSWER:
        same &= both[name] == both[f"known_{name}"]
    if len(other := both[is_known & ~same]):
        raise CounterpartError(
            f"{counted(len(other), 'answer differs', 'answers differ')} from those that were imported before, or are "
            f"answers to another HIT: {_some_pairs(other)}. {_ONLY_ADDED}"
        )
    new = both[~is_known].drop(columns=[name for name in names if name.startswith("known_")])
    begun = new.merge(both.loc[is_known, ["worker", "hit_id"]].drop_duplicates(), on=["worker", "hit_id"])
    if len(begun):
        raise CounterpartError(
            f"{counted(len(begun), 'answer belongs', 'answers belong')} to answer sets that were imported before "
            f"without them: {_some_pairs(begun)}. {_ONLY_ADDED}"
        )
    return new


def _workers(rows: pd.DataFrame, progress: Progress) -> dict[str, Worker]:
    """Return the file's worker → ours."""
    simulated = rows.groupby("worker", sort=False)["simulated"].max()
    workers = {}
    for name, is_simulated in tracked(simulated.items(), "workers", progress, total=len(simulated), every=100):
        workers[str(name)] = worker_for(channel=CHANNEL, external_id=str(name))
        if is_simulated:
            mark_simulated(workers[str(name)])
    return workers


def _assignments(
    round: Round, rows: pd.DataFrame, workers: dict[str, Worker], source: str
) -> tuple[dict[tuple[int, str], Assignment], int]:
    """Make an assignment with a decision for every HIT and worker; return them and the number of seats added."""
    judged = zip(rows["polarity"], rows["level"], strict=True)
    wrong = [polarity != "" and level not in RIGHT_LEVELS[polarity] for polarity, level in judged]
    sets = rows.assign(wrong=wrong).groupby(["hit", "assignment", "worker"], sort=True)
    figures = sets.agg(
        hit_id=("hit_id", "first"),
        counted=("counted", "max"),
        seconds=("active_seconds", "max"),
        first=("at", "min"),
        last=("at", "max"),
        wrong=("wrong", "sum"),
    ).reset_index()
    seats, added = _seats(round, figures)
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
            )
        )
    assignments = Assignment.objects.bulk_create(made, batch_size=_BATCH)
    Decision.objects.bulk_create(
        (
            Decision(
                assignment=one,
                votes_count=one.state == Assignment.State.ACCEPTED,
                paid=False,
                reason=f"Imported from {source}.",
            )
            for one in assignments
        ),
        batch_size=_BATCH,
    )
    keys = zip(figures["hit_id"], figures["worker"], strict=True)
    return dict(zip(keys, assignments, strict=True)), added


def _seats(round: Round, figures: pd.DataFrame) -> tuple[Sequence[Seat], int]:
    """Return a seat for each answer set: those that count fill the open seats of their HIT and then new ones; others
    have any seat of it."""
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
            added.append(Seat(round=round, hit_id=hit, number=last[hit], state=Seat.State.FILLED))
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
        step="judgments",
        progress=progress,
    )


def _count_pairs(rows: pd.DataFrame) -> int:
    return len(rows[_PAIR].drop_duplicates())


def _some_pairs(rows: pd.DataFrame) -> str:
    pairs = rows[_PAIR].drop_duplicates()
    return some_of([f"image {image} with caption {caption}" for image, caption in pairs.itertuples(index=False)])
