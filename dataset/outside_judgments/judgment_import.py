"""Take judgments that were given elsewhere into a round of ours, under workers of the channel ``import``."""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django.db import transaction
from django.db.models import FilteredRelation, Q

from annotation.models import Assignment
from annotation.work.judgments import answers_in
from core.errors import CounterpartError, some_of
from core.events import record
from core.progress import Progress, silent
from core.text import counted
from core.work.authority import check_authority
from corpus.batches import begin_batch
from corpus.models import Batch
from dataset.outside_judgments import LONG_FORM, RAW_FORM, READERS, format_of, opening_of
from dataset.outside_judgments.answer_sets import answer_sets, write_answers
from dataset.outside_judgments.answer_table import CHANNEL, pseudonyms_of, read_outside
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from dataset.outside_judgments.judgment_placing import PAIR, Places, at_candidates, at_items, items_of, some_pairs
from dataset.outside_judgments.released_forms import read_long, read_raw
from hits.models import Round
from hits.task_types import require_pairs

KINDS = ("skipped", "rejected", "repeated", "unknown", "unnamed", "controls")
_SAID = ["level", "shortcoming", "wrong_way"]
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

    Of ``judgments-long``, controls are taken too where the round was packed from the same pairs with the same seed;
    votes count if they counted there, and simulated ones stay marked. ``judgments-csv`` names no workers: the first
    answers of all pairs become those of one worker, the second those of another, and so on. Files of other tools name
    neither HITs nor places: all their votes count, and what was skipped, cancelled or not submitted is left out,
    unpaid. Workers have pseudonyms of this round, of the channel ``import``. Answer sets take the open seats of their
    HITs, and seats are added for more. A file that was imported before, and an export of the round itself, change
    nothing.

    Raises CounterpartError and changes nothing if the round is open, or the file cannot be read or has unknown HITs,
    pairs, controls, levels or reasons, a worker who judged a pair twice, or other answers than were imported before.
    """
    require_pairs(round)
    _refuse_open(round)
    before = _imported_into(round)
    notes: Places = defaultdict(list)
    rows = _placed(round, path, wanted, notes, progress)
    _check_once(rows)
    stored = _stored(round)
    new = rows.iloc[:0] if _own(rows, stored) == len(rows) else _without_known(rows, stored)
    if _is_timed(new) and (own := _own(new, stored)):
        raise CounterpartError(
            f"{own:,} of {counted(len(rows), 'answer')} of the file are the round's own. Import the file into another "
            "round of these pairs."
        )
    notes["controls"] += [f"HIT {hit}" for hit in new.loc[new["polarity"] != "", "hit"]]
    if new.empty:
        return _summary(0, 0, 0, 0, len(rows), notes)
    sets = answer_sets(new)
    with transaction.atomic():
        _refuse_open(Round.objects.select_for_update(no_key=True).get(pk=round.pk))
        check_authority()
        if _imported_into(round) != before:
            raise CounterpartError(f"Another process imported judgments into round {round} meanwhile. Import again.")
        counts: dict[str, Any] = {"judgments": len(new), "answer_sets": len(sets)}
        batch = begin_batch(round.pool.collection, Batch.Kind.JUDGMENTS, actor=actor, path=path, **counts)
        seats = write_answers(batch, round, new, sets, progress)
        record("imported", round, actor=actor, batch=batch.name, **counts)
    return _summary(len(new), len(sets), new["worker"].nunique(), seats, len(rows) - len(new), notes, batch.name)


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
    """Return the judgments of the file with the round's items, and a pseudonym in ``worker``."""
    opening = opening_of(path)
    tool = format_of(path, opening, wanted.format)
    items = items_of(round)
    if tool == LONG_FORM:
        rows = at_items(read_long(path, round=wanted.from_round, default=round.name), items, notes)
    elif tool == RAW_FORM:
        rows = at_candidates(read_raw(path), items)
    else:
        answers = partial(READERS[tool].read, path, opening)
        rows = read_outside(round, path.name, answers, wanted, items=items, notes=notes, progress=progress)
    return rows.assign(worker=rows["worker"].map(pseudonyms_of(rows["worker"].unique(), tool=tool, round=round)))


def _check_once(rows: pd.DataFrame) -> None:
    twice = rows[rows.duplicated(["worker", *PAIR])]
    if len(twice):
        raise CounterpartError(
            f"{counted(len(twice), 'answer repeats', 'answers repeat')} a worker and a pair: {some_pairs(twice)}. A "
            "worker judges a pair once."
        )


def _stored(round: Round) -> pd.DataFrame:
    """Return the answers that the round has; ``worker`` is the pseudonym of an imported one."""
    imported = FilteredRelation("worker__identities", condition=Q(worker__identities__channel=CHANNEL))
    columns = ["imported__external_id", "item_id", "image_id", "caption_id", *_SAID, "at"]
    rows: Any = answers_in(round).annotate(imported=imported).values_list(*columns)
    return pd.DataFrame.from_records(list(rows), columns=["worker", *columns[1:]])


def _without_known(rows: pd.DataFrame, stored: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are not stored yet. Raises CounterpartError where the same worker answered otherwise."""
    known = stored[stored["worker"].isin(rows["worker"].unique())]
    if known.empty:
        return rows
    both = rows.merge(known, on=["worker", "image_id", "caption_id"], how="left", suffixes=("", "_known"))
    is_known = both["item_id_known"].notna()
    same = [both[name] == both[f"{name}_known"] for name in ("item_id", *_SAID)]
    if len(other := both[is_known & ~np.logical_and.reduce(same)]):
        raise CounterpartError(
            f"{counted(len(other), 'answer differs', 'answers differ')} from those that were imported before, or are "
            f"answers to another HIT: {some_pairs(other)}. {_ONLY_ADDED}"
        )
    new = rows[~is_known.to_numpy()]
    begun = new.merge(both.loc[is_known, ["worker", "hit_id"]].drop_duplicates(), on=["worker", "hit_id"])
    if len(begun):
        raise CounterpartError(
            f"{counted(len(begun), 'answer belongs', 'answers belong')} to answer sets that were imported before "
            f"without them: {some_pairs(begun)}. {_ONLY_ADDED}"
        )
    return new


def _own(rows: pd.DataFrame, stored: pd.DataFrame) -> int:
    """Return how many answers of an export the round has: on the same pairs and, where the file gives times, at the
    same times; 0 for files of other tools."""
    if rows.empty or stored.empty or not {"answer", "control"} & {*rows.columns}:
        return 0
    by = ["image_id", "caption_id", *_SAID]
    if _is_timed(rows):  # files have whole seconds
        by.append("at")
        stored = stored.assign(at=pd.to_datetime(stored["at"], utc=True).dt.floor("s"))
    there = rows.groupby(by).size().to_frame("file").join(stored.groupby(by).size().rename("round"), how="inner")
    return int(there.min(axis=1).sum())


def _is_timed(rows: pd.DataFrame) -> bool:
    return "control" in rows  # of the long form
