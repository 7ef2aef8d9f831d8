"""Which of a pool's pairs a round asks: all of them, the first hits of its annotators, or whole queries of an audit."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from core.text import counted
from counterpart_statistics.audits import STOP_BELOW, STOP_RECALL, audit_order
from hits.packing.plan import Sides
from mitl.models import Direction, Pool

Judge = Literal["all", "first-hits", "audit"]
JUDGES = (*get_args(Judge), "audit+greedy")
"""What ``--judge`` may say; the last one is an audit that likely matches follow."""
POLICY = 1
"""Version of the rules by which pairs are chosen; a round keeps it."""
GUARD_SHARE = 0.1
"""Least share of the queries of an audit that guards a greedy order: about a fifth of what is judged where likely
matches end near half of the pairs."""
GUARD_QUERIES = 150
"""Queries of each direction that such an audit should have: smaller guards held less often in replays."""
LARGEST_GUARD = 0.5
"""Largest share to which it is enlarged for them; a larger one would leave too few pairs to a greedy order."""


@dataclass(frozen=True)
class JudgeDesign:
    """What a round asks.

    Attributes:
        share: of the queries that an audit judges whole, of each direction that is pooled.
        greedy: whether batches of likely matches follow it by themselves.
        stop_recall: these stop once the audit says that this share of the matches is found, ``STOP_BELOW`` less at the
            low end of its interval,
        stop_width: or once no interval of mAP@R is wider; None: whatever the width is.
    """

    judge: Judge = "all"
    share: float = 1.0
    greedy: bool = False
    policy: int = POLICY
    stop_recall: float = STOP_RECALL
    stop_width: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as a round's summary keeps it: nothing for a round that asks all pairs."""
        if self.judge == "all":
            return {}
        stops = () if self.greedy else ("stop_recall", "stop_width")
        return {name: value for name, value in asdict(self).items() if name not in stops}

    @classmethod
    def from_json(cls, stored: dict[str, Any] | None) -> "JudgeDesign":
        return cls(**stored) if stored else cls()

    def figures(self) -> dict[str, Any]:
        """Return what ``pack`` prints of it: nothing for a round that asks all pairs."""
        if self.judge == "all":
            return {}
        if self.judge == "first-hits":
            return {"judge": self.judge}
        if not self.greedy:
            return {"judge": "audit", "audit_share": self.share}
        return {"judge": "audit+greedy", "audit_share": self.share, "stops_at": self.stop_text}

    @property
    def stop_text(self) -> str:
        """Say when batches of likely matches stop."""
        width = f" or the intervals of mAP@R are {self.stop_width:g} wide at most" if self.stop_width else ""
        least = f"{self.stop_recall - STOP_BELOW:.3g} at the low end of the 95% interval"
        return f"{self.stop_recall:.3g} of the matches are found ({least}){width}"

    def guard_note(self, queries: Iterable[int]) -> str:
        """Say that the audit is a small guard of likely matches, in a pool with these numbers of ``queries`` in its
        directions; empty where it has enough queries, or all of them."""
        fewest = min((self.n_audited(count) for count in queries if count), default=0)
        if fewest >= GUARD_QUERIES or self.share >= 1:
            return ""
        return f"{counted(fewest, 'query', 'queries')}, fewer than the {GUARD_QUERIES} advised"

    def audited(self, keys: list[str], seed: int | Sequence[int]) -> list[str]:
        """Return the queries of one direction, named by their keys, that an audit judges whole.

        >>> JudgeDesign("audit", 0.5).audited(["a", "b", "c", "d"], seed=0)
        ['d', 'c']
        """
        if not keys:
            return []
        return [keys[place] for place in audit_order(keys, seed).order[: self.n_audited(len(keys))]]

    def n_audited(self, queries: int) -> int:
        return ceil(round(self.share * queries, 9))

    def asked(self, pool: Pool, sides: Sides, pairs: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
        """Return those of the pool's ``pairs`` (n, 2) of codes that the round asks; those of an audit in the order of
        its queries."""
        if self.judge == "all":
            return pairs
        if self.judge == "first-hits":
            first = pool.proposals.filter(rank=1).values_list("image_id", "caption_id").distinct()
            return pairs[np.isin(sides.cells(pairs), sides.cells(sides.pair_codes(first)))]
        places = np.full(len(pairs), np.inf)
        for direction, drawn in audited_queries(pool, self, seed).items():
            column = 0 if direction == Direction.IMAGE_TO_CAPTION else 1
            side = (sides.images, sides.captions)[column]
            place = np.full(len(side) + 1, np.inf)  # the last one: of queries that are not numbered, code -1
            place[side.codes(list(drawn.values()))] = np.arange(len(drawn)) / max(len(drawn), 1)
            places = np.minimum(places, place[pairs[:, column]])
        order = np.argsort(places, kind="stable")
        return pairs[order[np.isfinite(places[order])]]


def guard_share(queries: Iterable[int]) -> float:
    """Return the usual share of an audit that guards a greedy order; ``queries`` are the numbers of queries of the
    pooled directions.

    >>> guard_share([1500, 2000]), guard_share([400, 2000]), guard_share([60, 60])
    (0.1, 0.375, 0.5)
    """
    fewest = min((count for count in queries if count), default=inf)
    wanted = ceil(1000 * GUARD_QUERIES / fewest) / 1000
    return min(max(GUARD_SHARE, wanted), LARGEST_GUARD)


def queries_of(pool: Pool) -> Iterator[int]:
    """Yield the number of queries of each direction that is pooled, counted when it is asked for."""
    if Direction.IMAGE_TO_CAPTION in pool.directions:
        yield pool.sample.images.count()
    if Direction.CAPTION_TO_IMAGE in pool.directions:
        yield pool.sample.captions.count()


def audited_queries(pool: Pool, design: JudgeDesign, seed: int) -> dict[Direction, dict[str, int]]:
    """Return key → database id of the queries that the design judges whole, in the order of the audit.

    Each direction has a stream of its own: drawn by the same numbers, the first image and the first caption would
    always be audited together.
    """
    sides = {
        Direction.IMAGE_TO_CAPTION: dict(pool.sample.images.values_list("key", "pk")),
        Direction.CAPTION_TO_IMAGE: dict(pool.sample.captions.values_list("key", "pk")),
    }
    return {
        direction: {key: ids[key] for key in design.audited(sorted(ids), [seed, stream])}
        for stream, (direction, ids) in enumerate(sides.items())
        if direction in pool.directions
    }
