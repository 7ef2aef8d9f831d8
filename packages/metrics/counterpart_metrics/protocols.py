"""Protocols of scoring: what one run is worth in every usual way, and what each way is called."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np

from counterpart_metrics.arrays import DIRECTIONS, NO_ITEM, Floats, Integers, Qrels, without
from counterpart_metrics.binary import METRICS, Metric, share_found
from counterpart_metrics.errors import CounterpartError, counted
from counterpart_metrics.ids import Ids, Keys
from counterpart_metrics.policies import Policies
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.targets import Part, Reading, Target

EACH = " each"  # after the name of a metric: the share of a query's matches that are found, in place of any of them
EXPLAINED: Mapping[str, Metric] = {**METRICS, **{f"R@{k}{EACH}": partial(share_found, k=k) for k in (1, 5, 10)}}
WORDS = {"i2t": "image to caption", "t2i": "caption to image", "average": "both directions on average"} | {
    "both": "both directions"
}
FIRST = "matches first among equal scores"
LAST = "matches last among equal scores"
ZERO = "queries without a match count 0"
ALL_ZERO = "all queries of the file, 0 without a match"
OWN = "the query left out of its list"
NUMBERS = dict(enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2))


@dataclass(frozen=True)
class Setting:
    """What a run is scored on: the matches ``on``, with what is unusual in words (``OWN``: a query is left out of its
    own list, as between images, or between texts), and the number of queries by direction, also without a match."""

    on: str
    target: Target
    choices: tuple[str, ...] = ()
    asked: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """A figure in 0..1 (of a sum in 0..6) and how it comes about.

    ``part`` is a direction, ``average`` or ``both``; ``matches`` says which of a query's matches count; ``ties`` is
    the figure with matches last and first among equal scores, None where the run has no scores.
    """

    metric: str
    part: str
    on: str
    value: float
    matches: str = ""
    choices: tuple[str, ...] = ()
    ties: tuple[float, float] | None = None

    def __str__(self) -> str:
        on = f"{self.metric} of {WORDS[self.part]} on {self.on}"
        return "; ".join([f"{on} with {self.matches}" if self.matches else on, *self.choices])


def settings_of(
    name: str, qrels: Mapping[str, Qrels], ids: Ids, galleries: Mapping[str, Mapping[str, Integers]] | None = None
) -> list[Setting]:
    """Return the settings of a version or an export: as it is, without the query itself, and among the items of a
    gallery: direction → items, of ``galleries`` by choice, and what the judgments name."""
    asked = {direction: len(one.queries) for direction, one in qrels.items()}
    whole = Target.of(name, EXPLAINED, qrels, lambda: ids)
    other = dict(zip(DIRECTIONS, reversed(DIRECTIONS), strict=True))
    judged = {d: np.union1d(one.items, qrels[other[d]].queries) for d, one in qrels.items() if other[d] in qrels}
    places = {"only judged items in the gallery": judged, **(galleries or {})}
    parts = {choice: {d: [Part.of(qrels[d], items[d])] for d in items} for choice, items in places.items()}
    among = [Setting(name, replace(whole, parts=one), (choice,)) for choice, one in parts.items() if one]
    return [Setting(name, whole, (), asked), Setting(name, whole, (OWN,)), *among]


def score_protocols(
    model: str, blocks: Iterable[Block], settings: Sequence[Setting]
) -> tuple[list[Protocol], list[str]]:
    """Read a run once; return its figure under each protocol, and why it has none on some settings. Raises
    CounterpartError as ``Reading.add``, and where it has none at all."""
    interval = Policies(ties="interval")
    readings = [(one, Reading(model, one.target), Reading(model, one.target, interval)) for one in settings]
    ranked: Counter[str] = Counter()
    has_scores = True
    for block in blocks:
        ranked[block.direction] += len(block.rankings.queries)
        has_scores &= block.rankings.scores is not None
        for setting, listed, tied in readings:
            seen = _without_query(block, setting.target.ids()) if OWN in setting.choices else block
            listed.add(seen)
            if (equal := _with_ties(seen)) is not None:
                tied.add(equal)
    refused: list[str] = []
    every = [
        replace(one, ties=one.ties if has_scores else None)
        for setting, listed, tied in readings
        for one in _protocols(setting, _sides(setting, listed, tied, refused), ranked)
    ]
    if not every:
        readings[0][1].check_known()
        raise CounterpartError(f"{model} has no figure under any protocol. {' '.join(refused)}")
    return every, refused


def _sides(setting: Setting, listed: Reading, tied: Reading, refused: list[str]) -> dict[str, dict[str, Floats]]:
    """Return direction → order of equal scores → (metrics, Q); note the directions without some of the rankings."""
    sides = {}
    for direction in listed.directions:
        plain, low, high = (np.concatenate(one[direction], 1) for one in (listed.low, tied.low, tied.high))
        if missing := int(np.isnan(plain).all(0).sum()):
            without_list = f"{counted(missing, 'query', 'queries')} of {plain.shape[1]:,} without a ranking"
            refused.append(f"Not on {setting.on}, {WORDS[direction]}: {without_list}.")
        else:
            ends = {FIRST: high, LAST: low}
            sides[direction] = {"": plain} | {end: np.where(np.isnan(one), plain, one) for end, one in ends.items()}
    return sides


def _protocols(
    setting: Setting, sides: Mapping[str, Mapping[str, Floats]], ranked: Mapping[str, int]
) -> Iterator[Protocol]:
    words = {direction: _matches(direction, setting.target) for direction in sides}
    words |= {both: words.get("i2t") or words.get("t2i", "") for both in ("average", "both")}
    for count in ("",) if setting.choices else ("", ZERO, ALL_ZERO):
        figures = {}
        for order in ("", FIRST, LAST):
            means = {}
            for direction, values in sides.items():
                given = {ZERO: setting.asked.get(direction, 0), ALL_ZERO: ranked[direction]}.get(count, 0)
                totals = values[order].sum(1) / max(values[order].shape[1], given)
                means[direction] = dict(zip(setting.target.metrics, totals.tolist(), strict=True))
            figures[order] = _combined(means)
        for (order, found), (name, part) in product(figures.items(), figures[""]):
            matches = f"{'each' if name.endswith(EACH) else 'any'} of {words[part]}" if words[part] else ""
            yield Protocol(
                name.removesuffix(EACH),
                part,
                setting.on,
                found[name, part],
                matches if name.startswith(("R@", "rsum")) else "",
                (*setting.choices, *filter(None, (order, count))),
                None if order else (figures[LAST][name, part], figures[FIRST][name, part]),
            )


def _combined(means: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str], float]:
    """Return metric and part → figure: of each direction, of both on average, and the sum of the six recalls."""
    found = {(metric, direction): value for direction, one in means.items() for metric, value in one.items()}
    if len(means) == len(DIRECTIONS):
        names = next(iter(means.values()))
        found |= {(name, "average"): sum(one[name] for one in means.values()) / 2 for name in names}
        for end in ("", EACH):
            if (recalls := [f"R@{k}{end}" for k in (1, 5, 10)])[0] in names:
                found[f"rsum{end}", "both"] = sum(one[name] for one in means.values() for name in recalls)
    return found


def _matches(direction: str, target: Target) -> str:
    """Say how many matches a query has, where some have several: ``five captions``, or ``its matches``."""
    if "R@1" not in target.metrics:
        return ""
    numbers = {int(n) for part in target.parts[direction] for n in np.unique(part.judged(part.queries).positives)}
    if len(numbers) > 1:
        return "its matches"
    (number,) = numbers
    return "" if number == 1 else f"{NUMBERS.get(number, number)} {'captions' if direction == 'i2t' else 'images'}"


def _with_ties(block: Block) -> Block | None:
    """Return the lists with equal scores."""
    rankings = block.rankings
    if rankings.scores is None:
        return None
    equal = (rankings.scores[:, 1:] == rankings.scores[:, :-1]) & (rankings.items[:, 1:] != NO_ITEM)
    return Block(block.direction, rankings.of_queries(equal.any(1))) if equal.any() else None


def _without_query(block: Block, ids: Ids) -> Block:
    """Return the lists without their own query, where more than half hold it: ids of both sides may be equal."""
    asking, listed = ids.of(block.direction)
    own = Keys.find(listed, asking.names(block.rankings.queries))
    holds = (block.rankings.items == own[:, None]) & (own >= 0)[:, None]
    return Block(block.direction, without(block.rankings, holds)) if holds.any(1).mean() > 0.5 else block
