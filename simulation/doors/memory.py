"""The door of a rehearsal: the HITs of a round in memory. Nothing that is done behind it is stored."""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from annotation.models import Assignment
from annotation.work.answers import Answer
from hits.models import Round, Seat
from hits.question import RIGHT_LEVELS
from hits.task_types import task_type_of
from simulation.truth import Seen


class RehearsalDoor:
    """Work is graded by its controls, as on the site; a reviewer excludes the share ``excluded`` of what was flagged
    for a slip, and other workers do that again, in the order of the HITs. ``seen`` is HIT id → its items and their
    true levels."""

    def __init__(self, round: Round, seen: Mapping[int, Sequence[Seen]], *, excluded: float | None) -> None:
        self._seen = seen
        self._excluded = excluded
        self._passing = task_type_of(round).passing
        seats = Seat.objects.filter(round=round).order_by("hit__number", "number").values_list("hit_id", flat=True)
        self._open = list(seats)
        self._places = {hit: place for place, hit in enumerate(dict.fromkeys(self._open))}
        self._had: dict[int, set[int]] = defaultdict(set)
        self._records: dict[int, Counter[bool]] = defaultdict(Counter)
        self.finished: list[Finished] = []

    @property
    def done(self) -> int:
        return sum(work.state != Assignment.State.EXCLUDED for work in self.finished)

    def take(self, person: int) -> "RehearsalTurn | None":
        hit = next((open_hit for open_hit in self._open if open_hit not in self._had[person]), None)
        if hit is None:
            return None
        self._open.remove(hit)
        self._had[person].add(hit)
        return RehearsalTurn(self, person, hit)

    def wait(self, *, begun: int) -> bool:
        return False

    def outcomes(self) -> Counter[str]:
        return Counter(str(work.state) for work in self.finished)

    def report(self) -> dict[str, object]:
        return {}

    def finish(self, turn: "RehearsalTurn", levels: Mapping[int, int], seconds: int, rng: np.random.Generator) -> bool:
        items = self._seen[turn.hit_id]
        right = [levels[item.item_id] in RIGHT_LEVELS[item.polarity] for item in items if item.polarity]
        record = self._records[turn.person]
        record.update(right)
        fails = not all(right) if self._passing == 1 else Fraction(record[True], record.total() or 1) < self._passing
        state = Assignment.State.ACCEPTED
        if fails and self._excluded is None:
            state = Assignment.State.FLAGGED
        elif fails and any(one.is_slip(levels[one.item_id]) for one in items) and rng.random() < (self._excluded or 0):
            state = Assignment.State.EXCLUDED
            insort(self._open, turn.hit_id, key=self._places.__getitem__)
        self.finished.append(Finished(turn.person, turn.hit_id, levels, seconds, state, fails, right))
        return state == Assignment.State.EXCLUDED


@dataclass(frozen=True)
class RehearsalTurn:
    door: RehearsalDoor
    person: int
    hit_id: int
    can_work: bool = True

    def finish(self, answers: Sequence[Answer], *, seconds: int, rng: np.random.Generator) -> bool:
        return self.door.finish(self, {answer.item_id: answer.level for answer in answers}, seconds, rng)


@dataclass(frozen=True)
class Finished:
    """A submission: its levels by item, whether it was flagged, and which of its controls are ``right``."""

    person: int
    hit_id: int
    levels: Mapping[int, int]
    seconds: int
    state: Assignment.State
    was_flagged: bool
    right: Sequence[bool] = field(default_factory=tuple)
