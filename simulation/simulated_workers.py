"""Simulated people: workers with their confusions, carelessness and speed, and the reviewer of flagged work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from numpy.typing import NDArray

from annotation.models import Assignment
from annotation.review.decisions import decide
from annotation.work.answers import Answer
from annotation.work.judgments import answers_from
from hits.question import Shortcoming, WrongWay
from hits.task_types import task_type_of
from hits.task_types.task_type import TaskType
from simulation.profiles import Profile
from simulation.truth import Seen

REVIEWER = "simulated-reviewer"
# ECCV Caption, tables B.3a and B.3b, row "Avg.": why a match is imperfect, and what is described in a wrong way.
SHORTCOMINGS = {
    Shortcoming.NOT_IN_IMAGE: 30.4,
    Shortcoming.NOT_IN_CAPTION: 18.2,
    Shortcoming.WRONG_WAY: 46.7,
    Shortcoming.GRAMMAR: 4.7,
}
WRONG_WAYS = dict(zip(WrongWay, (25.3, 20.3, 12.3, 5.0, 2.0, 14.8, 1.0, 3.9, 12.4, 3.0), strict=True))


@dataclass(frozen=True)
class Person:
    """One simulated worker. ``confusion`` (4, 4): row = true level, column = share of answers at level 1-4.
    ``misreads``: reads the scale in reverse, 1 as 4. ``follows``: the share of answers by an annotator's ranking."""

    index: int
    confusion: NDArray[np.float64]
    random_clicks: float
    seconds_per_pair: float
    misreads: bool = False
    follows: float = 0.0


def make_crowd(profile: Profile, *, workers: int, seed: int) -> list[Person]:
    """Draw ``workers`` people. The profile's share of careless workers, rounded, is spread evenly over all speeds; its
    shares of workers who misread the scale, and who follow an annotator, are drawn from the others."""
    crowd = [_draw_person(profile, index, seed) for index in range(workers)]
    by_pace = sorted(crowd, key=lambda person: person.seconds_per_pair)
    # Fast workers do more, so the careless are spaced evenly by speed: else their share of the answers would vary.
    wanted = round(profile.careless_workers * workers)
    start = np.random.default_rng([seed, workers]).random()
    careless = {by_pace[int((place + start) * workers / wanted)].index for place in range(wanted)}
    attentive = [person.index for person in crowd if person.index not in careless]
    shuffled = np.random.default_rng([seed, workers, 1]).permutation(attentive)
    misreads = round(profile.misreading_workers * workers)
    misreading = set(shuffled[:misreads].tolist())
    following = set(shuffled[misreads:][: round(profile.following_workers * workers)].tolist())
    clicks = dict.fromkeys(careless, profile.random_clicks)
    return [
        replace(
            person,
            random_clicks=clicks.get(person.index, 0.0),
            misreads=person.index in misreading,
            follows=profile.follows if person.index in following else 0.0,
        )
        for person in crowd
    ]


def answer_hit(
    person: Person, seen: Sequence[Seen], *, task: TaskType, reasons: bool, rng: np.random.Generator
) -> tuple[list[Answer], int]:
    """Return the person's answers to a HIT's items, and the seconds that they take. They judge by the four levels
    and give the nearest answer of the task. A sentence of theirs says that it is simulated."""
    truth = np.array([item.level for item in seen]) - 1
    levels = 1 + (rng.random(len(seen))[:, None] > person.confusion.cumsum(axis=1)[truth, :3]).sum(axis=1)
    at_random = rng.random(len(seen)) < person.random_clicks
    levels = np.where(at_random, rng.integers(1, 5, len(seen)), levels)
    levels = 5 - levels if person.misreads else levels
    if person.follows:
        as_ranked = np.where([item.is_first for item in seen], 1, 4)
        levels = np.where(rng.random(len(seen)) < person.follows, as_ranked, levels)
    seconds = person.seconds_per_pair * len(seen) * rng.lognormal(0, 0.2)
    answers = [
        Answer(item.item_id, task.nearest(level), *(_reason(rng) if reasons and level in task.asks else ()))
        for item, level in zip(seen, levels.tolist(), strict=True)
    ]
    if task.writes:
        first = int(rng.integers(10**9))  # two HITs of one worker have different sentences too
        answers = [
            replace(answer, text=f"The simulated worker {person.index} wrote sentence {first + place}.")
            for place, answer in enumerate(answers)
        ]
    return answers, max(1, round(seconds))


@dataclass(frozen=True)
class Reviewer:
    """Excludes the share ``excluded`` of flagged work and lets the rest count; None leaves all of it to people.

    ``seen`` is HIT id → its items and their true levels. All work is paid: no program rejects. Work without a slip
    always counts, because all workers fail a control that is wrong itself.
    """

    excluded: float | None
    seen: Mapping[int, Sequence[Seen]]

    def review(self, assignment: Assignment, rng: np.random.Generator) -> None:
        """Decide an assignment that was flagged by signals or for failed controls, its own or the worker's earlier
        ones; leave any other as it is."""
        flagged = assignment.state == Assignment.State.FLAGGED
        failures = assignment.control_failures
        earlier = assignment.problem and task_type_of(assignment.hit.round).passing < 1
        if self.excluded is None or not flagged or not (failures or earlier or assignment.signals):
            return
        slips = self._slips(assignment)
        counts = not slips or bool(rng.random() >= self.excluded)
        excused = "A slip." if slips else "The control is wrong." if failures else "No control is wrong."
        blamed = excused if counts else "Careless work."
        reason = f"Simulated review, wrong controls: {failures}. {blamed}"
        decide(assignment, votes_count=counts, paid=True, reason=reason, by=reviewing_user())

    def _slips(self, assignment: Assignment) -> int:
        levels = dict(answers_from([assignment]).values_list("item_id", "level"))
        items = self.seen[assignment.hit_id]
        return sum(item.is_slip(levels[item.item_id]) for item in items if item.item_id in levels)


def _draw_person(profile: Profile, index: int, seed: int) -> Person:
    rng = np.random.default_rng([seed, index])
    # Dirichlet needs positive weights: a level that is never chosen gets one too small to be drawn.
    weights = np.maximum(np.array(profile.confusion) * profile.likeness, 1e-9)
    return Person(
        index=index,
        confusion=np.stack([rng.dirichlet(row) for row in weights]),
        random_clicks=0.0,
        seconds_per_pair=profile.seconds_per_pair * rng.lognormal(0, profile.speed_spread),
    )


def _reason(rng: np.random.Generator) -> tuple[str, str]:
    shortcoming = _pick(SHORTCOMINGS, rng)
    return shortcoming, _pick(WRONG_WAYS, rng) if shortcoming == Shortcoming.WRONG_WAY else ""


def _pick(shares: dict, rng: np.random.Generator) -> str:
    weights = np.array(list(shares.values()))
    return str(list(shares)[rng.choice(len(weights), p=weights / weights.sum())].value)


def reviewing_user() -> User:
    """Return the account of the simulated reviewer, who cannot log in."""
    cannot = {"password": make_password(None), "is_active": False}
    return User.objects.get_or_create(username=REVIEWER, defaults=cannot)[0]
