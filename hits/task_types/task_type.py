"""What a type of task declares: how its question is put, what its answers mean, and how a HIT of it is composed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from numpy.typing import NDArray

from hits.packing.designs import Design
from hits.packing.plan import Plan
from hits.pair_plans import PlanRequest
from hits.question import Wording


@dataclass(frozen=True)
class Pooled:
    """What a pool holds, or would hold at most: distinct pairs, the captions in them, how many captions are paired with
    each image (n,), and the query images of its sample. All but the pairs are counted when a type of task asks: of a
    million stored proposals that takes a second each."""

    pairs: int
    captions: Callable[[], int]
    captions_of_image: Callable[[], NDArray[np.int64]]
    query_images: Callable[[], int]


def hits_of_pairs(pooled: Pooled, design: Design) -> int:
    """Return how many HITs ask about every pair once."""
    return ceil(pooled.pairs / design.candidates)


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """How a question is put, and what its answers mean. Answers are stored as levels, whatever the sheet shows: 1 is
    the best and 4 the worst. So grading, verdicts, agreement and releases read one scale; ``keys`` is the only place
    that knows another direction.

    A HIT is shown as screens of ``group`` items that share an image. ``unticked`` is the level of the items of a screen
    that are left unticked while others are ticked; None where each item is answered by itself.
    """

    name: str
    title: str
    """The heading of its pages: the question."""
    screen: tuple[str, str]
    """What a screen shows, in the singular and the plural."""
    labels: Mapping[int, str]
    """The answers by the level that is stored, from the best to the worst."""
    wordings: Mapping[int, Wording]
    """What workers read next to the answers, by version."""
    keys: Mapping[int, str] = field(default_factory=dict)
    """The figure and the key of an answer where it is not its level; "" where it has none."""
    on_pairs: bool = True
    """Whether its answers are about pairs of an image and a caption; if not, its items have one of the two."""
    writes: bool = False
    """Whether the answer is a sentence that the worker writes for an image. It is stored with the first level."""
    no_picture: str = gettext_noop("The picture does not load")
    """The answer that frees a worker of a screen whose pictures do not load; "" where none are shown."""
    group: int = 1
    unticked: int | None = None
    asks: frozenset[int] = frozenset()
    """The levels that ask for reasons where a round does."""

    def __str__(self) -> str:
        return self.name

    @property
    def items(self) -> str:
        """What its items are, in the plural: pairs, or what one screen shows."""
        return "pairs" if self.on_pairs else self.screen[1]

    @property
    def template(self) -> str:
        """The template of one of its screens."""
        return f"judging/task_types/{self.name}.html"

    @property
    def latest_wording(self) -> int:
        return max(self.wordings)

    @property
    def has_picture(self) -> bool:
        """Whether a screen shows pictures, which may fail to load."""
        return bool(self.no_picture)

    def choices(self, wording: int) -> list[dict[str, Any]]:
        """Return its answers as its pages show them, from the best to the worst; none where they are written. They are
        in the language that is spoken now, as all that explains them."""
        return [
            {
                "value": level,
                "key": self.keys.get(level, str(level)),
                "label": _(self.labels[level]),
                "asks": level in self.asks,
                "text": _(text),
            }
            for level, text in self.wordings[wording].levels.items()
        ]

    def guide(self, wording: int) -> dict[str, Any]:
        """Return what explains its answers on every page that does."""
        words = self.wordings[wording]
        choices = self.choices(wording)
        named = {one["value"]: one for one in choices}
        examples = [
            {**named[one.level], "sentence": _(one.sentence), "why": _(one.why), "picture": one.picture}
            for one in words.examples
        ]
        return {"levels": choices, "rules": [_(rule) for rule in words.rules], "examples": examples}

    def screens(self, items: int) -> int:
        """Return the number of screens of a HIT of ``items`` items."""
        return ceil(items / self.group)


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskType(Question):
    """A question that a round asks, and how a HIT of it is composed and judged."""

    label: str
    lead: str
    """What a worker does, with ``{n}`` for the number of screens. On a platform, the description of the work."""
    keywords: str
    """What its HITs are found by on a platform."""
    scale: str
    """All answers together, as analyses head them."""
    plan: Callable[[PlanRequest], Plan]
    count_hits: Callable[[Pooled, Design], int] = hits_of_pairs
    """The number of HITs that its plan of a pool has; at most, for what a pool would hold at most."""
    usual_minutes: tuple[int, int] = (5, 10)
    """The minutes of a HIT where they were neither measured nor stated: the project's own guess."""
    design: Design | None = None
    """The only composition of its HITs; None: the researcher chooses."""
    replication: int = 1
    """Answer sets wanted for each HIT by default."""
    passing: Fraction = Fraction(1)
    """The share of controls that must be right for answers to count: 1, all of the HIT; less, of the worker's in the
    round."""
    from_matches: bool = False
    """Whether it needs the matches of a source, ``positives``, to make its questions."""
    read_by: str = ""
    """The command that reads its answers, where these are not about pairs."""
    mean_of: Mapping[int, float] = field(default_factory=dict)
    """What each level counts in the score of a pair, which is the mean over its votes; empty: it has no score."""
    score_label: str = ""

    @property
    def usual_seconds(self) -> int:
        """Return how long slow workers usually take for one of its HITs."""
        return self.usual_minutes[-1] * 60

    def nearest(self, level: int) -> int:
        """Return its answer at the place of a level on the paper's scale: of two answers, the first for 1 and 2."""
        return sorted(self.labels)[(level - 1) * len(self.labels) // 4]

    def score(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of pairs, from the shares of their votes at the levels 1 to 4 (…, 4)."""
        return shares @ np.array([self.mean_of.get(level, 0.0) for level in range(1, 5)])
