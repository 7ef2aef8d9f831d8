"""The contents of a version, made again from its files."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from core.errors import CounterpartError
from dataset.judged.released_tables import (
    SET,
    control_answers,
    read_answers,
    read_uncounted,
    uncounted_sets,
    votes_among,
    with_sets,
)
from dataset.models import Version
from dataset.versions.contents import Contents, Policies, gather_contents, proposals_of, queries_of
from dataset.versions.rejections import Rejections, read_rejections
from dataset.versions.rendering import render_uncounted
from dataset.versions.review_rows import Reviewed, read_reviews
from dataset.versions.version_files import (
    JUDGMENTS,
    REJECTIONS,
    REVIEWS,
    UNCOUNTED,
    checked_file,
    load_gallery,
    load_pairs,
)

NOT_COUNTED_AGAIN = "Its certainty cannot be counted again"


def rebuild_contents(version: Version) -> tuple[Contents, Policies]:
    """Return the contents that follow from the version's judgments, reviews and policies, and from the sources. Its
    certainty is the released one where it cannot be counted again."""
    policies = Policies.from_json(version.manifest["policies"])
    votes = None
    controls = None
    if JUDGMENTS in version.manifest["files"]:
        answers = with_sets(read_answers(checked_file(version, JUDGMENTS), *SET))
        votes = votes_among(answers)
        controls = _released_controls(version, answers)
    contents = gather_contents(
        version.collection,
        queries=queries_of(version.sample),
        votes=votes,
        reviewed=Reviewed.of(read_reviews(checked_file(version, REVIEWS))),
        proposals=proposals_of(list(version.rounds.all())) if policies.method == "consensus" else None,
        policies=policies,
        captions={row.key for row in load_gallery(version) if row.kind == "caption"},
        rejections=released_rejections(version),
        controls=controls,
        seeds={round["name"]: round["seed"] for round in version.manifest["rounds"]},
    )
    return _as_released(version, contents) if is_without_tally(version) else contents, policies


def is_without_tally(version: Version) -> bool:
    """Whether the version has figures of certainty without the tally that they are counted by again."""
    return "certainty" in version.manifest and UNCOUNTED not in version.manifest["files"]


def _released_controls(version: Version, answers: pd.DataFrame) -> pd.DataFrame | None:
    """Return the answers to controls that the certainty of the version rests on; None without the tally of the answer
    sets that do not count, which a release of an earlier program does not have."""
    if UNCOUNTED not in version.manifest["files"] or "certainty" not in version.manifest:
        return None
    try:
        return control_answers(answers, read_uncounted(checked_file(version, UNCOUNTED)))
    except CounterpartError as error:
        raise CounterpartError(f"{NOT_COUNTED_AGAIN}. {error}") from error


def tally_again(version: Version, folder: Path) -> list[Path]:
    """Write the tally of the version again: its sets, with their controls by the released judgments."""
    if UNCOUNTED not in version.manifest["files"]:
        return []
    answers = read_answers(checked_file(version, JUDGMENTS), *SET)
    listed = {row[: len(SET)] for row in read_uncounted(checked_file(version, UNCOUNTED))}
    return [render_uncounted((row for row in uncounted_sets(answers) if row[: len(SET)] in listed), folder)]


def _as_released(version: Version, contents: Contents) -> Contents:
    """Return contents with the version's own figures and probabilities, so that all else can be compared."""
    known = {(pair.image, pair.caption): pair.probability for pair in load_pairs(version)}
    verdicts = {
        pair: replace(verdict, probability=float(known[pair]) if known.get(pair) else None)
        for pair, verdict in contents.verdicts.items()
    }
    return replace(contents, verdicts=verdicts, certainty=version.manifest["certainty"])


def released_rejections(version: Version) -> list[Rejections]:
    if REJECTIONS not in version.manifest["files"]:
        return []
    return read_rejections(checked_file(version, REJECTIONS))
