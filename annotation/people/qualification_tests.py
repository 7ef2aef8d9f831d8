"""Qualification tests: pairs with known answers, or sentences that are written correctly or not, which workers judge
before their first HIT; making and taking them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from django.db import transaction

from annotation.models import QualificationTest, TestAttempt, TestItem, Worker
from annotation.people.qualification_questions import (
    NEGATIVE,
    POSITIVE,
    draw_disputed,
    draw_pairs,
    level_as_graded,
    read_sentences,
)
from annotation.people.workers import actor_of, locked
from core.errors import CounterpartError, some_of
from core.events import record
from core.parameters import OFF_PAGE, POSITIONAL, Parameters
from core.seeds import SeedField, check_seed
from core.text import NameField, check_name, counted, find_named
from corpus.models import Collection
from hits.question import RIGHT_LEVELS, Level

LARGEST = 50
MOST_ATTEMPTS = 20


class QualificationParameters(Parameters):
    """How many pairs of each kind are drawn, or a file of sentences, and how many right answers pass."""

    name: Annotated[str, NameField(help_text="the test's name, for publish --test"), POSITIONAL]
    collection: Annotated[str, "where its pictures and captions come from", OFF_PAGE]
    positives: Annotated[int | None, "pairs that match"] = None
    negatives: Annotated[int | None, "pairs that do not match"] = None
    sentences: Annotated[
        Path | None, "instead of pairs, a CSV with the columns sentence and written (right or wrong)", OFF_PAGE
    ] = None
    disputed: Annotated[bool, "for practice, take pairs on which workers disagreed and which a release decided"] = False
    pass_mark: Annotated[int, "right answers needed"]
    attempts: Annotated[int, "tries that one worker has"] = 2
    seed: Annotated[int, SeedField(help_text="random seed of the draw")] = 0


@dataclass(frozen=True)
class QualificationPlan:
    """How many items of each polarity a test has, how many right answers pass it, and how often one may try.

    Raises CounterpartError for a test that cannot be passed, or that one answer to all pairs would pass.
    """

    positives: int
    negatives: int
    pass_mark: int
    attempts: int = 2
    seed: int = 0
    disputed: bool = False

    def __post_init__(self) -> None:
        if min(self.positives, self.negatives) < 1 or self.size > LARGEST:
            raise CounterpartError(
                f"Invalid test of {self.positives} positives and {self.negatives} negatives: use at least one of each "
                f"and at most {LARGEST} together."
            )
        blind = max(self.positives, self.negatives)
        if not blind < self.pass_mark <= self.size:
            raise CounterpartError(
                f"Invalid pass mark {self.pass_mark}: use {blind + 1} to {self.size}, as one answer to all gets "
                f"{blind} right."
            )
        if not 1 <= self.attempts <= MOST_ATTEMPTS:
            raise CounterpartError(f"Invalid number of attempts {self.attempts}: use 1 to {MOST_ATTEMPTS}.")
        check_seed(self.seed)

    @property
    def size(self) -> int:
        return self.positives + self.negatives


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


def make_qualification(parameters: QualificationParameters, *, actor: str) -> QualificationTest:
    """Make the test that the parameters describe: of pairs (``make_test``) or sentences (``make_sentence_test``).

    Raises CounterpartError as those do, and for an unknown collection and both or neither of pairs and sentences.
    """
    collection = Collection.objects.named(parameters.collection)
    positives = parameters.positives
    negatives = parameters.negatives
    file = parameters.sentences
    limits = {"pass_mark": parameters.pass_mark, "attempts": parameters.attempts}
    if file and positives is None and negatives is None:
        return make_sentence_test(parameters.name, collection=collection, file=file, **limits, actor=actor)
    if file or positives is None or negatives is None:
        raise CounterpartError("Pass either --positives and --negatives, or --sentences.")
    plan = QualificationPlan(positives, negatives, **limits, seed=parameters.seed, disputed=parameters.disputed)
    return make_test(parameters.name, collection=collection, plan=plan, actor=actor)


def make_test(name: str, *, collection: Collection, plan: QualificationPlan, actor: str) -> QualificationTest:
    """Draw the pairs of a test (``draw_pairs``, ``draw_disputed``) and store it, with the levels that sources agree on.
    Repeating it changes nothing.

    Raises CounterpartError for a name that another test has, and for a collection with too few pictures.
    """
    if test := _same(check_name(name), collection, plan):
        return test
    draw = draw_disputed if plan.disputed else draw_pairs
    pairs = draw(collection, positives=plan.positives, negatives=plan.negatives, seed=plan.seed)
    level_as_graded(pairs)
    return _stored(name, collection, plan, pairs, actor)


def make_sentence_test(
    name: str, *, collection: Collection, file: Path, pass_mark: int, attempts: int = 2, actor: str
) -> QualificationTest:
    """Store a test of spelling and grammar for the rounds of a collection, of the sentences of ``file``
    (``read_sentences``). Repeating it changes nothing.

    Raises CounterpartError for a malformed file, a name that another test has, and as ``QualificationPlan`` does.
    """
    check_name(name)
    sentences = read_sentences(file)
    asked = [(item.sentence, item.polarity) for item in sentences]
    kinds = [polarity for _, polarity in asked]
    plan = QualificationPlan(kinds.count(POSITIVE), kinds.count(NEGATIVE), pass_mark, attempts)
    if test := _same(name, collection, plan):
        if list(test.items.values_list("sentence", "polarity")) != asked:
            raise _other_test(name)
        return test
    return _stored(name, collection, plan, sentences, actor)


@transaction.atomic
def _stored(
    name: str, collection: Collection, plan: QualificationPlan, items: Sequence[TestItem], actor: str
) -> QualificationTest:
    """Store a test and its items, in their order."""
    limits = {name: getattr(plan, name) for name in ("pass_mark", "attempts", "seed", "disputed")}
    test = QualificationTest.objects.create(name=name, collection=collection, **limits)
    for place, item in enumerate(items, 1):
        item.test = test
        item.place = place
    TestItem.objects.bulk_create(items)
    record("made", test, actor=actor, positives=plan.positives, negatives=plan.negatives, seed=plan.seed)
    return test


def find_test(name: str) -> QualificationTest:
    """Return the qualification test of this name. Raises CounterpartError that lists the existing ones."""
    return find_named(QualificationTest.objects.all(), name, made_by="make_test")


def tries_of(test: QualificationTest, worker: Worker) -> Tries:
    """Return a worker's tries at a test. A test that was passed for any round is passed."""
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


def _same(name: str, collection: Collection, plan: QualificationPlan) -> QualificationTest | None:
    test = QualificationTest.objects.filter(name=name).first()
    if test is None:
        return None
    counts = [test.items.filter(polarity=polarity).count() for polarity in (POSITIVE, NEGATIVE)]
    as_made = (test.collection_id, *counts, test.pass_mark, test.attempts, test.seed, test.disputed)
    wanted = (collection.pk, plan.positives, plan.negatives, plan.pass_mark, plan.attempts, plan.seed, plan.disputed)
    if as_made != wanted:
        raise _other_test(name)
    return test


def _other_test(name: str) -> CounterpartError:
    return CounterpartError(f"There is a test {name} already, and it is another one; choose another name.")


def _graded(test: QualificationTest, worker: Worker, levels: Mapping[int, int], number: int) -> TestAttempt:
    polarities = dict(test.items.values_list("place", "polarity"))
    if missing := sorted(polarities.keys() - levels.keys()):
        unanswered = counted(len(missing), "question has", "questions have")
        raise CounterpartError(f"{unanswered} no answer yet: {some_of(missing, at_most=18)}. Answer and send again.")
    if odd := [place for place, level in levels.items() if place not in polarities or level not in Level.values]:
        raise CounterpartError(
            f"{counted(len(odd), 'answer does', 'answers do')} not belong to this test; reload the page."
        )
    right = sum(levels[place] in RIGHT_LEVELS[polarity] for place, polarity in polarities.items())
    return TestAttempt.objects.create(
        test=test,
        worker=worker,
        number=number,
        answers={str(place): level for place, level in sorted(levels.items())},
        right=right,
        passed=right >= test.pass_mark,
    )
