"""The answers of rounds as a table, and their votes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Exists, OuterRef, Q, QuerySet
from numpy.typing import NDArray

from annotation.models import Assignment, AssignmentQuerySet, Rejection, Worker
from annotation.work.control_records import UNRETIRED
from annotation.work.judgments import answers_in
from core.errors import CounterpartError, some_of
from core.progress import Progress, silent
from corpus.models import Collection
from counterpart_statistics.judged import PAIR
from hits.models import Control, Item, Round
from hits.task_types import task_type_of
from mitl.models import Direction

VOTE = {
    "image_id": "image",
    "caption_id": "caption",
    "worker_id": "worker",
    "level": "level",
    "item_id": "item",
    "assignment__hit__number": "hit",
    "assignment_id": "answer_set",
}
"""The fields of a vote, all numbers, and their columns."""
ANSWER = {**VOTE, "shortcoming": "shortcoming", "wrong_way": "wrong_way"}
CONTROL = {**VOTE, "item__control__polarity": "control", "assignment__state": "state"}
TEXTS = {
    **{"shortcoming": "U14", "wrong_way": "U11", "control": "U8", "state": "U9", "direction": "U3"},
    "score": np.float64,
}
"""The types of columns that are not whole numbers."""
STANDING = Rejection.objects.filter(Q(needs_second=False) | Q(seconded_at__isnull=False), dropped_at=None)
"""Rejections that need no second person (any more)."""
PART = 20_000  # rows that are read at a time: texts take several times as much in an array


def answers_of(rounds: Sequence[Round]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers of rounds over one collection, by database ids and with their reasons, ``shortcoming`` and
    ``wrong_way``; and the submitted answer sets, by the id of the assignment.

    Of a set: ``worker``, ``accepted``, ``excluded`` (its votes do not count; others wait for a decision), ``rejected``
    (unpaid), ``seconds`` (NaN if unknown) and ``pairs``.
    """
    answers = read_table(answers_in(*rounds), ANSWER)
    sets = _sets_of(rounds, answers["answer_set"])
    answers["counted"] = answers["answer_set"].map(sets["accepted"]).fillna(False).astype(bool)
    answers = answers[~answers["item"].isin(_retired(rounds))].reset_index(drop=True)
    workers = _workers(rounds)
    answers = _described(answers, rounds, workers)
    rehearsed = sets.index[sets["round"].isin([one.pk for one in rounds if one.rehearsal])]
    answers["simulated"] |= answers["answer_set"].isin(rehearsed)
    return answers, sets.assign(worker=sets["worker"].map(workers["pseudonym"])).drop(columns="round")


def votes_of(round: Round, *, finished: bool = False, progress: Progress = silent) -> pd.DataFrame:
    """Return the answers of a round that count, by the collection's own keys, as a method of aggregation takes them;
    those that are ``finished``, for an estimate."""
    progress("reading judgments", 0, None)
    votes = pd.concat(map(pd.DataFrame, vote_parts(round, finished=finished)), ignore_index=True)
    votes = _described(votes, [round], _workers([round]))
    return with_keys(votes.assign(simulated=votes["simulated"] | round.rehearsal), round.pool.collection)


def vote_parts(round: Round, size: int = PART, *, finished: bool = False) -> Iterator[NDArray]:
    """Yield the answers of a round that count, ``size`` at a time, as arrays with the columns of VOTE."""
    retired = _retired([round])
    counted = answers_in(round).counted()
    for part in _parts(counted.finished() if finished else counted, VOTE, size):
        yield part[~np.isin(part["item"], retired)]


def control_answers(round: Round) -> pd.DataFrame:
    """Return the answers to the round's controls in submitted sets, counted or not, by database ids: what the certainty
    of verdicts rests on. Those to retired controls and those of sets ``thrown_out_otherwise`` are left out. A worker
    answers a pair once (``Judgment``), so that no control is answered by heart."""
    answers = answers_in(round).filter(UNRETIRED, assignment__state__in=Assignment.SUBMITTED)
    table = read_table(answers.exclude(assignment__in=thrown_out_otherwise(round).order_by().values("pk")), CONTROL)
    return table.assign(set=table["answer_set"], counted=table.pop("state") == Assignment.State.ACCEPTED)


def thrown_out_otherwise(round: Round) -> AssignmentQuerySet:
    """Return the answer sets that do not count for another reason than their controls. Controls of these say nothing
    about the crowd: robots and copyists who pass them would make it look better.

    They are those that a person rejected as done by a script or too fast, and those whose controls are right: flagged
    by a signal or excluded by a person. Where a worker needs a share of all their controls, sets without a signal
    may be out for other ones.
    """
    grounds = (Rejection.Grounds.AUTOMATED, Rejection.Grounds.TOO_FAST)
    rejected = STANDING.filter(assignment=OuterRef("pk"), grounds__in=grounds)
    right = Q(control_failures=0) if task_type_of(round).passing == 1 else Q(control_failures=0) & ~Q(signals=[])
    out = (Assignment.State.FLAGGED, Assignment.State.EXCLUDED)
    return Assignment.objects.with_hit().filter(right | Exists(rejected), hit__round=round, state__in=out)


def read_table(rows: QuerySet[Any], columns: Mapping[str, str]) -> pd.DataFrame:
    """Return fields of rows, whole numbers and TEXTS, as the named columns."""
    return pd.concat(map(pd.DataFrame, _parts(rows, columns, PART)), ignore_index=True)


def sides_of(direction: Direction) -> list[str]:
    """Return the columns of the queries and of the items of a direction."""
    return PAIR if direction == Direction.IMAGE_TO_CAPTION else PAIR[::-1]


def with_keys(table: pd.DataFrame, collection: Collection) -> pd.DataFrame:
    """Return a table of database ids by the collection's own keys."""
    return table.assign(
        image=_renamed(table["image"], collection.images.values_list("pk", "key")),
        caption=_renamed(table["caption"], collection.captions.values_list("pk", "key")),
    )


def with_ids(table: pd.DataFrame, collection: Collection) -> pd.DataFrame:
    """Return a table of keys by database ids. Raises CounterpartError if the collection no longer has some of them."""
    found = {}
    for column, rows in (("image", collection.images), ("caption", collection.captions)):
        ids = table[column].map(dict(rows.values_list("key", "pk")))
        gone = table.loc[ids.isna(), column].unique().tolist()
        if gone:
            raise CounterpartError(
                f"{collection} no longer has {len(gone)} of the {column}s: {some_of(gone)}. Import it again."
            )
        found[column] = ids.astype(np.int64)
    return table.assign(**found)


def _parts(rows: QuerySet[Any], columns: Mapping[str, str], size: int) -> Iterator[NDArray]:
    """Yield fields of rows as arrays of ``size`` rows, the last of fewer or none."""
    types = [(name, TEXTS.get(name, np.int64)) for name in columns.values()]
    found = rows.values_list(*columns).iterator(chunk_size=PART)
    last = size
    while last == size:
        part = np.fromiter(islice(found, size), types)
        last = len(part)
        yield part


def _described(answers: pd.DataFrame, rounds: Sequence[Round], workers: pd.DataFrame) -> pd.DataFrame:
    """Add what items and workers say: ``control``, the pseudonym and ``simulated``."""
    controls = Item.objects.filter(hit__round__in=rounds, control__isnull=False)
    polarities = controls.values_list("pk", "control__polarity")
    return answers.drop(columns="item").assign(
        control=_renamed(answers["item"], polarities).fillna(""),
        worker=answers["worker"].map(workers["pseudonym"]),
        simulated=answers["worker"].map(workers["simulated"]).astype(bool),
    )


def _renamed(numbers: "pd.Series[int]", texts: Any) -> "pd.Series[str]":
    """Return the text of each number, missing where it has none."""
    return numbers.map(pd.Series(dict(texts), dtype="str"))


def _retired(rounds: Sequence[Round]) -> list[int]:
    """Return the items of retired controls: answers to them say nothing about anybody."""
    items = Item.objects.filter(hit__round__in=rounds, control__state=Control.State.RETIRED)
    return list(items.values_list("pk", flat=True))


def _workers(rounds: Sequence[Round]) -> pd.DataFrame:
    rows: Any = Worker.objects.filter(assignments__hit__round__in=rounds).distinct()
    columns = ["pk", "pseudonym", "simulated"]
    return pd.DataFrame(list(rows.values_list(*columns)), columns=columns).set_index("pk")


def _sets_of(rounds: Sequence[Round], answer_sets: "pd.Series[int]") -> pd.DataFrame:
    submitted = Assignment.objects.with_hit().filter(hit__round__in=rounds, state__in=Assignment.SUBMITTED)
    columns = {"pk": "pk", "worker": "worker", "state": "state", "active_seconds": "seconds", "hit__round": "round"}
    rows: Any = list(submitted.order_by("pk").values_list(*columns))
    sets = pd.DataFrame(rows, columns=list(columns.values())).set_index("pk")
    state = sets.pop("state")
    standing = STANDING.filter(assignment__hit__round__in=rounds)
    return sets.assign(
        seconds=sets["seconds"].astype(float),
        accepted=state == Assignment.State.ACCEPTED,
        excluded=state == Assignment.State.EXCLUDED,
        rejected=sets.index.isin(list(standing.values_list("assignment_id", flat=True))).astype(float),
        pairs=answer_sets.value_counts().reindex(sets.index, fill_value=0),
    )
