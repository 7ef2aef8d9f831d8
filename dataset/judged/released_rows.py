"""The rows of a version's file of judgments: read from the database one by one, under pseudonyms, and compared."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.utils.crypto import salted_hmac

from annotation.models import Assignment
from annotation.work.answers import apart, order_of
from annotation.work.judgments import answers_in
from dataset.judged.answer_tables import thrown_out_otherwise
from dataset.versions.file_rows import ReleasedJudgment
from hits.models import Control, Item, Round
from hits.task_types import task_type_of

BROWSER = "browser"


def judgment_rows(rounds: Sequence[Round], *, key: str) -> Iterator[ReleasedJudgment]:
    """Yield every judgment of the rounds, uncounted ones and controls too, by round, HIT, assignment and place.

    ``key`` is the secret of the pseudonyms: those of two releases cannot be linked without the keys.
    """

    pseudonym = cache(partial(pseudonym_of, key=key))
    for round in sorted(rounds, key=lambda one: one.name):
        items = _items_of(round)
        for hit, of_hit in groupby(_rows_of(round), key=itemgetter("item__hit__number")):
            for number, answers in enumerate(_answer_sets(of_hit), 1):
                yield from _rows_of_answers(round, hit, number, items[hit], answers, pseudonym)


def _items_of(round: Round) -> Mapping[int, dict[int, int | None]]:
    """Return the number of each HIT → its items that are shown → the item that each repeats."""
    items: dict[int, dict[int, int | None]] = defaultdict(dict)
    rows = Item.shown.filter(hit__round=round).order_by().values_list("hit__number", "pk", "repeat_of")
    for hit, item, repeated in rows.iterator():
        items[hit][item] = repeated
    return items


def _rows_of(round: Round) -> Iterator[dict[str, Any]]:
    ordered = answers_in(round).order_by("item__hit__number", "pk")
    assignment = ("state", "outside_key", "channel", "active_seconds")
    columns = [
        *("item__hit__number", "item", "item__place", "item__control__polarity", "item__control__state"),
        *("assignment", *(f"assignment__{name}" for name in assignment)),
        *("worker__pseudonym", "worker__simulated", "image__key", "caption__key"),
        *("level", "shortcoming", "wrong_way", "seconds", "at"),
    ]
    return ordered.values(*columns).iterator(chunk_size=10_000)


def _answer_sets(rows: Iterable[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    """Group a HIT's rows by assignment, in the order in which they were stored, so that later ones renumber none."""
    sets: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        sets[row["assignment"]].append(row)
    return sets.values()


def _rows_of_answers(
    round: Round,
    hit: int,
    number: int,
    items: Mapping[int, int | None],
    rows: list[dict[str, Any]],
    pseudonym: Callable[[str], str],
) -> Iterator[ReleasedJudgment]:
    first = rows[0]
    group = task_type_of(round).group
    name = first["assignment__outside_key"] or first["assignment"]
    repeats = {item: repeated for item, repeated in items.items() if repeated is not None}
    shown = apart(order_of(name, items, group=group), repeats)
    positions = {item: position for position, item in enumerate(shown, 1)}
    seconds = first["assignment__active_seconds"]
    for row in sorted(rows, key=itemgetter("item__place")):
        yield ReleasedJudgment(
            round=round.name,
            hit=hit,
            assignment=number,
            place=row["item__place"],
            position=positions[row["item"]],
            control=row["item__control__polarity"] or "",
            control_retired=int(row["item__control__state"] == Control.State.RETIRED),
            worker=pseudonym(row["worker__pseudonym"]),
            image=row["image__key"],
            caption=row["caption__key"],
            level=row["level"],
            shortcoming=row["shortcoming"],
            wrong_way=row["wrong_way"],
            at=row["at"].strftime("%Y-%m-%dT%H:%M:%SZ"),
            active_seconds="" if seconds is None else seconds,
            wording=round.wording,
            channel=row["assignment__channel"] or round.channel or BROWSER,
            simulated=int(row["worker__simulated"] or round.rehearsal),
            counted=int(row["assignment__state"] == Assignment.State.ACCEPTED),
            seconds="" if row["seconds"] is None else row["seconds"],
        )


def differing(row: ReleasedJudgment, now: ReleasedJudgment | None) -> list[str]:
    """Return the names of the columns in which a released judgment is not the stored one, as far as both have them."""
    if now is None:
        return ["it is missing"]
    known = [name for name in row._fields if getattr(row, name) is not None]
    return [name for name in known if str(getattr(row, name)) != str(getattr(now, name))]


def side_by_side(
    released: Iterable[ReleasedJudgment], stored: Iterable[ReleasedJudgment]
) -> Iterator[tuple[ReleasedJudgment | None, ReleasedJudgment | None]]:
    """Join two sorted lists of judgments by round, HIT, answer set and place."""
    ours = ((row[:4], "released", row) for row in released)
    theirs = ((row[:4], "stored", row) for row in stored)
    for _, of_place in groupby(merge(ours, theirs, key=itemgetter(0)), key=itemgetter(0)):
        found = {side: row for _, side, row in of_place}
        yield found.get("released"), found.get("stored")


def sets_apart(rounds: Sequence[Round], *, key: str) -> set[tuple[str, int, str]]:
    """Return the answer sets that were ``thrown_out_otherwise``, by round, HIT and pseudonym."""
    columns = ("hit__round__name", "hit__number", "worker__pseudonym")
    rows = (row for round in rounds for row in thrown_out_otherwise(round).values_list(*columns))
    return {(name, hit, pseudonym_of(worker, key)) for name, hit, worker in rows}


def pseudonym_of(worker: str, key: str) -> str:
    return salted_hmac("dataset.pseudonyms", worker, secret=key, algorithm="sha256").hexdigest()[:12]


def pseudonym_key(version: str) -> str:
    """Return the secret key of a release's pseudonyms, derived from the site's own, so that it can be made again."""
    return salted_hmac("dataset.release", version, algorithm="sha256").hexdigest()
