"""What cards and metadata say about a version: who annotated, for which pay, how well they agree, known biases."""

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

import numpy as np

from core.progress import silent
from core.text import counted
from dataset.exports.exported_tables import pair_batches
from dataset.judged.verdict_worth import round_sentences, why_no_percentage
from dataset.models import Version
from dataset.releases.provenance import mixed_tasks
from dataset.versions.file_rows import AUTOMATIC
from dataset.versions.rejections import sentence_of
from hits.packing.designs import parse_design
from hits.question import Level
from hits.task_types.levels import LEVELS


def simulated_votes(version: Version) -> str:
    """Say how many votes programs gave."""
    counts = version.manifest["counts"]
    votes = counts["votes"]
    simulated = counts["simulated_votes"]
    if not simulated:
        return "No vote is simulated."
    share = "All" if simulated == votes else f"{simulated:,} of"
    return f"{share} {votes:,} votes are simulated: a program answered, not a person. Use them for tests only."


def labels() -> list[str]:
    """Say what levels and labels mean, and what a pair's gain is."""
    return [
        "Levels: 1 = 100% YES, 2 = Partially YES, 3 = Mostly NO, 4 = 100% NO.",
        "Lenient (positive): 1 for a match by the version's policies, otherwise 0.",
        "Strict: 1 for a match of level 1, or one that was not judged but is a match by a merged source.",
        "Graded: the sum of both, 2, 1 or 0. A pair's gain in graded metrics is half of it: 1, 0.5 or 0. A match by a "
        "merged source has gain 1 if nobody judged it, and 0.5 if people judged it level 3 or 4.",
    ]


def workers(version: Version) -> Iterator[str]:
    """Say for each round by whom, where and when its pairs were judged."""
    for round in version.manifest["rounds"]:
        source = version.manifest["provenance"][round["name"]]
        where = source["channel"] + (f" ({source['environment']})" if source["environment"] else "")
        dates = f"{source['first_judgment']} to {source['last_judgment']}"
        yield (
            f"Round {round['name']}: {_people(source)} of the channel {where}, {dates}; "
            f"{source['answer_sets']['counted']:,} answer sets count, {source['answer_sets']['excluded']:,} were "
            f"excluded; {counted(source['votes'], 'vote')} that count, {source['simulated_votes']:,} of them "
            f"simulated; {source['pairs_judged']:,} of {source['pairs_in_pool']:,} proposed pairs judged."
        )


def _people(source: Mapping[str, Any]) -> str:
    """Say how many workers there were, and how many of them are programs; earlier manifests give votes only."""
    all_simulated = source["simulated_votes"] == source["votes"] > 0
    simulated = source.get("simulated_workers", source["workers"] if all_simulated else 0)
    if not simulated:
        return counted(source["workers"], "worker")
    if simulated == source["workers"]:
        return counted(simulated, "simulated worker (a program)", "simulated workers (programs)")
    return f"{counted(source['workers'], 'worker')}, {simulated:,} of them programs,"


def annotators(version: Version) -> Iterator[str]:
    """Say what each annotator behind the rounds is; versions of before 0.4.0 know only their names."""
    for name, annotator in version.manifest.get("annotators", {}).items():
        options = ", ".join(f"{option}={value}" for option, value in annotator["options"].items())
        weights = annotator["checkpoint_sha256"]
        parts = [
            f"kind {annotator['kind']}",
            f"options {options}" if options else "no options",
            f"weights with SHA-256 {weights}" if weights else "no weights",
            f"source {annotator['source'] or 'not stated'}",
            f"licence {annotator['licence'] or 'not stated'}",
        ]
        yield f"{name}: {'; '.join(parts)}."


def pay(version: Version) -> Iterator[str]:
    """Say for each round what a worker was paid."""
    for round in version.manifest["rounds"]:
        design = round["design"]
        pairs = parse_design(design).shown
        rehearsal = version.manifest["provenance"][round["name"]]["rehearsal"]
        unpaid = " It was a rehearsal: nobody was paid." if rehearsal else ""
        yield f"Round {round['name']}: ${round['reward']} for {pairs} pairs.{unpaid}"


def agreement(version: Version) -> str:
    """Say how well the votes on one pair agree."""
    method = version.manifest["policies"]["method"]
    if method != "majority":
        return f"The shares of levels come from the method {method}; the judgments hold the votes themselves."
    pairs, same, alpha = agreement_of(version)
    if not pairs:
        return "Every pair has at most one vote, so agreement cannot be measured."
    coefficient = f"is {alpha:.2f}" if not isnan(alpha) else "is undefined, as all these votes have one level"
    return (
        f"Of {pairs:,} pairs with two votes or more, two votes on one pair have the same level with probability "
        f"{same:.2f}; Krippendorff's alpha (interval) {coefficient}."
    )


def certainty(version: Version) -> Iterator[str]:
    """Say how many verdicts are wrong, on what that rests, and why pairs have no probability; nothing for a version
    without such figures."""
    figures = version.manifest.get("certainty")
    yield from round_sentences(figures)
    if (why := why_no_percentage(figures)) not in ("", *round_sentences(figures)):
        yield why


def agreement_of(version: Version) -> tuple[int, float, float]:
    """Return the pairs with two votes or more, the probability that two votes on one of them agree, and Krippendorff's
    alpha with squared differences of levels; NaN where it is undefined."""
    pairs = 0
    same = 0.0
    together = 0.0
    differences = 0.0
    totals = np.zeros(len(Level))
    squares = np.subtract.outer(np.arange(len(Level)), np.arange(len(Level))) ** 2
    for batch in pair_batches(version, silent):
        table = batch.select(["votes", *(f"share_{level}" for level in Level.values)]).to_pandas().dropna()
        table = table[table.votes >= 2]
        votes = table.votes.to_numpy(float)
        counts = np.rint(table.to_numpy(float)[:, 1:] * votes[:, None])
        pairs += len(table)
        same += (counts * (counts - 1)).sum()
        together += (votes * (votes - 1)).sum()
        differences += (np.einsum("ni,ij,nj->n", counts, squares, counts) / (votes - 1)).sum()
        totals += counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        everything = totals.sum()
        expected = totals @ squares @ totals / (everything - 1)
        return pairs, float(np.float64(same) / together), float(1 - differences / expected)


def biases(version: Version) -> Iterator[str]:
    """Say what the choice of pairs and workers favours."""
    for round in version.manifest["rounds"]:
        pool = round["pool"]
        proposers = ", ".join(pool["annotators"]) or "imported annotators"
        yield (
            f"In round {round['name']} only pairs that {proposers} ranked among the first {pool['top_k']} were "
            "judged. That favours models like these, and what none of them found is unknown."
        )
    against = version.manifest["counts"]["merged_against_verdict"]
    if merge := version.manifest["policies"]["merge"]:
        yield f"Positives of the match sources {merge} are merged; people disagree with {against:,} of them."
    yield "The workers' languages, cultures and demographics were not recorded."


def limits(version: Version) -> Iterator[str]:
    """Say what the version does not hold."""
    yield "Pairs that are not listed are unknown, not wrong. Judged pairs that do not match are listed too."
    for round, zone in version.manifest.get("rejections", {}).items():
        yield (
            f"Round {round}: {sentence_of(zone)} Tables mark such pairs as {AUTOMATIC}; qrels and MTEB leave them out."
        )
    if version.manifest["partial"]:
        yield "The version is partial: it was released before its rounds were complete."
    if mixed := mixed_tasks_of(version):
        yield mixed
    yield simulated_votes(version)


def mixed_tasks_of(version: Version) -> str:
    """Say that the rounds have different tasks; "" if they have one."""
    # Earlier programs did not name the task of a round of levels.
    mixed = mixed_tasks({round["name"]: round.get("task", LEVELS.name) for round in version.manifest["rounds"]})
    return mixed and f"The rounds have different tasks, and their votes count alike: {mixed}."


def facts(version: Version) -> dict[str, Any]:
    """Return the figures that a card begins with, by name."""
    counts = version.manifest["counts"]
    return {
        "query images": counts["image_queries"],
        "query captions": counts["caption_queries"],
        "positive pairs": counts["positives"],
        "judged pairs": counts["judged"],
        "judged pairs that do not match": counts["judged"] - counts["judged_positive"],
        "votes": counts["votes"],
        "simulated votes": counts["simulated_votes"],
    }
