"""Which of a pool's pairs a round asks: all of them, the first hits of its annotators, or whole queries of an audit."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hits.packing.audits import audit_order
from hits.packing.plan import Sides
from mitl.models import Direction, Pool

Judge = Literal["all", "first-hits", "audit"]
JUDGES = (*get_args(Judge), "audit+greedy")
"""What ``--judge`` may say; the last one is an audit that likely matches follow."""
POLICY = 1
"""Version of the rules by which pairs are chosen; a round keeps it."""


@dataclass(frozen=True)
class JudgeDesign:
    """What a round asks. ``share`` is that of the queries an audit judges whole, of each direction that is pooled;
    ``greedy``: whether batches of likely matches follow it by themselves."""

    judge: Judge = "all"
    share: float = 1.0
    greedy: bool = False
    policy: int = POLICY

    def as_json(self) -> dict[str, Any]:
        """Return it as a round's summary keeps it: nothing for a round that asks all pairs."""
        return {} if self.judge == "all" else asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any] | None) -> "JudgeDesign":
        return cls(**stored) if stored else cls()

    def figures(self) -> dict[str, Any]:
        """Return what ``pack`` prints of it: nothing for a round that asks all pairs."""
        if self.judge == "all":
            return {}
        if self.judge == "first-hits":
            return {"judge": self.judge}
        return {"judge": "audit+greedy" if self.greedy else "audit", "audit_share": self.share}

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
