"""Replays of selection: what would be known of queries had only some of their pairs been judged, batch after batch.

The arrays of a finished round, or of a benchmark whose labels are all known, are hidden and opened again by the rules
of a real round: ``LikelyMatches`` says what is asked next, ``WholeQueries`` what is learned from it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterpart_statistics.audits import STOP_RECALL
from counterpart_statistics.pair_codes import NO_PAIRS, Ids
from counterpart_statistics.selection.likely_matches import LikelyMatches
from counterpart_statistics.selection.pooled_queries import WholeQueries


@dataclass(frozen=True)
class Step:
    """A round after the audit, or after a batch.

    Attributes:
        asked: codes of the pairs that this step asked and whose match was not known; of a batch the likeliest first.
        wholes: each direction with the verdicts of the pairs that were asked until then, and no others.
        stop_recall: the recall at which the round stops.
    """

    asked: Ids
    wholes: tuple[WholeQueries, ...]
    stop_recall: float = STOP_RECALL

    @cached_property
    def likely(self) -> LikelyMatches:
        """The pairs by the probabilities that are learned after this step."""
        return LikelyMatches.of(self.wholes, stop_recall=self.stop_recall)


def selection_steps(
    wholes: Sequence[WholeQueries], sizes: Iterable[int], *, stop_recall: float = STOP_RECALL
) -> Iterator[Step]:
    """Yield the step of the audit, the drawn queries, then one of likely matches for each of ``sizes``, as long as
    pairs are left.

    ``wholes``: the directions of one round, with the verdicts of all pairs. Who reads the steps decides when they end;
    ``stop_recall``: of each step.
    """
    drawn = [whole.queries.codes[whole.queries.asked & whole.drawn[:, None]] for whole in wholes]
    judged = np.unique(np.concatenate(drawn))
    opened = NO_PAIRS
    step = Step(judged, knowing(wholes, judged), stop_recall)
    yield step
    for size in sizes:
        batch = step.likely.next_batch(size)
        if not len(batch.asked):
            return
        judged = np.concatenate([judged, batch.asked])
        opened = np.concatenate([opened, batch.asked, batch.audited])
        step = Step(batch.asked, knowing(wholes, judged, opened), stop_recall)
        yield step


def knowing(wholes: Sequence[WholeQueries], judged: Ids, opened: Ids = NO_PAIRS) -> tuple[WholeQueries, ...]:
    """Return what is known if only the pairs of these codes were judged, and the order of likely matches has come to
    those ``opened``."""
    found = []
    for one in wholes:
        queries = one.queries
        is_known = np.isin(queries.codes, judged) | ~queries.asked
        hidden = replace(queries, levels=np.where(is_known, queries.levels, np.nan))
        found.append(replace(one, queries=hidden, opened=queries.asked & np.isin(queries.codes, opened)))
    return tuple(found)
