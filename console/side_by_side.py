"""What every machine names for one query, a row a machine (ECCV Caption, figure A.1)."""

from dataclasses import dataclass

import numpy as np

from console.examples import Place, places_of
from corpus.models import Caption, Collection, Image
from mitl.models import Annotator, Direction, Retrieval
from mitl.search.lists import RankedLists, load_lists

PLACES = 5


@dataclass(frozen=True)
class Row:
    """One machine's first places for the query, best first; none where the machine was not asked it."""

    machine: Annotator
    places: list[Place]


@dataclass(frozen=True)
class SideBySide:
    """One query, its number from 0 among ``n_queries``, and what each machine named for it."""

    query: Image | Caption
    number: int
    n_queries: int
    rows: list[Row]


def side_by_side(collection: Collection, direction: Direction, number: int) -> SideBySide | None:
    """Return query ``number`` of those that any machine was asked in its newest search; the last where there are fewer.

    None where no machine has searched the collection in this direction. Raises CounterpartError where lists are gone
    from the storage.
    """
    found = {
        retrieval.annotator: lists[direction]
        for retrieval in _newest(collection)
        if direction in (lists := load_lists(retrieval))
    }
    if not found:
        return None
    queries = np.unique(np.concatenate([lists.queries for lists in found.values()]))
    number = min(number, len(queries) - 1)
    asks, answers = (Image, Caption) if direction == Direction.IMAGE_TO_CAPTION else (Caption, Image)
    query = asks.objects.get(pk=queries[number])
    rows = [Row(machine, places_of(query, *_first(lists, query.pk), answers)) for machine, lists in found.items()]
    return SideBySide(query, number, len(queries), rows)


def _newest(collection: Collection) -> list[Retrieval]:
    """Return each machine's newest search, in the order of the machines' names."""
    newest = {one.annotator_id: one for one in collection.retrievals.select_related("annotator").order_by("id")}
    return sorted(newest.values(), key=lambda retrieval: retrieval.annotator.name)


def _first(lists: RankedLists, query: int) -> tuple[list[int], list[float]]:
    rows = np.flatnonzero(lists.queries == query)[:1]
    return lists.items[rows, :PLACES].ravel().tolist(), lists.scores[rows, :PLACES].ravel().tolist()
