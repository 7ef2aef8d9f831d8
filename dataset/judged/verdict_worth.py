"""Sentences on how sure verdicts are: of a round in numbers with a range, of a pair in hundredths or nothing.

A percentage is shown only where ``shows_percentage`` allows it, and is cut at 99. It is that of verdicts like this one,
not of the pair: no single pair has a range of its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

from django.db.models import Q

from annotation.models import Assignment
from annotation.work.control_records import Tally, tallies_of
from annotation.work.judgments import answers_in, votes_in
from core.text import counted
from counterpart_statistics.aggregation import shows_percentage
from counterpart_statistics.aggregation.certainty import REVIEWED, SEVERAL
from counterpart_statistics.random_pairs import exact_interval
from dataset.models import Aggregation, Verdict

Figures = Mapping[str, Any]
"""``Aggregation.certainty``, or that of a version's manifest."""
OPEN_BELOW = 60
"""Hundredths under which a verdict is open."""
LONE = (
    "No percentage is shown on pairs of one vote, as controls do not say how much harder pairs are. "
    f"{SEVERAL} pairs with two votes, or {REVIEWED} reviews of verdicts drawn at random, would."
)
NEARLY_SURE = 0.95
ENOUGH_HELD = 20
EARLIER = "An earlier program counted these votes. It called verdicts too sure, so that its percentages are not shown."


def hundredths(verdict: Verdict) -> int | None:
    """Return of how many of 100 such verdicts the side is right, 1 to 99; None where no percentage may be shown."""
    if verdict.probability is None or not shows_percentage(verdict.aggregation.certainty, verdict.votes):
        return None
    return min(max(int(100 * verdict.probability), 1), 99)


def worth(verdict: Verdict) -> str:
    """Say what a verdict is worth; where no percentage may be shown, why a lone vote is doubtful, if it is."""
    sure = hundredths(verdict)
    if sure is None:
        return verdict.doubt
    if sure < 50:
        return "the votes of better workers lean the other way"
    return "open" if sure < OPEN_BELOW else f"about {sure} of 100 such verdicts are right"


def note_doubts(verdicts: Iterable[Verdict]) -> None:
    """Note on each lone vote without a percentage (``Verdict.doubt``) if its worker failed more controls than others of
    the round do. Asks the database twice for any number of verdicts."""
    lone = [one for one in verdicts if one.votes == 1 and hundredths(one) is None and one.aggregation.certainty]
    if not lone:
        return
    rounds = {one.aggregation.round_id for one in lone}
    images = {one.image_id for one in lone}
    captions = {one.caption_id for one in lone}
    votes = votes_in(*rounds).filter(image__in=images, caption__in=captions)
    columns = ("assignment__hit__round", "image", "caption", "worker")
    voter = {tuple(key): worker for *key, worker in votes.values_list(*columns)}
    submitted = answers_in(*rounds).filter(worker__in=voter.values(), assignment__state__in=Assignment.SUBMITTED)
    tallies = tallies_of(submitted)
    for one in lone:
        tally = tallies.get(voter.get((one.aggregation.round_id, one.image_id, one.caption_id), 0), Tally())
        if tally.share is not None and tally.share < (one.aggregation.certainty or {}).get("mean", 0):
            failed = f"{tally.answered - tally.right} of {counted(tally.answered, 'control')}"
            one.doubt = f"from a worker who failed {failed}"


def least_votes(figures: Figures | None) -> int | None:
    """Return from how many votes on a pair its percentage is shown; None if no pair has one."""
    if shows_percentage(figures, 1):
        return 1
    return 2 if figures and shows_percentage(figures, 2) and figures["several"] else None


def why_no_percentage(figures: Figures | None) -> str:
    """Say why pairs of one vote have no percentage; empty where they have."""
    if not figures or shows_percentage(figures, 1):
        return ""
    return figures.get("silent", EARLIER) or LONE


def with_percentage(aggregations: Sequence[Aggregation]) -> Q:
    """Return the condition on verdicts that have a percentage."""
    least = {one.pk: least_votes(one.certainty) for one in aggregations}
    condition = Q(pk__in=[])
    for pk, votes in least.items():
        condition |= Q(aggregation=pk, votes__gte=votes) if votes else Q()
    return condition


class Wrong(NamedTuple):
    """A number of wrong verdicts with its range, each of two digits, as no third one is known."""

    about: int
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.about:,} ({self.low:,} to {self.high:,})"


def wrong_range(figures: Figures, *, corrected: float = 0.0) -> Wrong | None:
    """Return how many verdicts are wrong, once further votes have ``corrected`` some. None where no number may be said.

    Votes that correct what the model expects to be wrong may correct nothing of the rest, so that the high end falls by
    as many verdicts as the middle; the low end keeps its share.
    """
    if figures.get("silent", EARLIER):
        return None
    left = figures["expected_wrong"] - corrected
    low = figures["wrong_low"] * left / max(figures["expected_wrong"], 1e-9)
    high = figures["wrong_high"] - corrected
    return Wrong(_two_digits(left, round), _two_digits(low, floor), _two_digits(high, ceil))


def round_sentences(figures: Figures | None) -> Iterator[str]:
    """Say how many verdicts of a round are wrong, then on what that rests; or why no number is shown."""
    if not figures:
        return
    wrong = wrong_range(figures)
    if wrong is None:
        yield figures.get("silent", EARLIER)
        return
    yield f"Of {figures['verdicts']:,} verdicts about {wrong.about:,} are wrong ({wrong.low:,} to {wrong.high:,})."
    yield (
        f"From {counted(figures['control_answers'], 'control')} in {counted(figures['sets'], 'answer set')}; "
        f"{figures['uncounted']:,} of them did not count."
    )
    if figures["several"]:
        yield f"{counted(figures['several'], 'pair has', 'pairs have')} several votes, which say how hard pairs are."
    if figures["reviewed"]:
        right = figures["reviewed_right"]
        low, high = exact_interval(right, figures["reviewed"])
        checked = f"Checked on {counted(figures['reviewed'], 'verdict')} drawn at random"
        held = f"{right:,} right ({100 * low:.0f} to {high:.0%})"
        yield f"{checked}: {held}; the numbers here are corrected by it."
    if not figures["several"] and not figures["reviewed"]:
        yield "Nothing but controls was measured: every pair has one vote."


def held_sentence(tested: Iterable[tuple[float, float]]) -> str:
    """Say of how many verdicts that were called nearly sure the side held; empty of fewer than ``ENOUGH_HELD``.

    Args:
        tested: how sure the side of each verdict was, and whether it held, or how probable that is by later votes.
    """
    sure = [held for called, held in tested if called >= NEARLY_SURE]
    if len(sure) < ENOUGH_HELD:
        return ""
    held = f"{100 * sum(sure) / len(sure):.0f} of 100 held, by reviews and later votes"
    return f"{len(sure):,} verdicts drawn at random should be right in 95 to 99 of 100 cases: {held}."


def _two_digits(number: float, rounded: Callable[[float], int]) -> int:
    unit = 10 ** max(floor(log10(max(number, 1))) - 1, 0)
    return rounded(number / unit) * unit
