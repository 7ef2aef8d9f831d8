"""Rounds that judge an audit whole and then the likeliest matches: their recall, their stop, and guarded scores."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimation.beds import Bed
from benchmarks.estimation.questions import SHOWN, WRITTEN
from counterpart_statistics.audits import STOP_RECALL
from counterpart_statistics.estimation import (
    Recall,
    audit_order,
    pool_metrics,
    score_interval,
    shrunk,
)
from counterpart_statistics.selection.selection_replay import Step, selection_steps

AUDIT = 150  # queries of each direction
BATCH = 0.04  # of the pairs
SHARES = (0.3, 0.5, 0.8)  # of the pairs, at which scores are compared
LOOKS = (0.2, 0.3, 0.5)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Look:
    """The figures of a round after a batch.

    Attributes:
        judged: share of the pairs.
        recall: the true one.
        before: the recall by the sum of probabilities, which rounds had in 0.3.
        said: the estimate.
        scores: (4, D, K, M) of D directions: the true scores, those with unjudged pairs as no matches, the audit's
            estimates and the guarded scores; None between ``SHARES``.
    """

    judged: float
    recall: float
    before: float
    said: Recall
    scores: Floats | None

    @property
    def holds(self) -> bool:
        return self.said.low <= self.recall <= self.said.high

    @property
    def figures(self) -> list[float]:
        return [self.recall, self.before, self.said.value, self.said.low, self.said.high, self.holds]


def looks(beds: Sequence[Bed], seed: int, *, audit: int = AUDIT, batch: float = BATCH) -> Iterator[Look]:
    """Yield the looks of one round over both directions of a testbed, until it has passed the last of ``SHARES``, its
    stop and the true recall at which it should stop."""
    wholes = []
    for number, bed in enumerate(beds):
        drawn = audit_order(np.arange(len(bed.groups)), 2 * seed + number).order[:audit]
        wholes.append(bed.whole(seed).drawing(map(str, drawn)))
    pairs = len(np.unique(np.concatenate([bed.codes[bed.asked] for bed in beds])))
    matches = len(np.unique(np.concatenate([bed.codes[bed.asked & (bed.gains > 0)] for bed in beds])))
    shares = list(SHARES)
    judged = 0
    for step in selection_steps(wholes, repeat(round(batch * pairs))):
        judged += len(step.asked)
        likely = step.likely
        before = likely.found / (likely.found + likely.probability[np.isnan(likely.gains)].sum())
        assert likely.recall is not None
        said = likely.recall
        is_scored = bool(shares) and judged / pairs >= shares[0]
        scores = scores_of(beds, step) if is_scored else None
        shares = shares[is_scored:]
        yield Look(judged / pairs, likely.found / matches, before, said, scores)
        if not shares and said.is_enough(STOP_RECALL) and likely.found >= STOP_RECALL * matches:
            return


def scores_of(beds: Sequence[Bed], step: Step) -> Floats:
    """Return the scores that are known after a step, as of ``Look``."""
    rows = []
    for bed, whole in zip(beds, step.wholes, strict=True):
        counted = pool_metrics(bed.ranks, np.nan_to_num(whole.queries.gains))[:SHOWN].mean(axis=2)
        found = score_interval(whole.metrics[:SHOWN], whole.proxy[:SHOWN], whole.audited)
        guarded, _ = shrunk(found.value, found.error, counted)
        rows.append((bed.metrics[:SHOWN].mean(axis=2), counted, found.value, guarded))
    return np.array(rows).swapaxes(0, 1)


def recalls(rounds: dict[str, list[list[Look]]]) -> str:
    """Return the tables of recall by the share of the pairs judged, and of where rounds stop: by the rounds of each
    testbed."""
    count = len(next(iter(rounds.values())))
    lines = [
        f"Recall by the share of the pairs judged: true, before → now (interval), how often that held; {count} rounds "
        f"of both directions, batches of {BATCH:.0%}, audits of {AUDIT} queries a direction.\n",
        f"| testbed | {' | '.join(f'{share:.0%}' for share in LOOKS)} | all looks |\n|---|{'---|' * (len(LOOKS) + 1)}",
    ]
    for name, played in rounds.items():
        cells = []
        for share in LOOKS:
            at = [min(one, key=lambda look: abs(look.judged - share)).figures for one in played]
            cells.append("{:.2f}, {:.2f} → {:.2f} ({:.2f}–{:.2f}), {:.2f}".format(*np.mean(at, axis=0)))
        held = np.mean([look.holds for one in played for look in one])
        lines.append(f"| {name} | {' | '.join(cells)} | {held:.2f} |")
    rules: dict[str, Callable[[Look], bool]] = {
        "before": lambda look: look.before >= STOP_RECALL,
        "now": lambda look: look.said.is_enough(STOP_RECALL),
        "at a true recall of 95%": lambda look: look.recall >= STOP_RECALL,
    }
    lines.append(f"\n| stop: judged (range), true recall (lowest) | {' | '.join(rules)} |\n|---|---|---|---|")
    for name, played in rounds.items():
        cells = []
        for stops in rules.values():
            at = [next((look for look in one if stops(look)), one[-1]) for one in played]
            judged = [look.judged for look in at]
            truth = [look.recall for look in at]
            spread = f"{np.mean(judged):.0%} ({min(judged):.0%}–{max(judged):.0%})"
            cells.append(f"{spread}, {np.mean(truth):.3f} ({min(truth):.3f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def guards(rounds: dict[str, list[list[Look]]]) -> str:
    """Return the table of how far scores are from those of a whole round, in single rounds."""
    lines = [
        "Distance from the whole round's scores × 10⁴, mAP@R/R@1, in the same rounds. *Not worse*: share of single "
        "rounds in which the guarded scores (before: the audit's estimates) are not farther off than the counted.\n",
        "| testbed, judged | counted | audit's | guarded | bias of counted → guarded | not worse (before) |\n"
        "|---|---|---|---|---|---|",
    ]
    for name, played in rounds.items():
        for number, share in enumerate(SHARES):
            found = [[look.scores for look in one if look.scores is not None][number] for one in played]
            truth, *scores = np.array(found).transpose(1, 0, 2, 3, 4)  # (R, D, K, M)
            off = [values - truth for values in scores]
            far = [np.abs(one).mean(axis=-1) for one in off]
            better = [(one <= far[0] + 1e-12).mean(axis=(0, 1)) for one in far]
            bias = [_scaled(np.abs(one.mean(axis=0)).mean(axis=(0, 2))) for one in off]
            notes = ["/".join(f"{one[metric]:.2f}" for metric in WRITTEN) for one in better]
            cells = [*(_scaled(one.mean(axis=(0, 1))) for one in far), f"{bias[0]} → {bias[2]}"]
            lines.append(f"| {name}, {share:.0%} | {' | '.join(cells)} | {notes[2]} ({notes[1]}) |")
    return "\n".join(lines)


def _scaled(values: Floats) -> str:
    return "/".join(f"{10_000 * values[metric]:.0f}" for metric in WRITTEN)
