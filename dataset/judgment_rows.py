"""The judgments of a release: read from the database row by row, under pseudonyms."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.utils.crypto import salted_hmac

from annotation.models import Assignment, Judgment
from annotation.work.answers import apart, order_of
from hits.models import Control, Item, Round
from hits.task_types import task_type_of

BROWSER = "browser"


class ReleasedJudgment(NamedTuple):
    """A row of the judgments file.

    ``hit``, ``assignment`` (among those of its HIT) and ``place`` count from 1, as does ``position``, where the worker
    saw the pair. ``control`` is empty for a candidate, otherwise the polarity of the gold control; ``worker`` is a
    pseudonym of this release; ``image`` and ``caption`` are the collection's own ids. ``at`` is UTC;
    ``active_seconds`` is that of the whole answer set, empty if unknown; ``wording`` is the version of the guidelines.
    ``simulated`` is 1 if a program answered, ``counted`` is 1 if the judgment entered a verdict. ``seconds`` is the
    active time on this pair, empty if unknown; None in a release that was made before it was counted.
    """

    round: str
    hit: int
    assignment: int
    place: int
    position: int
    control: str
    control_retired: int
    worker: str
    image: str
    caption: str
    level: int
    shortcoming: str
    wrong_way: str
    at: str
    active_seconds: int | str
    wording: int
    channel: str
    simulated: int
    counted: int
    seconds: int | str | None = None


NUMBERS = ("hit", "assignment", "place", "position", "control_retired", "level", "wording", "simulated", "counted")


def judgment_rows(rounds: Sequence[Round], *, key: str) -> Iterator[ReleasedJudgment]:
    """Yield every judgment of the rounds, uncounted ones and controls too, by round, HIT, assignment and place.

    ``key`` is the secret of the pseudonyms: those of two releases cannot be linked by who lacks the keys.
    """
    pseudonyms = _Pseudonyms(key)
    for round in sorted(rounds, key=lambda one: one.name):
        items = _items_of(round)
        for hit, of_hit in groupby(_rows_of(round), key=itemgetter("item__hit__number")):
            for number, answers in enumerate(_answer_sets(of_hit), 1):
                yield from _rows_of_answers(round, hit, number, items[hit], answers, pseudonyms)


def _items_of(round: Round) -> Mapping[int, dict[int, int | None]]:
    """Return the number of each HIT → its items that are shown → the item that each repeats."""
    items: dict[int, dict[int, int | None]] = defaultdict(dict)
    rows = Item.shown.filter(hit__round=round).order_by().values_list("hit__number", "pk", "repeat_of")
    for hit, item, repeated in rows.iterator():
        items[hit][item] = repeated
    return items


def _rows_of(round: Round) -> Iterator[dict[str, Any]]:
    ordered = Judgment.objects.filter(assignment__hit__round=round).order_by("item__hit__number", "pk")
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
    pseudonyms: "_Pseudonyms",
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
            worker=pseudonyms[row["worker__pseudonym"]],
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


class _Pseudonyms(dict[str, str]):
    """A worker's name in one release: a keyed digest of their pseudonym here."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key

    def __missing__(self, worker: str) -> str:
        digest = salted_hmac("dataset.pseudonyms", worker, secret=self._key, algorithm="sha256").hexdigest()
        return self.setdefault(worker, digest[:12])


def pseudonym_key(version: str) -> str:
    """Return the key of a release's pseudonyms, a secret that follows from the site's own: the same release made
    again has the same pseudonyms."""
    return salted_hmac("dataset.release", version, algorithm="sha256").hexdigest()
