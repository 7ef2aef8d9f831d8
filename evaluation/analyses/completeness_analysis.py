"""Completeness: how many matches of its queries a version lacks, as lower bounds and by parts, with intervals."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.core.management.base import CommandParser
from numpy.typing import NDArray

from core.progress import Progress, silent, tracked
from core.text import counted
from dataset.models import Version
from dataset.version_files import load_judgments
from evaluation.analyses import Findings
from evaluation.completeness import (
    Beyond,
    Estimate,
    Parts,
    capture_estimates,
    estimate_by_parts,
    expected_matches,
)
from evaluation.judged_pairs import JudgedPairs, load_judged_pairs, queries_of, true_qrels
from hits.models import Control
from hits.question import RIGHT_LEVELS
from mitl.charts import Spec, interval_chart
from mitl.models import Direction

HELP = "How many matches of its queries a version lacks: capture-recapture (lower bounds), and an estimate by parts."
BY_PARTS = "by parts"
SAMPLES = 200

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Completeness:
    """One direction of a version. ``bounds`` are lower bounds by method; ``truth`` is the number of all matches, where
    it is known."""

    direction: Direction
    queries: int
    judged: int
    bounds: dict[str, Estimate]
    parts: Parts
    beyond: Beyond
    truth: int | None

    @property
    def found(self) -> int:
        return self.parts.found

    @property
    def estimates(self) -> dict[str, Estimate]:
        return {**self.bounds, BY_PARTS: self.parts.total}


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("name", metavar="VERSION", help="a released version with rounds")
    parser.add_argument("--truth", metavar="SOURCE", help="compare with all matches of this source, if they are known")
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap over queries (default 0)")


def analyse(*, progress: Progress, name: str, truth: str | None, seed: int, **options: object) -> Findings:
    """Estimate the matches of each direction. Raises CounterpartError for a version without judged pairs."""
    version = Version.objects.named(name)
    found = measure_completeness(version, truth=truth, seed=seed, progress=progress)
    figures = {
        "version": version.name,
        "truth": truth,
        "seed": seed,
        "directions": [_figures(one) for one in found],
    }
    return Findings(figures, "\n\n".join(map(_text, found)), _chart(found), _rows(found))


def measure_completeness(
    version: Version, *, truth: str | None = None, seed: int = 0, progress: Progress = silent
) -> list[Completeness]:
    """Return the estimates for each direction that has judged pairs with a match."""
    judged = {direction: one for direction, one in load_judged_pairs(version).items() if one.qrels.matches.any()}
    probes = count_probes(version)
    depth = min(round.pool.control_depth for round in version.rounds.select_related("pool"))
    listed = {direction: _listed_pairs(one, depth) for direction, one in judged.items()}
    found = []
    for direction in tracked(list(judged), "directions", progress, every=1):
        beyond = _beyond(version, direction, listed, probes)
        found.append(_measure(version, direction, judged[direction], listed[direction], beyond, truth, seed))
    return found


def count_probes(version: Version) -> tuple[int, int]:
    """Return how many negative controls, random pairs outside every list, workers judged a match, and of how many.

    Only answer sets whose positive controls are right say something, whether they count or not: who fails a negative
    control may have found a match. A control counts as a match if at least half of its answers say so.
    """
    sets: dict[tuple[str, int, int], list[Any]] = defaultdict(list)
    for row in load_judgments(version):
        if row.control:
            sets[row.round, row.hit, row.assignment].append(row)
    answers: dict[tuple[str, str], list[bool]] = defaultdict(list)
    positive = RIGHT_LEVELS[Control.Polarity.POSITIVE]
    for rows in sets.values():
        if all(row.level in positive for row in rows if row.control == Control.Polarity.POSITIVE):
            for row in rows:
                if row.control == Control.Polarity.NEGATIVE:
                    answers[row.image, row.caption].append(row.level in positive)
    return sum(2 * sum(one) >= len(one) for one in answers.values()), len(answers)


@dataclass(frozen=True)
class _Listed:
    """The pairs of one direction that are judged or in a list: query and item (n, 2), the annotators' ranks (n, A) with
    0 where they do not list it, and the gain (n,), NaN where nobody judged."""

    pairs: Ids
    ranks: Ids
    gains: NDArray[np.float64]

    @property
    def in_list(self) -> NDArray[np.bool_]:
        return np.asarray((self.ranks > 0).any(axis=1), bool)


def _measure(
    version: Version,
    direction: Direction,
    judged: JudgedPairs,
    listed: _Listed,
    beyond: Beyond,
    truth: str | None,
    seed: int,
) -> Completeness:
    qrels = judged.qrels
    caught = qrels.matches & judged.proposed.any(axis=1)
    bounds = capture_estimates(judged.proposed[caught], qrels.rows[caught], samples=SAMPLES, seed=seed)
    parts = estimate_by_parts(listed.ranks, listed.gains, listed.pairs[:, 0], beyond, samples=SAMPLES, seed=seed)
    known = None if truth is None else int(true_qrels(version, truth, direction).matches.sum())
    return Completeness(direction, len(qrels.queries), len(qrels.items), bounds, parts, beyond, known)


def _beyond(
    version: Version, direction: Direction, listed: Mapping[Direction, _Listed], probes: tuple[int, int]
) -> Beyond:
    """Return what is known of the pairs that no list of the direction holds. Negative controls are drawn from the query
    images with the query captions, outside the lists of both directions (``hits.controls``)."""
    queries = queries_of(version)
    gallery = version.collection.captions if direction == Direction.IMAGE_TO_CAPTION else version.collection.images
    own, (other_direction,) = listed[direction], [one for one in Direction if one != direction]
    outside = len(queries[direction]) * gallery.gallery().count() - int(own.in_list.sum())
    if other_direction not in listed:
        return Beyond(outside, probes[1], probes[0])
    other = listed[other_direction]
    held = own.pairs[own.in_list & np.isin(own.pairs[:, 1], queries[other_direction])]
    theirs = other.in_list & np.isin(other.pairs[:, 1], queries[direction])
    turned = other.pairs[theirs][:, ::-1]
    only = ~np.isin(_codes(turned), _codes(held))
    expected = expected_matches(other.ranks, other.gains)[theirs][only].sum()
    probed = len(queries[direction]) * len(queries[other_direction]) - len(held) - int(only.sum())
    return Beyond(outside, probes[1], probes[0], probed, int(only.sum()), float(expected))


def _codes(pairs: Ids) -> Ids:
    return pairs[:, 0] << 32 | pairs[:, 1]


def _listed_pairs(judged: JudgedPairs, depth: int) -> _Listed:
    """Return every pair that is judged or in the top ``depth`` of a list."""
    qrels = judged.qrels
    lists = []
    for one in judged.rankings.values():
        inside = np.isin(one.queries, qrels.queries)
        items = one.items[inside, :depth].astype(np.int64)
        rows, places = np.nonzero(items >= 0)
        lists.append((one.queries[inside][rows], items[rows, places], places + 1))
    asked = np.concatenate([qrels.queries[qrels.rows], *(queries for queries, _, _ in lists)])
    items = np.concatenate([qrels.items, *(found for _, found, _ in lists)])
    pairs, place = np.unique(np.stack([asked, items], axis=1), axis=0, return_inverse=True)
    place = place.reshape(-1)
    gains = np.full(len(pairs), np.nan)
    gains[place[: len(qrels.items)]] = qrels.matches
    ranks = np.zeros((len(pairs), len(lists)), np.int64)
    start = len(qrels.items)
    for column, (queries, _, listed) in enumerate(lists):
        ranks[place[start : start + len(queries)], column] = listed
        start += len(queries)
    return _Listed(pairs, ranks, gains)


def _figures(one: Completeness) -> dict[str, Any]:
    return {
        "direction": one.direction.value,
        "queries": one.queries,
        "judged": one.judged,
        "found": one.found,
        "truth": one.truth,
        "lower_bounds": {name: _plain(bound) for name, bound in one.bounds.items()},
        "by_parts": {name: _plain(getattr(one.parts, name)) for name in ("listed", "outside", "total")},
        "probes": {"matches": one.beyond.matches, "judged": one.beyond.probes},
    }


def _plain(estimate: Estimate) -> dict[str, float | None]:
    return {name: value if np.isfinite(value) else None for name, value in estimate._asdict().items()}


def _text(one: Completeness) -> str:
    lines = [
        f"{one.direction.label}: {counted(one.queries, 'query', 'queries')}, {counted(one.found, 'match', 'matches')} "
        f"among {counted(one.judged, 'judged pair')}" + (f"; {one.truth:,} in truth" if one.truth is not None else ""),
        f"{'matches in all':<36}{'estimate':>9}  {'95% interval':>17}  found of them"
        + ("  of the truth" if one.truth else ""),
    ]
    for name, estimate in one.estimates.items():
        named = name if name == BY_PARTS else f"at least, {name}"
        interval = f"{_count(estimate.low)} to {_count(estimate.high)}"
        share = f"{one.found / estimate.value:.0%}" if np.isfinite(estimate.value) and estimate.value else "-"
        part = f"{estimate.value / one.truth:>14.2f}" if one.truth and np.isfinite(estimate.value) else ""
        lines.append(f"{named:<36}{_count(estimate.value):>9}  {interval:>17}  {share:>13}{part}")
    return "\n".join(
        [
            *lines,
            f"By parts: {one.parts.found:,} found, {_count(one.parts.listed.value)} expected among listed pairs that "
            f"nobody judged, {_count(one.parts.outside.value)} outside the lists "
            f"({one.beyond.matches:,} of {one.beyond.probes:,} random pairs there were judged a match).",
        ]
    )


def _count(value: float) -> str:
    return f"{value:,.0f}" if np.isfinite(value) else "-"


def _rows(found: Sequence[Completeness]) -> list[dict[str, Any]]:
    return [
        {
            "direction": one.direction.value,
            "method": name,
            "lower_bound": int(name != BY_PARTS),
            **_plain(estimate),
            "found": one.found,
            "truth": one.truth,
        }
        for one in found
        for name, estimate in one.estimates.items()
    ]


def _chart(found: Sequence[Completeness]) -> Spec:
    panels: Mapping[str, list[dict[str, Any]]] = {
        f"{one.direction.label}: {one.found:,} found": [
            {"name": name if name == BY_PARTS else f"at least, {name}", **_plain(estimate), "truth": one.truth}
            for name, estimate in one.estimates.items()
            if np.isfinite(estimate.value)
        ]
        for one in found
    }
    subtitle = "Estimates with 95% intervals. Capture-recapture gives lower bounds."
    return interval_chart("Matches of the queries in all", subtitle, panels, x="matches")
