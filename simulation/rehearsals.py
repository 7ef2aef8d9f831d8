"""Rehearsing a draft with a simulated crowd: what it would cost and take, how many controls are passed, and how many
verdicts come out right. The crowd works on a copy of the HITs in memory: no vote, worker or payment is stored, so
nothing of it can be released."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from annotation.models import Assignment
from core import clock
from core.errors import CounterpartError
from core.events import record
from core.progress import Progress, silent
from hits.models import Round
from hits.question import Level
from hits.task_types import task_type_of
from simulation.profiles import DEFAULT, load_profile
from simulation.simulated_workers import make_crowd
from simulation.truth import Seen, default_source, true_levels

if TYPE_CHECKING:
    from simulation.doors.memory import Finished

REHEARSED = "rehearsed"
"""The key of the figures in a round's summary."""


def rehearse_round(
    round: Round, *, workers: int = 20, profile: str = DEFAULT, seed: int = 0, actor: str, progress: Progress = silent
) -> dict[str, Any]:
    """Let a simulated crowd do all HITs of a draft, and keep the figures with the round in place of earlier ones.

    The crowd answers from the source ``truth`` of the collection, else from ``original``, as ``simulate_round`` has it.
    Raises CounterpartError for a round that is not a draft or whose answers are sentences, and for an unknown profile.
    """
    # They come with httpx, which takes a fifth of a second.
    from simulation.doors.memory import RehearsalDoor
    from simulation.simulated_rounds import Crowd, check_crowd

    check_crowd(workers, seed)
    task = task_type_of(round)
    if round.state != "draft":
        raise CounterpartError(f"Round {round} is {round.state}: only a draft is rehearsed.")
    if task.writes:
        raise CounterpartError(f"Round {round} asks for sentences, which no simulated crowd can write.")
    shape = load_profile(profile)
    source = round.summary.get("positives_of") or default_source(round.pool.collection)
    truth_of = partial(true_levels, round, source=source, seed=seed, followed=shape.followed)
    seen = truth_of()
    door = RehearsalDoor(round, seen, excluded=shape.excluded)
    Crowd(round, door, make_crowd(shape, workers=workers, seed=seed), seen, truth_of, seed, progress).work()
    crowd = {"workers": workers, "profile": profile, "source": source, "seed": seed, "at": clock.now().isoformat()}
    figures = crowd | figures_of(door.finished, seen, seats=round.hits.values("seats").count(), reward=round.reward)
    with round.held_for_summary() as held:
        held.summary[REHEARSED] = figures
        record("rehearsed", held, actor=actor, workers=workers)
    return figures


def figures_of(
    finished: Sequence["Finished"], seen: Mapping[int, Sequence[Seen]], *, seats: int, reward: Any
) -> dict[str, Any]:
    """Return the figures of submissions as JSON: all of them are paid, and those that are not excluded fill ``seats``.

    ``right_verdicts`` of ``verdicts``: pairs whose most frequent side (match or not) is the true one; ties are not.
    """
    counted = [work for work in finished if work.state == Assignment.State.ACCEPTED]
    by_person: dict[int, int] = defaultdict(int)
    for work in finished:
        by_person[work.person] += work.seconds
    right = Counter(right for work in finished for right in work.right)
    sides = _sides(counted)
    verdicts = [
        (item.level <= Level.PARTIALLY_YES, sides[item.item_id])
        for items in seen.values()
        for item in items
        if not item.polarity and item.item_id in sides
    ]
    return {
        "submitted": len(finished),
        "flagged": sum(work.was_flagged for work in finished),
        "excluded": sum(work.state == Assignment.State.EXCLUDED for work in finished),
        "seats_open": seats - sum(work.state != Assignment.State.EXCLUDED for work in finished),
        "cost": str(reward * len(finished)),
        "seconds_of_hit": median(work.seconds for work in finished) if finished else 0,
        "seconds_of_work": sum(by_person.values()),
        "seconds_elapsed": max(by_person.values(), default=0),
        "controls": right.total(),
        "right_controls": right[True],
        "verdicts": len(verdicts),
        "right_verdicts": sum(votes[is_match] > votes[not is_match] for is_match, votes in verdicts),
    }


def _sides(counted: Sequence["Finished"]) -> dict[int, Counter[bool]]:
    """Return item → how many votes call it a match, and how many do not."""
    sides: dict[int, Counter[bool]] = defaultdict(Counter)
    for work in counted:
        for item, level in work.levels.items():
            sides[item][level <= Level.PARTIALLY_YES] += 1
    return sides
