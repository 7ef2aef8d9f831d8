"""Verify a version: rebuild everything from the released judgments, and compare with its files and the database."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage

from core.errors import CounterpartError
from core.progress import Progress, silent, tracked
from core.text import counted
from corpus.models import Match
from counterpart_statistics.judged.control_votes import label_errors
from dataset.judged.released_rows import differing, judgment_rows, side_by_side
from dataset.judged.released_tables import (
    NOT_COUNTED_AGAIN,
    SET,
    read_answers,
    released_controls,
    votes_among,
    with_sets,
)
from dataset.models import Version
from dataset.releases.manifest import certainty_figures, count, describe_sample, rejection_figures, source_rows
from dataset.releases.packing_replay import check_packing
from dataset.turns import check_lineage
from dataset.versions.contents import Contents, Policies, gather_contents, graded_pairs, queries_of
from dataset.versions.file_rows import GalleryRow, ReleasedJudgment
from dataset.versions.rejections import Rejections, read_rejections
from dataset.versions.rendering import gallery_rows, render_contents
from dataset.versions.review_rows import Reviewed, read_reviews
from dataset.versions.version_files import (
    FORM,
    JUDGMENTS,
    REJECTIONS,
    REVIEWS,
    checked_file,
    damaged_files,
    load_gallery,
    load_judgments,
    load_pairs,
    manifest_in_storage,
    sha256_of,
    stored_sha256,
)
from hits.pair_plans import Newest

SHOWN = 3  # problems of a kind that are named
Problems = Iterable[str]
# What may change after a release: a decision on the work, or the retirement of a control.
DECIDED = ("counted", "control_retired")


@dataclass
class Check:
    """The outcome of one check. ``problems`` name the file or row; ``notes`` list changes since the release."""

    name: str
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.problems


def verify_version(version: Version, *, progress: Progress = silent) -> list[Check]:
    """Check a version's files, then that its packing, judgments, verdicts, merge and counts follow from one another.

    Reads everything, changes nothing. Verdict rows are not used: they are rebuilt from the released judgments.
    """
    if version.manifest.get("form") != FORM:
        return [
            Check("files", _changed_files(version), ["Released by an earlier program: only its files are checked."])
        ]
    steps: dict[str, Callable[[Check], None]] = {
        "files": lambda check: check.problems.extend(_changed_files(version)),
        "collection": lambda check: _check_collection(version, check, progress),
        "packing": lambda check: _check_packing(version, check, progress),
        "judgments": lambda check: _check_judgments(version, check, progress),
        "contents": lambda check: _check_contents(version, check),
    }
    checks: list[Check] = []
    for name, step in steps.items():
        progress(name, len(checks), len(steps))
        check = Check(name)
        try:
            step(check)
        except CounterpartError as error:  # a file that this check needs is missing or was changed
            check.problems.append(str(error))
        checks.append(check)
    return checks


def _changed_files(version: Version) -> list[str]:
    problems = list(damaged_files(version).values())
    try:
        manifest_in_storage(version)
    except CounterpartError as error:
        problems.insert(0, str(error))
    return problems


def _check_collection(version: Version, check: Check, progress: Progress) -> None:
    """Compare the gallery of the release, its pictures and the sample of queries with what is stored now."""
    released = {(row.kind, row.key): row for row in load_gallery(version)}
    now = {(row.kind, row.key): row for row in gallery_rows(version.collection)}
    check.problems.extend(_shown(_gallery_problems(released, now)))
    added = Counter(kind for kind, _key in now.keys() - released.keys())
    added["picture"] = sum(_is_pictured(row, now.get(name)) for name, row in released.items())
    for kind in ("image", "caption", "picture"):
        if added[kind]:
            were = counted(added[kind], f"{kind} was", f"{kind}s were")
            check.notes.append(f"{were} added to {version.collection} since the release.")
    pictures = version.collection.images.gallery().exclude(file="").values_list("key", "file", "sha256")
    changed = (
        f"The picture {file} of image {key} is missing or was changed."
        for key, file, sha256 in tracked(pictures, "pictures", progress, total=len(pictures))
        if ("image", key) in released and (not default_storage.exists(file) or stored_sha256(file) != sha256)
    )
    check.problems.extend(_shown(changed))
    sample = version.manifest["sample"]
    if describe_sample(version.sample) != sample:
        check.problems.append(f"The sample {sample['name']} was changed.")


def _gallery_problems(
    released: Mapping[tuple[str, str], GalleryRow], now: Mapping[tuple[str, str], GalleryRow]
) -> Problems:
    for (kind, key), row in released.items():
        if (kind, key) not in now:
            yield f"The {kind} {key} is not in the collection any more."
        elif now[kind, key] != row and not _is_pictured(row, now[kind, key]):
            yield f"The {kind} {key} was changed."


def _is_pictured(row: GalleryRow, now: GalleryRow | None) -> bool:
    """Whether the picture of an image was imported since the release."""
    return now is not None and not row.sha256 and row == now._replace(sha256="") != now


def _check_packing(version: Version, check: Check, progress: Progress) -> None:
    described = {one["name"]: one for one in version.manifest["rounds"]}
    newest = _newest_released(version)
    for round in version.rounds.select_related("pool__collection", "pool__sample"):
        replay = check_packing(round, described[round.name], newest=newest, progress=progress)
        check.problems.extend([*replay.problems, *check_lineage(round.pool, described[round.name]["pool"])])
        check.notes.extend(
            f"cannot be checked: whether {name} follows from its pool and seed. An earlier program packed it and did "
            "not note what the collection held then; packed again, it has another plan."
            for name in replay.unchecked
        )


def _newest_released(version: Version) -> Newest:
    """Return the newest image and the newest caption of the released gallery."""
    released = {(row.kind, row.key) for row in load_gallery(version)}
    sides: dict[str, Any] = {"image": version.collection.images, "caption": version.collection.captions}
    return {
        f"{kind}s": max((pk for pk, key in rows.values_list("pk", "key") if (kind, key) in released), default=0)
        for kind, rows in sides.items()
    }


def _check_judgments(version: Version, check: Check, progress: Progress) -> None:
    """Compare the released judgments with the stored ones, which may only have been added to and decided on since."""
    if JUDGMENTS not in version.manifest["files"]:
        return
    stored: Any = judgment_rows(list(version.rounds.all()), key=version.pseudonym_key)
    released = tracked(load_judgments(version), "judgments", progress)
    added = 0
    decided = 0
    problems = []
    for row, now in side_by_side(released, stored):
        if row is None:
            added += 1
            continue
        changed = differing(row, now)
        decided += bool(changed) and set(changed) <= set(DECIDED)
        if wrong := [name for name in changed if name not in DECIDED]:
            problems.append(f"{_name(row)} is not the stored one: {', '.join(wrong)}.")
    check.problems.extend(_shown(problems))
    if added:
        check.notes.append(f"{counted(added, 'judgment was', 'judgments were')} added since the release.")
    if decided:
        check.notes.append(
            f"{counted(decided, 'judgment was', 'judgments were')} counted, excluded or freed of a control since the "
            "release."
        )


def _name(row: ReleasedJudgment) -> str:
    return (
        f"The judgment on image {row.image} and caption {row.caption} (round {row.round}, HIT {row.hit}, answer set "
        f"{row.assignment}, place {row.place})"
    )


def _check_contents(version: Version, check: Check) -> None:
    """Aggregate and merge again, and compare files, counts and match rows."""
    manifest = version.manifest
    contents, policies = rebuild_contents(version)
    if contents.certainty is None and "certainty" in manifest:
        check.notes.append(f"{NOT_COUNTED_AGAIN}, without a tally of the answer sets that do not count.")
        contents = _with_certainty_of(version, contents)
    rejections = _released_rejections(version)
    with tempfile.TemporaryDirectory() as temporary:
        for rebuilt in render_contents(version.name, contents, Path(temporary)):
            if sha256_of(rebuilt) != manifest["files"][rebuilt.name]["sha256"]:
                check.problems.append(_difference(version, rebuilt))
    figures: dict[str, Any] = {"counts": count(contents), "sources": source_rows(version.name, contents)}
    figures |= rejection_figures(rejections, contents, policies) | certainty_figures(contents)
    if JUDGMENTS in manifest["files"]:
        figures["label_errors"] = label_errors(read_answers(checked_file(version, JUDGMENTS)))
    for name, rebuilt_figures in figures.items():
        if rebuilt_figures != manifest[name]:
            words = name.replace("_", " ")
            check.problems.append(f"The {words} in the manifest are not those of the rebuilt contents.")
    rows: Any = Match.objects.filter(collection=version.collection, source=version.name)
    stored = {
        (image, caption): (score, grade)
        for image, caption, score, grade in rows.values_list("image__key", "caption__key", "score", "grade")
    }
    rebuilt_rows = graded_pairs(contents, policies.positive_levels)
    differing = [pair for pair in stored.keys() | rebuilt_rows.keys() if stored.get(pair) != rebuilt_rows.get(pair)]
    check.problems.extend(
        _shown(f"The match of image {i} and caption {c} in the corpus was changed." for i, c in sorted(differing))
    )


def rebuild_contents(version: Version) -> tuple[Contents, Policies]:
    """Return the contents that follow from the version's judgments, reviews and policies, and from the sources."""
    policies = Policies.from_json(version.manifest["policies"])
    judged = JUDGMENTS in version.manifest["files"]
    answers = with_sets(read_answers(checked_file(version, JUDGMENTS), *SET)) if judged else None
    contents = gather_contents(
        version.collection,
        queries=queries_of(version.sample),
        votes=None if answers is None else votes_among(answers),
        reviewed=Reviewed.of(read_reviews(checked_file(version, REVIEWS))),
        rounds=list(version.rounds.all()),
        policies=policies,
        captions={row.key for row in load_gallery(version) if row.kind == "caption"},
        rejections=_released_rejections(version),
        controls=None if answers is None else released_controls(version, answers),
        seeds={round["name"]: round["seed"] for round in version.manifest["rounds"]},
    )
    return contents, policies


def _with_certainty_of(version: Version, contents: Contents) -> Contents:
    """Return contents with the version's own figures and probabilities, so that all else can be compared."""
    known = {(pair.image, pair.caption): float(pair.probability) for pair in load_pairs(version) if pair.probability}
    verdicts = {pair: replace(one, probability=known.get(pair)) for pair, one in contents.verdicts.items()}
    return replace(contents, verdicts=verdicts, certainty=version.manifest["certainty"])


def _released_rejections(version: Version) -> list[Rejections]:
    if REJECTIONS not in version.manifest["files"]:
        return []
    return read_rejections(checked_file(version, REJECTIONS))


def _difference(version: Version, rebuilt: Path) -> str:
    """Return the first line in which a released file differs from its rebuilt copy, in a sentence."""
    released = checked_file(version, rebuilt.name).read_text().splitlines()
    for number, (line, again) in enumerate(zip_longest(released, rebuilt.read_text().splitlines(), fillvalue=""), 1):
        if line != again:
            return f"{rebuilt.name}, line {number}: released {_cut(line)}, rebuilt {_cut(again)}."
    return f"{rebuilt.name} has other line ends than the rebuilt file."


def _cut(line: str) -> str:
    return repr(line if len(line) <= 120 else line[:117] + "...")


def _shown(problems: Problems) -> list[str]:
    """Return the first problems in full and the number of the others."""
    problems = list(problems)
    rest = len(problems) - SHOWN
    return problems[:SHOWN] + ([f"… and {rest:,} more."] if rest > 0 else [])
