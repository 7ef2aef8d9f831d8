"""Records of controls: how workers answer them, how reliable these workers are elsewhere, and what the rule says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import scipy
from django.db.models import Count, Q, QuerySet

from annotation.models import Assignment, Judgment
from annotation.work.judgments import answers_by, answers_to
from hits.models import Control
from hits.question import RIGHT_LEVELS, Level

ANSWERED_RIGHT = Q(
    item__control__polarity=Control.Polarity.POSITIVE, level__in=RIGHT_LEVELS[Control.Polarity.POSITIVE]
) | Q(item__control__polarity=Control.Polarity.NEGATIVE, level__in=RIGHT_LEVELS[Control.Polarity.NEGATIVE])
"""Matches judgments of controls at a right level."""
UNRETIRED = Q(item__control__isnull=False) & ~Q(item__control__state=Control.State.RETIRED)
"""Matches judgments of controls that are not retired."""


@dataclass(frozen=True)
class ControlPolicy:
    """When a control itself is doubted: once the probability that reliable workers fail it more often than ``rate`` is
    at least ``suspicion`` (suspected) or ``retirement`` (retired, from ``answers`` answers on).

    With the defaults, a control that every worker fails is retired after 3 answers of workers with 8 of 8 other
    controls right, 4 with 4 of 4, or 7 with the one other control of their first HIT.
    """

    answers: int = 3
    rate: float = 0.5
    suspicion: float = 0.8
    retirement: float = 0.9

    def state_of(self, record: "ControlRecord") -> str:
        """Return the state that the record calls for."""
        doubt = record.doubt(self.rate)
        if doubt >= self.retirement and len(record.answers) >= self.answers:
            return Control.State.RETIRED
        return Control.State.SUSPECTED if doubt >= self.suspicion else Control.State.ACTIVE


@dataclass(frozen=True)
class Tally:
    """Answers to controls, and the number of right ones."""

    answered: int = 0
    right: int = 0

    @property
    def share(self) -> float | None:
        return self.right / self.answered if self.answered else None

    @property
    def weight(self) -> float:
        """How reliable who answered so is, in 0..1: 2a − 1, but at least 0, where a = (right + 1) / (answered + 2)
        estimates the share of right answers. A worker who guesses
        weighs nothing, and so does one who has answered nothing."""
        return max(0.0, (2 * self.right - self.answered) / (self.answered + 2))


@dataclass(frozen=True)
class ControlAnswer:
    """One worker's answer to a control; ``elsewhere`` is their record on all other controls that are not retired."""

    assignment_id: int
    state: str
    worker_id: int
    pseudonym: str
    level: int
    is_right: bool
    elsewhere: Tally

    @property
    def label(self) -> str:
        """The level in words."""
        return Level(self.level).brief


@dataclass(frozen=True)
class ControlRecord:
    """A control with all its answers, the oldest first."""

    control: Control
    answers: Sequence[ControlAnswer]

    @property
    def failed(self) -> list[ControlAnswer]:
        return [answer for answer in self.answers if not answer.is_right]

    @property
    def right(self) -> int:
        return len(self.answers) - len(self.failed)

    def doubt(self, rate: float = ControlPolicy.rate) -> float:
        """Return the probability that reliable workers fail the control more often than ``rate``.

        The share that fail has a uniform prior; an answer counts as its worker's ``weight`` answers. So it is the
        upper tail of Beta(1 + f, 1 + r) at ``rate``, with f and r the weights of wrong and right answers.
        """
        wrong = sum(answer.elsewhere.weight for answer in self.failed)
        right = sum(answer.elsewhere.weight for answer in self.answers) - wrong
        return float(scipy.special.betainc(1 + right, 1 + wrong, 1 - rate))

    def failed_by(self, state: str) -> list[ControlAnswer]:
        """Return the wrong answers whose assignment is in ``state``."""
        return [answer for answer in self.failed if answer.state == state]

    @property
    def accepted(self) -> list[ControlAnswer]:
        return self.failed_by(Assignment.State.ACCEPTED)

    @property
    def flagged(self) -> list[ControlAnswer]:
        return self.failed_by(Assignment.State.FLAGGED)

    @property
    def excluded(self) -> list[ControlAnswer]:
        """Wrong answers in work that a person excluded, whether for this control or for another reason."""
        return self.failed_by(Assignment.State.EXCLUDED)


def records_of(controls: Iterable[Control]) -> list[ControlRecord]:
    """Return the records of controls in their order, with two queries for any number."""
    by_id = {control.pk: control for control in controls}
    columns = ("item__control", "level", "worker", "worker__pseudonym", "assignment", "assignment__state")
    answers = answers_to(by_id).order_by("pk").values_list(*columns)
    rows: dict[int, list[tuple]] = {pk: [] for pk in by_id}
    for key, *row in answers:
        rows[key].append(tuple(row))
    workers = {worker for lines in rows.values() for _, worker, *_ in lines}
    tallies = tallies_of(answers_by(workers))
    return [
        ControlRecord(by_id[pk], [_answer(by_id[pk], line, tallies) for line in lines]) for pk, lines in rows.items()
    ]


def tallies_of(judgments: QuerySet[Judgment]) -> dict[int, Tally]:
    """Return, for each worker with ``judgments`` of controls that are not retired, how many and how many right."""
    rows = judgments.filter(UNRETIRED).order_by().values_list("worker")
    counted = rows.annotate(Count("pk"), right=Count("pk", filter=ANSWERED_RIGHT))
    return {worker: Tally(answered, right) for worker, answered, right in counted}


def _answer(control: Control, row: tuple, tallies: dict[int, Tally]) -> ControlAnswer:
    level, worker, pseudonym, assignment, state = row
    is_right = level in RIGHT_LEVELS[control.polarity]
    known = tallies.get(worker, Tally())
    own = control.state != Control.State.RETIRED  # the worker's tally then holds this answer
    elsewhere = Tally(known.answered - own, known.right - (own and is_right))
    return ControlAnswer(assignment, state, worker, pseudonym, level, is_right, elsewhere)
