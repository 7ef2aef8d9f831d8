"""Sightings: where judged items stand in rankings that arrive block by block, so that no file has to fit in memory."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from evaluation.metrics import Found, Qrels, find
from evaluation.ranking_files import Block
from mitl.models import Direction


class Sightings:
    """Collects what ``metrics.find`` finds in each block. Memory grows with the judgments, not with the rankings."""

    def __init__(self, qrels: Mapping[Direction, Qrels]) -> None:
        self._qrels = qrels
        self._ranks = {direction: np.zeros(len(one.items), np.int64) for direction, one in qrels.items()}
        self._lengths = {direction: np.zeros(len(one.queries), np.int64) for direction, one in qrels.items()}
        self._ranked = {direction: np.zeros(len(one.queries), bool) for direction, one in qrels.items()}

    def add(self, block: Block) -> None:
        """Find the judged items of the block's queries. Raises CounterpartError for an item listed twice."""
        qrels = self._qrels[block.direction]
        mine = np.isin(qrels.queries, block.rankings.queries)
        pairs = mine[qrels.rows]
        try:
            found = find(block.rankings, qrels.of_queries(mine))
        except ValueError as error:
            raise CounterpartError(f"{block.direction.label}: {error} Ids are those of the database.") from error
        self._ranks[block.direction][pairs] = found.ranks
        self._lengths[block.direction][mine] = found.lengths
        self._ranked[block.direction] |= mine

    def missing(self) -> dict[Direction, NDArray[np.int64]]:
        """Return the queries that have a match and no ranking, for each direction with any ranking."""
        return {
            direction: self._qrels[direction].queries[~ranked & (self._qrels[direction].positives > 0)]
            for direction, ranked in self._ranked.items()
            if ranked.any()
        }

    def found(self) -> dict[Direction, Found]:
        """Return where all judged items stand, for each direction with any ranking."""
        return {
            direction: Found(self._qrels[direction], self._ranks[direction], self._lengths[direction])
            for direction, ranked in self._ranked.items()
            if ranked.any()
        }

    def of_ranked(self) -> dict[Direction, Found]:
        """Return where the judged items of the ranked queries stand."""
        return {
            direction: found.keep(self._ranked[direction][found.qrels.rows])
            for direction, found in self.found().items()
        }
