"""How far to trust a version: its bias and completeness, measured by a job and stored, as a version never changes."""

from dataclasses import asdict
from typing import Any

from core.errors import CounterpartError
from core.files.stored_files import read_json, write_json
from core.progress import Progress
from counterpart_metrics import METRICS
from dataset.exports.statements import certainty
from dataset.models import Version
from evaluation.analyses.bias_analysis import SHOWN, bias_chart, measure_bias
from evaluation.analyses.completeness_analysis import measure_completeness
from evaluation.scores.boards import QUERIES
from evaluation.scores.leaderboard import caution_of
from mitl.charts.drawing import Chart
from mitl.models import Direction

UNLISTED = "Pairs that are not listed are unknown, not wrong: only those that its annotators ranked high were judged."
COUNTED = "Scores are counted over all its queries; their intervals are of queries drawn like these."


def measure_trust(version: Version, *, progress: Progress) -> None:
    """Store what the page shows. Raises CounterpartError for a version without judged pairs."""
    biases = []
    no_bias = ""
    try:
        biases = measure_bias(version, {metric: METRICS[metric] for metric in SHOWN}, progress=progress)
    except CounterpartError as error:  # a version of one annotator has completeness alone
        no_bias = str(error)
    figures = {
        "chart": asdict(bias_chart(biases)) if biases else None,
        "no_bias": no_bias,
        "biases": [
            {
                "direction": one.direction.label,
                "metric": one.metric,
                "sizes": [asdict(size) for size in one.sizes],
                "left_out": [asdict(each) for each in one.left_out],
            }
            for one in biases
        ],
        "completeness": [
            {
                "direction": one.direction.label,
                "side": one.direction.value,
                "found": one.found,
                "chao": one.captures["Chao"]._asdict(),
                "total": None if one.doubt else one.parts.total._asdict(),
                "reason": one.doubt,
            }
            for one in measure_completeness(version, progress=progress)
        ],
    }
    write_json(_path(version), figures)


def stored_trust(version: Version) -> dict[str, Any] | None:
    """Return the stored figures with their chart, or None before they were measured."""
    figures: dict[str, Any] | None = read_json(_path(version))
    # Earlier versions stored an estimate by parts that assumed equally reliable votes on candidates and on controls.
    if (
        figures is None
        or any("side" not in one for one in figures["completeness"])
        or isinstance(figures["chart"], str)
    ):
        return None
    return figures | {"chart": figures["chart"] and Chart.from_json(figures["chart"])}


def trust_sentences(version: Version, figures: dict[str, Any] | None) -> list[str]:
    """Say how far to trust the verdicts, the number of matches and the scores of a version: a sentence each, of what
    ``stored_trust`` returns."""
    wrong = next(iter(certainty(version)), "How many verdicts are wrong was not measured.")
    found = [one for one in figures["completeness"] if one["total"]] if figures else []
    shares = [
        f"about {min(1, one['found'] / one['total']['value']):.0%} for {QUERIES[Direction(one['side'])]} queries"
        for one in found
    ]
    matches = f"Of all matches there are, it has {' and '.join(shares)}." if shares else UNLISTED
    return [wrong, matches, caution_of(version) or COUNTED]


def _path(version: Version) -> str:
    return f"trust/{version.name}-{version.manifest_sha256}.json"
