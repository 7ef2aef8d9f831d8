"""Take a qualification test: a few tries at a fixed set of pairs before the first HIT. Its answers are no judgments."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from annotation.models import QualificationTest, TestAttempt, Worker
from annotation.workers import actor_of, locked
from core.errors import CounterpartError, some_of
from core.events import record
from hits.question import RIGHT_LEVELS, Level


@dataclass(frozen=True)
class Tries:
    """A worker's tries at a test: how many they made and have left, the last of them, and whether one passed."""

    test: QualificationTest
    used: int
    left: int
    last: TestAttempt | None
    passed: bool

    @property
    def next(self) -> int:
        """The number of the try that comes next."""
        return self.used + 1


def tries_of(test: QualificationTest, worker: Worker) -> Tries:
    """Return how a worker stands at a test. One that was passed for any round is passed."""
    made = list(test.tries.filter(worker=worker))
    passed = any(one.passed for one in made)
    left = 0 if passed else max(0, test.attempts - len(made))
    return Tries(test, len(made), left, made[-1] if made else None, passed)


def answer_test(test: QualificationTest, worker: Worker, levels: Mapping[int, int], *, number: int) -> TestAttempt:
    """Take in the levels by place of try ``number``, and grade it. Sending a try again returns it as it was graded.

    Raises CounterpartError unless each pair has one level, and where no try is left or another one comes next.
    """
    with transaction.atomic():
        # One try at a time for one person, or two tabs would have one too many.
        locked(worker.pk)
        if made := test.tries.filter(worker=worker, number=number).first():
            return made
        tries = tries_of(test, worker)
        if not tries.left:
            raise CounterpartError(f"No try at the test {test} is left; {tries.used} were made.")
        if number != tries.next:
            raise CounterpartError(f"Try {tries.next} comes next, not {number}; open the test again.")
        attempt = _graded(test, worker, levels, number)
        record("tested", attempt, actor=actor_of(worker), right=attempt.right, passed=attempt.passed)
    return attempt


def _graded(test: QualificationTest, worker: Worker, levels: Mapping[int, int], number: int) -> TestAttempt:
    polarities = dict(test.items.values_list("place", "polarity"))
    if missing := sorted(polarities.keys() - levels.keys()):
        counted = "1 pair has" if len(missing) == 1 else f"{len(missing)} pairs have"
        raise CounterpartError(f"{counted} no answer yet: {some_of(missing, at_most=18)}. Answer and send again.")
    if odd := [place for place, level in levels.items() if place not in polarities or level not in Level.values]:
        raise CounterpartError(f"{len(odd)} answers are to no pair of this test, or no level; reload the page.")
    right = sum(levels[place] in RIGHT_LEVELS[polarity] for place, polarity in polarities.items())
    return TestAttempt.objects.create(
        test=test,
        worker=worker,
        number=number,
        answers={str(place): level for place, level in sorted(levels.items())},
        right=right,
        passed=right >= test.pass_mark,
    )
