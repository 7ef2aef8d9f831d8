"""How many matches of its queries a version misses: capture-recapture, and an estimate by parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from core.progress import Progress, silent, tracked
from core.seeds import SeedField
from core.text import counted
from counterpart_statistics.completeness import Beyond, Parts, capture_estimates, enough_random_pairs, estimate_by_parts
from counterpart_statistics.judged.control_votes import VotesOnControls, votes_on_controls
from counterpart_statistics.judged.judged_lists import JudgedLists, ListedPairs
from counterpart_statistics.random_pairs import Estimate, Learned
from dataset.judged.released_tables import numbered_answers
from dataset.models import Version
from evaluation.analyses import Findings, shown, text_table
from evaluation.judged_versions import JudgedVersionParameters, judged_lists, true_qrels
from mitl.charts.bars import interval_chart
from mitl.charts.drawing import Chart
from mitl.models import Direction

BY_PARTS = "by parts"
RESAMPLING = (
    "A resampling interval says how far the estimate moves with other queries. It says nothing of matches that no "
    "annotator finds, and seldom holds the true number."
)
SAMPLES = 200


@dataclass(frozen=True)
class Completeness:
    """One direction of a version.

    Attributes:
        captures: the estimates of capture-recapture by method.
        doubt: why matches cannot be estimated by parts; otherwise empty.
        truth: the number of all matches, where it is known.
    """

    direction: Direction
    queries: int
    judged: int
    captures: dict[str, Estimate]
    parts: Parts
    beyond: Beyond
    learned: Learned
    votes: VotesOnControls
    doubt: str
    truth: int | None

    @property
    def found(self) -> int:
        return self.parts.found

    @property
    def estimates(self) -> dict[str, Estimate | None]:
        return {**self.captures, BY_PARTS: None if self.doubt else self.parts.total}


class CompletenessParameters(JudgedVersionParameters):
    seed: Annotated[int, SeedField(help_text="seed of the bootstrap over queries")] = 0


def analyse(parameters: CompletenessParameters, *, progress: Progress) -> Findings:
    """Estimate the matches of each direction. Raises CounterpartError for a version without judged pairs."""
    version = Version.objects.named(parameters.name)
    found = measure_completeness(version, truth=parameters.truth, seed=parameters.seed, progress=progress)
    figures = {
        "version": version.name,
        "truth": parameters.truth,
        "seed": parameters.seed,
        "directions": [_figures(one) for one in found],
    }
    return Findings(figures, "\n\n".join(map(_text, found)), _chart(found), _rows(found))


def measure_completeness(
    version: Version, *, truth: str | None = None, seed: int = 0, progress: Progress = silent
) -> list[Completeness]:
    """Return the estimates for each direction that has judged pairs with a match."""
    judged = {direction: one for direction, one in judged_lists(version).items() if one.qrels.matches.any()}
    votes = votes_on_controls(numbered_answers(version))
    depth = min(round.pool.control_depth for round in version.rounds.select_related("pool"))
    listed = {direction: one.listed(depth) for direction, one in judged.items()}
    found = []
    for direction in tracked(list(judged), "directions", progress, every=1):
        found.append(_measure(version, direction, judged[direction], listed, votes, truth, seed))
    return found


def _measure(
    version: Version,
    direction: Direction,
    judged: JudgedLists,
    listed: Mapping[Direction, ListedPairs],
    votes: VotesOnControls,
    truth: str | None,
    seed: int,
) -> Completeness:
    qrels = judged.qrels
    own = listed[direction]
    learned = votes.learned()
    caught = qrels.matches & judged.proposed.any(axis=1)
    captures = capture_estimates(judged.proposed[caught], qrels.rows[caught], samples=SAMPLES, seed=seed)
    is_i2t = direction == Direction.IMAGE_TO_CAPTION
    gallery = version.collection.captions if is_i2t else version.collection.images
    (other,) = (listed.get(one) for one in Direction if one != direction)
    # Negative controls are drawn outside the lists of both directions (``hits.controls``).
    beyond = own.beyond(other, gallery.gallery().count(), learned.rate)
    wrong = votes.wrong.by_majority(votes.candidates or [1])
    parts = estimate_by_parts(own.ranks, own.gains, beyond, wrong=wrong)
    doubt = "" if parts.is_estimable else _doubt(parts, beyond, votes)
    known = None if truth is None else int(true_qrels(version, truth, direction).matches.sum())
    return Completeness(
        direction, len(qrels.queries), len(qrels.items), captures, parts, beyond, learned, votes, doubt, known
    )


def _doubt(parts: Parts, beyond: Beyond, votes: VotesOnControls) -> str:
    """Return why matches cannot be estimated by parts, and the next step."""
    random_pairs = np.size(votes.counted.yes)
    if not random_pairs:
        return "No random pair outside the lists has a vote that counts. Pack with negative controls."
    if not parts.is_separable:
        return (
            "Wrong votes alone may explain the matches that are expected among unjudged listed pairs: "
            f"votes are wrong on up to {votes.wrong.yes.high:.1%} of the pairs that do not match. {_remedy(votes)}"
        )
    total = f"The interval, {_count(parts.total.low)} to {_count(parts.total.high)}, is wider than the estimate."
    if enough := enough_random_pairs(parts, beyond, votes.counted, votes.every):
        return (
            f"{total} About {enough:,} random pairs outside the lists that are judged alike would make it narrow "
            f"enough; there are {random_pairs:,}. Pack the next round with more negative controls."
        )
    if parts.listed.high - parts.listed.low > parts.total.value:
        return f"{total} Most of the estimate lies in unjudged listed pairs. Pool longer lists in the next round."
    return f"{total} {_remedy(votes)}"


def _remedy(votes: VotesOnControls) -> str:
    """Return the next step where votes do not separate matches from mistakes."""
    if max(votes.candidates, default=1) == 1:
        return "One vote on a pair cannot separate matches from mistakes. Ask for three votes a pair in the next round."
    return "Use more votes on each pair, or pool longer lists in the next round."


def _figures(one: Completeness) -> dict[str, Any]:
    counted = one.votes.counted
    return {
        "direction": one.direction.value,
        "queries": one.queries,
        "judged": one.judged,
        "found": one.found,
        "truth": one.truth,
        "capture_recapture": {
            name: {"value": _number(each.value), "resampling_interval": [_number(each.low), _number(each.high)]}
            for name, each in one.captures.items()
        },
        "by_parts": {
            "estimable": not one.doubt,
            "reason": one.doubt or None,
            "total": None if one.doubt else _plain(one.parts.total),
            "judged": _plain(one.parts.judged),
            **{name: None if one.doubt else _plain(getattr(one.parts, name)) for name in ("listed", "outside")},
        },
        "controls": {
            "random_pairs": np.size(counted.yes),
            "votes": int(np.sum(counted.votes)),
            "votes_for_a_match": int(np.sum(counted.yes)),
            "share_of_matches": _plain(one.learned.rate),
            "wrong_yes": _plain(one.votes.wrong.yes),
            "wrong_no": _plain(one.votes.wrong.no),
        },
    }


def _plain(estimate: Estimate) -> dict[str, float | None]:
    return {name: _number(value) for name, value in estimate._asdict().items()}


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _text(one: Completeness) -> str:
    heads = ["matches in all", "estimate", "resampling interval", "found of them"]
    if one.truth:
        heads.append("of the truth")
    table = text_table(heads, [[name, *_cells(one, estimate)] for name, estimate in one.captures.items()])
    title = (
        f"{one.direction.label}: {counted(one.queries, 'query', 'queries')}, {counted(one.found, 'match', 'matches')} "
        f"among {counted(one.judged, 'judged pair')}" + (f"; {one.truth:,} in truth" if one.truth is not None else "")
    )
    return "\n".join([title, table, RESAMPLING, *_by_parts(one)])


def _cells(one: Completeness, estimate: Estimate) -> list[str]:
    share = f"{one.found / estimate.value:.0%}" if np.isfinite(estimate.value) and estimate.value else "–"
    cells = [_count(estimate.value), f"{_count(estimate.low)} to {_count(estimate.high)}", share]
    return cells + ([shown(estimate.value / one.truth, ".2f")] if one.truth else [])


def _by_parts(one: Completeness) -> list[str]:
    """Return the lines on the estimate by parts, and on the controls behind it."""
    parts = one.parts
    controls = one.votes.counted
    rate = one.learned.rate
    wrong = one.votes.wrong
    if one.doubt:
        lines = [f"By parts: not estimable. {one.doubt}"]
    else:
        value, interval, share, *truth = _cells(one, parts.total)
        lines = [
            f"By parts: {value} (cautious interval {interval}), of which {share} were found"
            + (f"; {truth[0]} of the truth." if truth else "."),
            f"That is {_count(parts.judged.value)} among judged pairs, {_count(parts.listed.value)} among unjudged "
            f"listed pairs and {_count(parts.outside.value)} outside the lists.",
        ]
    if np.size(controls.yes):
        lines.append(
            f"Controls: of {counted(int(np.sum(controls.votes)), 'vote')} that count on "
            f"{counted(np.size(controls.yes), 'random pair')} outside the lists, {int(np.sum(controls.yes)):,} say "
            f"match. Of these pairs {rate.value:.2%} ({rate.low:.2%} to {rate.high:.2%}) match."
        )
    lines.append(
        f"A vote on a candidate is wrong on about {wrong.yes.value:.1%} of the pairs that do not match (at most "
        f"{wrong.yes.high:.1%}) and on {wrong.no.value:.1%} of matches (at most {wrong.no.high:.1%})."
    )
    return lines


def _count(value: float) -> str:
    return f"{value:,.0f}" if np.isfinite(value) else "–"


def _rows(found: Sequence[Completeness]) -> list[dict[str, Any]]:
    return [
        {
            "direction": one.direction.value,
            "method": name,
            "interval": "cautious" if name == BY_PARTS else "resampling",
            **(_plain(estimate) if estimate else dict.fromkeys(Estimate._fields)),
            "found": one.found,
            "truth": one.truth,
        }
        for one in found
        for name, estimate in one.estimates.items()
    ]


def _chart(found: Sequence[Completeness]) -> Chart:
    panels: Mapping[str, list[dict[str, Any]]] = {
        f"{one.direction.label}: {one.found:,} found": [
            {"name": name, **_plain(estimate), "truth": one.truth}
            for name, estimate in one.estimates.items()
            if estimate and np.isfinite(estimate.value)
        ]
        for one in found
    }
    subtitle = (
        "Resampling intervals of capture-recapture; cautious interval of the estimate by parts, where there is one."
    )
    return interval_chart("Matches of the queries in all", subtitle, panels, x="matches")
