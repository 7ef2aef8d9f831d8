"""How far workers agree with each other, with controls, reviewers, annotators and match sources."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Annotated, Any

import numpy as np
import pandas as pd
from django import forms

from core.errors import CounterpartError
from core.parameters import ConfidenceField, Option
from core.progress import Progress
from core.seeds import SeedField
from corpus.models import Match
from counterpart_annotators.words import OVERLAPS
from counterpart_statistics.judged import MATCH, PAIR
from counterpart_statistics.judged.agreement_rows import (
    Bootstrap,
    Reference,
    Scale,
    between_workers,
    reference_of_annotator,
    with_reference,
)
from counterpart_statistics.judged.overlap_rows import first_results, with_overlap
from dataset.models import Review
from dataset.versions.merging import MergeTerm, check_sources, parse_merge
from evaluation.analyses import Findings, cells, interval_text, plain, shown, text_table
from evaluation.answered import Answered, AnswersParameters, read_answers
from hits.models import Control
from hits.question import Level
from hits.task_types import task_type_of
from hits.task_types.levels import LEVELS
from mitl.charts.bars import interval_chart
from mitl.charts.drawing import Chart
from mitl.models import Annotator
from mitl.pooling import caption_scores


class AgreementParameters(AnswersParameters):
    others: Annotated[
        tuple[str, ...],
        "what to compare with: workers, controls, reviews, names of annotators, match sources as in "
        'truth or "cxc>=3"; bleu- or rouge- with the captions of the image: all, first, rest (without the first) or '
        "second (default: workers, controls, reviews and the annotators of the rounds)",
        Option(name="with"),
    ] = ()
    firsts_against: Annotated[
        str,
        "annotator with whose first captions of images the others' are compared, by people's scores, BLEU and ROUGE",
        Option(metavar="ANNOTATOR"),
    ] = ""
    confidence: Annotated[float, ConfidenceField(help_text="of the intervals")] = 0.95
    samples: Annotated[int, forms.IntegerField(min_value=1, help_text="bootstrap samples")] = 1000
    seed: Annotated[int, SeedField(help_text="seed of the bootstrap")] = 0


def analyse(parameters: AgreementParameters, *, progress: Progress) -> Findings:
    """Compare the answers that count. Raises CounterpartError as ``read_answers``, and for unknown names."""
    found = read_answers(parameters, progress=progress)
    names = parameters.others
    bootstrap = Bootstrap(parameters.confidence, parameters.samples, parameters.seed)
    scale = _scale_of(found)
    rows = list(between_workers(found.votes, scale, bootstrap)) if not names or "workers" in names else []
    for reference in _references(found, names):
        progress(f"comparing with {reference.name}", 0, None)
        rows += with_reference(found.answers, found.verdicts, reference, scale, bootstrap)
    for name in (name for name in names if name in OVERLAPS):
        rows += with_overlap(found.votes, name, _overlap(found, name, progress), bootstrap)
    if parameters.firsts_against:
        rows += _firsts(found, parameters.firsts_against, bootstrap, progress)
    if all(isnan(row["value"]) for row in rows):
        raise CounterpartError(
            f"{found.name} shares no pair with {', '.join(names) or 'anything'}, or has one judgment a pair only. "
            "Compare with something else, or pack with --replication 2 or more."
        )
    figures = {"of": found.name, **vars(bootstrap), "agreement": plain(rows)}
    return Findings(
        figures, _text(found, rows, parameters.confidence), _chart(found, rows, parameters.confidence), rows
    )


def _scale_of(found: Answered) -> Scale:
    """Return the answers in the words of the type of task of all rounds, or the four levels."""
    tasks = {one.task: task_type_of(one) for one in found.rounds}
    task = tasks.popitem()[1] if len(tasks) == 1 else LEVELS
    return Scale(task.scale, task.labels)


def _references(found: Answered, names: Sequence[str]) -> Iterator[Reference]:
    """Yield what is named; by default all that needs no threshold."""
    annotators = sorted(found.proposals["annotator"].unique())
    for name in names or ["controls", "reviews", *annotators]:
        if name == "controls":
            yield _controls(found)
        elif name == "reviews":
            yield _reviews(found)
        elif name in annotators:
            scores = found.proposals[found.proposals["annotator"] == name]
            judges = Annotator.objects.get(name=name).kind == "vlm"
            yield reference_of_annotator(name, scores, found.verdicts, judges=judges)
        elif name != "workers" and name not in OVERLAPS:
            yield _source(found, name, annotators)


def _overlap(found: Answered, name: str, progress: Progress) -> pd.DataFrame:
    score, part = OVERLAPS[name]
    pairs = found.verdicts[PAIR]
    return pairs.assign(overlap=caption_scores(pairs.to_numpy(), score, part, progress=progress))


def _firsts(found: Answered, against: str, bootstrap: Bootstrap, progress: Progress) -> list[dict[str, Any]]:
    overlaps = {name: _overlap(found, name, progress) for name in ("bleu-all", "rouge-all")}
    if rows := list(first_results(found.votes, found.proposals, against, overlaps, bootstrap)):
        return rows
    known = ", ".join(sorted(found.proposals["annotator"].unique()))
    raise CounterpartError(f"No first caption of {against} was judged. Annotators of {found.name}: {known}.")


def _controls(found: Answered) -> Reference:
    gold = found.answers.loc[found.answers["control"] != "", [*PAIR, "control"]].drop_duplicates(PAIR)
    labels = (gold.pop("control") == Control.Polarity.POSITIVE.value).astype(int)
    return Reference("controls", gold.assign(label=labels))


def _reviews(found: Answered) -> Reference:
    held = Review.objects.holding(found.collection)
    level = Review.Conclusion.LEVEL
    levels = [(*subject, review.level) for subject, review in held.items() if review.conclusion == level]
    return Reference("reviews", pd.DataFrame(levels, columns=[*PAIR, "label"]), binary=False)


def _source(found: Answered, text: str, annotators: Sequence[str]) -> Reference:
    """The grades of a source; without grades, what it lists is a match, what its condition or score leaves out none."""
    (term,) = parse_merge(text) or [MergeTerm("")]
    known = ", ".join(["workers", "controls", "reviews", *annotators, *OVERLAPS])
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


def _text(found: Answered, rows: Sequence[dict[str, Any]], confidence: float) -> str:
    parts = [found.note]
    for name in dict.fromkeys(row["with"] for row in rows):
        if name == "workers" and not rows[0]["pairs"]:
            parts.append("Between workers: no pair has two judgments that count. Pack with --replication 2 or more.")
            continue
        lines = [
            [
                *cells(row, of="", scale="", measure=""),
                "–" if row["reason"] else shown(row["value"], ".3f"),
                "" if isnan(row["low"]) else interval_text(row),
                *cells(row, pairs=",", judgments=","),
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


def _chart(found: Answered, rows: Sequence[dict[str, Any]], confidence: float) -> Chart:
    panels: dict[str, list[dict[str, Any]]] = {}
    coefficients = [row for row in rows if row["measure"].startswith(("alpha", "kappa")) and not isnan(row["value"])]
    for row in coefficients or [row for row in rows if not isnan(row["low"])]:
        name = f"{row['with']}: {row['measure']}{' of the majority' if row['of'] == 'majority' else ''}"
        panels.setdefault(row["scale"], []).append({**plain(row), "name": name})
    return interval_chart(
        f"Agreement in {found.name[0].lower()}{found.name[1:]}",
        f"1: perfect; 0 of a coefficient: as by chance. Lines are {confidence:.0%} bootstrap intervals over pairs. "
        "Reviewers see mostly doubtful pairs, so agreement with them is low.",
        panels,
        x="Krippendorff's alpha, Cohen's kappa" if coefficients else "share",
    )
