"""How far workers agree with each other, and with a reference: rows of measures with intervals. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from counterpart_statistics.aggregation import LEVELS
from counterpart_statistics.agreement import (
    SCALES,
    Interval,
    alpha_interval,
    alpha_of_counts,
    cohen_kappa,
    kappa_interval,
    share_interval,
    specific_agreement,
    specific_intervals,
    value_counts,
)
from counterpart_statistics.correlation import tau_b
from counterpart_statistics.judged import MATCH, PAIR
from counterpart_statistics.selection.pooled_queries import gains_of
from counterpart_statistics.threshold_agreement import detection

BINARY = {1: "match", 0: "no match"}
UNKNOWN = (float("nan"), float("nan"))  # an interval that is not estimated


@dataclass(frozen=True)
class Scale:
    """The answers of a question: their ``labels`` by level."""

    name: str
    labels: Mapping[int, str]


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are drawn, as the functions of ``counterpart_statistics.agreement`` take it."""

    confidence: float
    samples: int
    seed: int


@dataclass(frozen=True)
class Reference:
    """What workers are compared with: a row per pair, ``image``, ``caption`` and ``label``: a level, or 1 (match) and
    0 where it is ``binary``. ``scores`` adds an annotator's ``direction`` and ``score`` of pairs."""

    name: str
    labels: pd.DataFrame
    binary: bool = True
    scores: pd.DataFrame | None = None


NEAREST = 0.25  # expected match weights from here on are nearer to 0.5 than to 0


def reference_of_annotator(
    name: str, scores: pd.DataFrame, verdicts: pd.DataFrame, *, judges: bool = False
) -> Reference:
    """Return what an annotator says of pairs: a match if it proposed it (``scores``) among the judged ones; one that
    ``judges`` (``vlm``), by its score of what it proposed."""
    if judges:
        judged_by = scores.groupby(PAIR, as_index=False)["score"].mean()
        labels = judged_by[PAIR].assign(label=(judged_by["score"] >= NEAREST).astype(int))
    else:
        proposed = pd.MultiIndex.from_frame(scores[PAIR].drop_duplicates())
        label = pd.MultiIndex.from_frame(verdicts[PAIR]).isin(proposed).astype(int)
        labels = verdicts[PAIR].assign(label=label)
    return Reference(name, labels, scores=scores)


def between_workers(votes: pd.DataFrame, scale: Scale, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    """Yield alpha on the answers and on match or not, and how often two workers say the same, in all and by answer."""
    units = votes.groupby(PAIR).ngroup().to_numpy()
    levels = votes["level"].to_numpy()
    counts = value_counts(units, levels - 1, (int(units.max()) + 1, len(LEVELS)))
    twice = counts.sum(1) > 1
    sizes = {"pairs": int(twice.sum()), "judgments": int(counts[twice].sum())}
    scales: list[tuple[str, np.ndarray, Sequence[int], Sequence[str]]] = [
        (scale.name, counts[:, [level - 1 for level in scale.labels]], [*scale.labels], [*scale.labels.values()]),
        ("match or not", counts.reshape(len(counts), 2, 2).sum(2), [1, 0], list(BINARY.values())),
    ]
    for name, table, values, labels in scales:
        fitting = SCALES if len(values) > 2 else SCALES[:1]
        for level in fitting:
            value = alpha_of_counts(table, values, level)
            interval = alpha_interval(table, values, level, **vars(bootstrap))
            reason = "all votes on pairs with two or more are equal" if sizes["pairs"] else "no pair has two votes"
            yield agreement_row("workers", "judgments", name, f"alpha, {level}", value, interval, sizes, reason)
        shares = zip(
            ["all", *labels], specific_agreement(table), specific_intervals(table, **vars(bootstrap)), strict=True
        )
        for label, value, interval in shares:
            measure = "same answer" if label == "all" else f"same answer, if one says {label}"
            yield agreement_row(
                "workers", "judgments", name, measure, float(value), interval, sizes, "no such judgment"
            )


def with_reference(
    answers: pd.DataFrame, verdicts: pd.DataFrame, reference: Reference, scale: Scale, bootstrap: Bootstrap
) -> Iterator[dict[str, Any]]:
    """Yield the agreement of the majority's level, the ``verdicts``, and of single judgments with a reference."""
    counted = answers[answers["counted"]]
    votes = counted[counted["control"] == ""]
    compared = {"judgments": votes}
    if reference.name == "controls":
        compared = {"judgments": counted[counted["control"] != ""]}
    elif len(verdicts) < len(votes):
        compared = {"majority": verdicts, "judgments": votes}
    labels = reference.labels.astype(np.int64)
    for of, judged in compared.items():
        both = judged[[*PAIR, "level"]].merge(labels, on=PAIR)
        if len(both):
            yield from _compared(reference, of, both, scale, bootstrap)
    if reference.scores is not None:
        yield from _by_score(votes, reference)


def _compared(
    reference: Reference, of: str, both: pd.DataFrame, scale: Scale, bootstrap: Bootstrap
) -> Iterator[dict[str, Any]]:
    units = both.groupby(PAIR).ngroup().to_numpy()
    level = both["level"].to_numpy()
    label = both["label"].to_numpy()
    match = label == 1 if reference.binary else np.isin(label, MATCH)
    sizes = {"pairs": int(units.max()) + 1, "judgments": len(both)}
    drawn = {"units": units, **vars(bootstrap)}

    def share(name: str, measure: str, right: np.ndarray, which: np.ndarray) -> dict[str, Any]:
        interval = share_interval(right[which], units[which], **vars(bootstrap))
        part = {"pairs": len(np.unique(units[which])), "judgments": int(which.sum())}
        return agreement_row(reference.name, of, name, measure, float(right[which].mean()), interval, part)

    said = np.isin(level, MATCH)
    value = cohen_kappa(said, match)
    interval = kappa_interval(said, match, **drawn)
    yield agreement_row(
        reference.name, of, "match or not", "kappa", value, interval, sizes, _constant(said, match, reference)
    )
    for name, which in (("", np.ones(len(both), bool)), (f", {BINARY[1]}", match), (f", {BINARY[0]}", ~match)):
        if which.any():
            yield share("match or not", f"same answer{name}", said == match, which)
    found = detection(said, match, 0.5, [1])
    for measure, values in (("precision of the answers", found.precision), ("F1 of the answers", found.f1)):
        yield agreement_row(
            reference.name, of, "match or not", measure, float(values[0]), UNKNOWN, sizes, "no answer is a match"
        )
    if reference.binary or len(scale.labels) < len(LEVELS):  # two answers are match or not
        return
    for weights in (None, "linear", "quadratic"):
        value = cohen_kappa(level, label, weights)
        interval = kappa_interval(level, label, weights, **drawn)
        measure = f"kappa, {weights} weights" if weights else "kappa"
        yield agreement_row(
            reference.name, of, scale.name, measure, value, interval, sizes, _constant(level, label, reference)
        )
    yield share(scale.name, "same answer", level == label, np.ones(len(both), bool))
    for one in np.unique(label):
        yield share(scale.name, f"same answer, {scale.labels[one]}", level == label, label == one)


def _constant(said: np.ndarray, label: np.ndarray, reference: Reference) -> str:
    """Return why kappa is undefined, if one side gives all pairs the same label; empty otherwise."""
    for name, labels in ((reference.name, label), ("workers", said)):
        if len(np.unique(labels)) == 1:
            return f"{name} give every pair the same answer, so chance agrees as often"
    return ""


def _by_score(votes: pd.DataFrame, reference: Reference) -> Iterator[dict[str, Any]]:
    """Yield tau-b of an annotator's scores with the pairs' mean match weights, in each direction."""
    votes = votes.assign(weight=gains_of(votes["level"]))
    pairs = votes.groupby(PAIR, as_index=False).agg(weight=("weight", "mean"), judgments=("weight", "size"))
    scores: Any = reference.scores
    for direction, scored in scores.groupby("direction"):
        both = scored.merge(pairs, on=PAIR)
        sizes = {"pairs": len(both), "judgments": int(both["judgments"].sum())}
        value = tau_b(both["score"], both["weight"])
        measure = f"tau-b of its score, {direction}"
        reason = "the scores or the match weights are all equal"
        yield agreement_row(reference.name, "judgments", "match weight", measure, value, UNKNOWN, sizes, reason)


def agreement_row(
    reference: str,
    of: str,
    scale: str,
    measure: str,
    value: float,
    interval: Interval,
    sizes: Mapping[str, int],
    undefined: str = "",
) -> dict[str, Any]:
    """Return a row of the table; ``undefined`` is the reason to give where the value is NaN."""
    return {
        "with": reference,
        "of": of,
        "scale": scale,
        "measure": measure,
        "value": value,
        "low": interval[0],
        "high": interval[1],
        **sizes,
        "reason": undefined if np.isnan(value) else None,
    }
