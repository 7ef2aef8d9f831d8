"""Agreement: between workers, and of workers with controls, reviewers, annotators and match sources."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from django import forms

from core.errors import CounterpartError
from core.parameters import ConfidenceField, Option
from core.progress import Progress
from core.seeds import SeedField
from corpus.models import Match
from dataset.merging import MergeTerm, check_sources, parse_merge
from dataset.models import Review
from evaluation.agreement import (
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
from evaluation.analyses import Findings, plain, shown, text_table
from evaluation.answer_sets import MATCH, PAIR, Answered, AnswersParameters, read_answers
from evaluation.correlation import tau_b
from evaluation.judged_pairs import WEIGHTS
from hits.models import Control
from hits.question import Level
from hits.task_types import LEVELS, task_type_of
from hits.task_types.task_type import TaskType
from mitl.charts import Spec
from mitl.interval_charts import interval_chart
from mitl.models import Annotator

HELP = "How far workers agree with each other, with controls, reviewers, annotators and match sources."
NEAREST = 0.25  # expected match weights from here on are nearer to 0.5 than to 0
BINARY = {1: "match", 0: "no match"}


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are drawn, as the functions of ``evaluation.agreement`` take it."""

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


@dataclass(frozen=True, kw_only=True)
class AgreementParameters(AnswersParameters):
    others: Annotated[
        tuple[str, ...],
        "what to compare with: workers, controls, reviews, names of annotators, match sources as in "
        'truth or "cxc>=3" (default: workers, controls, reviews and the annotators of the rounds)',
        Option(name="with"),
    ] = ()
    confidence: Annotated[float, ConfidenceField(help_text="of the intervals")] = 0.95
    samples: Annotated[int, forms.IntegerField(min_value=1, help_text="bootstrap samples")] = 1000
    seed: Annotated[int, SeedField(help_text="seed of the bootstrap")] = 0


def analyse(parameters: AgreementParameters, *, progress: Progress) -> Findings:
    """Compare the answers that count. Raises CounterpartError as ``read_answers``, and for unknown names."""
    found = read_answers(parameters, progress=progress)
    names = parameters.others
    bootstrap = Bootstrap(parameters.confidence, parameters.samples, parameters.seed)
    rows = list(_between_workers(found, bootstrap)) if not names or "workers" in names else []
    for reference in _references(found, names):
        progress(f"comparing with {reference.name}", 0, None)
        rows += _with_reference(found, reference, bootstrap)
    if all(row["value"] != row["value"] for row in rows):
        raise CounterpartError(
            f"{found.name} shares no pair with {', '.join(names) or 'anything'}, or has one judgment a pair only. "
            "Compare with something else, or pack with --replication 2 or more."
        )
    figures = {"of": found.name, **vars(bootstrap), "agreement": plain(rows)}
    return Findings(
        figures, _text(found, rows, parameters.confidence), _chart(found, rows, parameters.confidence), rows
    )


def _between_workers(found: Answered, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    """Yield alpha on the answers and on match or not, and how often two workers say the same, in all and by answer."""
    units = found.votes.groupby(PAIR).ngroup().to_numpy()
    levels = found.votes["level"].to_numpy()
    counts = value_counts(units, levels - 1, (int(units.max()) + 1, len(Level)))
    task = _task_of(found)
    twice = counts.sum(1) > 1
    sizes = {"pairs": int(twice.sum()), "judgments": int(counts[twice].sum())}
    scales: list[tuple[str, np.ndarray, Sequence[int], Sequence[str]]] = [
        (task.scale, counts[:, [one - 1 for one in task.labels]], [*task.labels], [*task.labels.values()]),
        ("match or not", counts.reshape(len(counts), 2, 2).sum(2), [1, 0], list(BINARY.values())),
    ]
    for scale, table, values, labels in scales:
        fitting = SCALES if len(values) > 2 else SCALES[:1]
        for level in fitting:
            value = alpha_of_counts(table, values, level)
            interval = alpha_interval(table, values, level, **vars(bootstrap))
            reason = "all votes on pairs with two or more are equal" if sizes["pairs"] else "no pair has two votes"
            yield _row("workers", "judgments", scale, f"alpha, {level}", value, interval, sizes, reason)
        shares = zip(
            ["all", *labels], specific_agreement(table), specific_intervals(table, **vars(bootstrap)), strict=True
        )
        for label, value, interval in shares:
            measure = "same answer" if label == "all" else f"same answer, if one says {label}"
            yield _row("workers", "judgments", scale, measure, float(value), interval, sizes, "nobody says so")


def _task_of(found: Answered) -> TaskType:
    """Return the type of task in whose words answers are told: that of all rounds, or the four levels."""
    tasks = {one.task: task_type_of(one) for one in found.rounds}
    return tasks.popitem()[1] if len(tasks) == 1 else LEVELS


def _references(found: Answered, names: Sequence[str]) -> Iterator[Reference]:
    """Yield what is named; by default all that needs no threshold."""
    annotators = sorted(found.proposals["annotator"].unique())
    for name in names or ["controls", "reviews", *annotators]:
        if name == "controls":
            yield _controls(found)
        elif name == "reviews":
            yield _reviews(found)
        elif name in annotators:
            yield _annotator(found, name)
        elif name != "workers":
            yield _source(found, name, annotators)


def _controls(found: Answered) -> Reference:
    gold = found.answers.loc[found.answers["control"] != "", [*PAIR, "control"]].drop_duplicates(PAIR)
    labels = (gold.pop("control") == Control.Polarity.POSITIVE.value).astype(int)
    return Reference("controls", gold.assign(label=labels))


def _reviews(found: Answered) -> Reference:
    held = Review.objects.holding(found.collection)
    level = Review.Conclusion.LEVEL
    levels = [(*subject, review.level) for subject, review in held.items() if review.conclusion == level]
    return Reference("reviews", pd.DataFrame(levels, columns=[*PAIR, "label"]), binary=False)


def _annotator(found: Answered, name: str) -> Reference:
    """An annotator says that a pair matches if it proposed it; a judge (``vlm``) by its score of what it proposed."""
    scores = found.proposals[found.proposals["annotator"] == name]
    if Annotator.objects.get(name=name).kind == "vlm":
        judged_by = scores.groupby(PAIR, as_index=False)["score"].mean()
        labels = judged_by[PAIR].assign(label=(judged_by["score"] >= NEAREST).astype(int))
    else:
        pairs = pd.MultiIndex.from_frame(found.verdicts[PAIR])
        proposed = pairs.isin(pd.MultiIndex.from_frame(scores[PAIR].drop_duplicates()))
        labels = found.verdicts[PAIR].assign(label=proposed.astype(int))
    return Reference(name, labels, scores=scores)


def _source(found: Answered, text: str, annotators: Sequence[str]) -> Reference:
    """The grades of a source; without grades, what it lists is a match, what its condition or score leaves out none."""
    (term,) = parse_merge(text) or [MergeTerm("")]
    known = ", ".join(["workers", "controls", "reviews", *annotators])
    try:
        check_sources(found.collection, [term])
    except CounterpartError as error:
        raise CounterpartError(f"{error} Answers can also be compared with {known}.") from error
    rows: Any = Match.objects.filter(collection=found.collection, source=term.source)
    columns = ["image_id", "caption_id", "grade", "score"]
    listed = pd.DataFrame(list(rows.values_list(*columns)), columns=[*PAIR, "grade", "score"])
    if term.operator:
        kept = pd.MultiIndex.from_tuples(rows.filter(term.condition).values_list("image_id", "caption_id"), names=PAIR)
        matches = pd.MultiIndex.from_frame(listed[PAIR]).isin(kept).astype(int)
        return Reference(str(term), listed[PAIR].assign(label=matches))
    if listed["grade"].notna().all():
        if found.collection.drawn and term.source == "truth":
            listed = found.verdicts[PAIR].merge(listed, on=PAIR, how="left").fillna({"grade": int(Level.NO)})
        return Reference(str(term), listed[PAIR].assign(label=listed["grade"].astype(int)), binary=False)
    if not listed["score"].dropna().isin([0, 1]).all():
        raise CounterpartError(f'{term.source} has scores: name a threshold, as in "{term.source}>=3".')
    matches = np.where(listed["grade"].notna(), listed["grade"].isin(MATCH), listed["score"].fillna(1) == 1)
    return Reference(str(term), listed[PAIR].assign(label=matches.astype(int)))


def _with_reference(found: Answered, reference: Reference, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    """Yield the agreement of the majority's level and of single judgments with a reference."""
    if reference.name == "controls":
        answers = found.answers[found.answers["counted"] & (found.answers["control"] != "")]
        compared = {"judgments": answers}
    elif len(found.verdicts) == len(found.votes):
        compared = {"judgments": found.votes}
    else:
        compared = {"majority": found.verdicts, "judgments": found.votes}
    labels = reference.labels.astype(np.int64)
    for of, answers in compared.items():
        both = answers[[*PAIR, "level"]].merge(labels, on=PAIR)
        if len(both):
            yield from _compared(reference, of, both, _task_of(found), bootstrap)
    if reference.scores is not None:
        yield from _by_score(found, reference)


def _compared(
    reference: Reference, of: str, both: pd.DataFrame, task: TaskType, bootstrap: Bootstrap
) -> Iterator[dict[str, Any]]:
    units = both.groupby(PAIR).ngroup().to_numpy()
    level, label = both["level"].to_numpy(), both["label"].to_numpy()
    match = label == 1 if reference.binary else np.isin(label, MATCH)
    sizes = {"pairs": int(units.max()) + 1, "judgments": len(both)}
    drawn = {"units": units, **vars(bootstrap)}

    def share(scale: str, measure: str, right: np.ndarray, which: np.ndarray) -> dict[str, Any]:
        interval = share_interval(right[which], units[which], **vars(bootstrap))
        part = {"pairs": len(np.unique(units[which])), "judgments": int(which.sum())}
        return _row(reference.name, of, scale, measure, float(right[which].mean()), interval, part)

    said = np.isin(level, MATCH)
    value = cohen_kappa(said, match)
    interval = kappa_interval(said, match, **drawn)
    yield _row(reference.name, of, "match or not", "kappa", value, interval, sizes, _constant(said, match, reference))
    for name, which in (("", np.ones(len(both), bool)), (f", {BINARY[1]}", match), (f", {BINARY[0]}", ~match)):
        if which.any():
            yield share("match or not", f"same answer{name}", said == match, which)
    if reference.binary or len(task.labels) < len(Level):  # two answers are match or not
        return
    for weights in (None, "linear", "quadratic"):
        value = cohen_kappa(level, label, weights)
        interval = kappa_interval(level, label, weights, **drawn)
        name = f"kappa, {weights} weights" if weights else "kappa"
        yield _row(reference.name, of, task.scale, name, value, interval, sizes, _constant(level, label, reference))
    yield share(task.scale, "same answer", level == label, np.ones(len(both), bool))
    for one in np.unique(label):
        yield share(task.scale, f"same answer, {task.labels[one]}", level == label, label == one)


def _constant(said: np.ndarray, label: np.ndarray, reference: Reference) -> str:
    """Return who gives all pairs one label, where somebody does: then kappa is undefined."""
    one = reference.name if len(np.unique(label)) == 1 else "workers" if len(np.unique(said)) == 1 else ""
    return one and f"{one} give every pair the same answer, so chance agrees as often"


def _by_score(found: Answered, reference: Reference) -> Iterator[dict[str, Any]]:
    """Yield tau-b of an annotator's scores with the pairs' mean match weights, in each direction."""
    votes = found.votes.assign(weight=found.votes["level"].map(WEIGHTS))
    pairs = votes.groupby(PAIR, as_index=False).agg(weight=("weight", "mean"), judgments=("weight", "size"))
    scores: Any = reference.scores
    for direction, scored in scores.groupby("direction"):
        both = scored.merge(pairs, on=PAIR)
        sizes = {"pairs": len(both), "judgments": int(both["judgments"].sum())}
        value = tau_b(both["score"], both["weight"])
        measure = f"tau-b of its score, {direction}"
        reason = "the scores or the match weights are all equal"
        yield _row(reference.name, "judgments", "match weight", measure, value, (np.nan, np.nan), sizes, reason)


def _row(
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
        "reason": undefined if value != value else None,
    }


def _text(found: Answered, rows: Sequence[dict[str, Any]], confidence: float) -> str:
    parts = [found.note]
    for name in dict.fromkeys(row["with"] for row in rows):
        if name == "workers" and not rows[0]["pairs"]:
            parts.append("Between workers: no pair has two judgments that count. Pack with --replication 2 or more.")
            continue
        lines = [
            [
                row["of"],
                row["scale"],
                row["measure"],
                "–" if row["reason"] else shown(row["value"], ".3f"),
                "" if row["low"] != row["low"] else f"{row['low']:.3f} to {row['high']:.3f}",
                f"{row['pairs']:,}",
                f"{row['judgments']:,}",
            ]
            for row in rows
            if row["with"] == name
        ]
        heads = ["of", "scale", "measure", "value", f"{confidence:.0%} interval", "pairs", "judgments"]
        title = "Between workers" if name == "workers" else f"With {name}"
        reasons = [
            f"–: {measure} of {of}: {reason}."
            for of, measure, reason in dict.fromkeys(
                (row["of"], row["measure"], row["reason"]) for row in rows if row["with"] == name and row["reason"]
            )
        ]
        parts.append("\n".join([title, text_table(heads, lines, left=3), *reasons]))
    return "\n\n".join(parts)


def _chart(found: Answered, rows: Sequence[dict[str, Any]], confidence: float) -> Spec:
    panels: dict[str, list[dict[str, Any]]] = {}
    coefficients = [
        row for row in rows if row["measure"].startswith(("alpha", "kappa")) and row["value"] == row["value"]
    ]
    for row in coefficients or [row for row in rows if row["low"] == row["low"]]:
        name = f"{row['with']}: {row['measure']}{' of the majority' if row['of'] == 'majority' else ''}"
        panels.setdefault(row["scale"], []).append({**plain(row), "name": name})
    return interval_chart(
        f"Agreement in {found.name[0].lower()}{found.name[1:]}",
        f"1: perfect; 0 of a coefficient: as by chance. Lines are {confidence:.0%} bootstrap intervals over pairs.",
        panels,
        x="Krippendorff's alpha, Cohen's kappa" if coefficients else "share",
    )
