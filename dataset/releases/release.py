"""Release a version: gather its contents, write its files and add it to the corpus as a match source."""

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.progress import Progress, silent, tracked
from core.text import counted
from core.work.authority import check_authority
from corpus.batches import refuse_undone, undone_in
from corpus.matches import seal_source
from corpus.models import Collection, Match, Sample
from corpus.samples import read_ids
from counterpart_statistics.judged.control_votes import label_errors
from dataset.judged.released_rows import judgment_rows, pseudonym_key, sets_apart
from dataset.judged.released_tables import SET, control_answers, read_answers, uncounted_sets, votes_among, with_sets
from dataset.models import Version, released
from dataset.releases.manifest import describe
from dataset.releases.provenance import refuse_mixed_tasks, refuse_unfinished
from dataset.releases.release_leases import held, take
from dataset.releases.release_parameters import ReleaseParameters
from dataset.versions.contents import Contents, Policies, gather_contents, graded_pairs, queries_of
from dataset.versions.file_rows import GalleryRow, UncountedSet, pair_order
from dataset.versions.merging import MergeTerm, check_sources, refuse_foreign
from dataset.versions.rejections import Rejections, rejections_of
from dataset.versions.rendering import gallery_rows, render_contents, render_judgments, render_rejections, write_rows
from dataset.versions.review_rows import REVIEW_COLUMNS, Reviewed, Row, review_rows
from dataset.versions.version_files import (
    GALLERY,
    REVIEWS,
    UNCOUNTED,
    describe_files,
    manifest_bytes,
    seal_folder,
    written_files,
)
from hits.models import Round
from hits.task_types import require_pairs
from integrations.notifications import notify

_BATCH = 5_000


def release(parameters: ReleaseParameters, *, released_by: User | None = None, progress: Progress = silent) -> Version:
    """Release the rounds' positive verdicts, united with the merged match sources, as a version.

    The judgments that count, of all rounds together, are aggregated again; reviews then correct single pairs. The
    positives are one set of pairs whose image or caption is a query. Captions of ``exclude_captions`` are dropped as
    queries and as items, as are captions and images that reviewers excluded. Files go to the storage's
    ``versions/<name>/``; ``corpus.Match`` rows with the version as source hold every positive (score 1; grade = its
    level, null if only a source has it) and every judged negative (score 0, grade 3-4). The merged sources are sealed.

    Raises CounterpartError and changes nothing if the name is taken by a version or by a folder of the storage, a
    collection, sample, round, source or caption is unknown, neither rounds nor sources are given, the rounds have
    different tasks and not ``mixed_tasks``, a round is unfinished and not ``partial`` or has no judgments that count,
    or no pair would be positive.
    """
    collection, sample, rounds = check_release(parameters)
    policies = parameters.policies()
    excluded = parameters.exclude_captions
    captions = read_ids(excluded, "captions") if excluded else ()
    version = _unreleased(parameters.version, collection, sample, released_by)
    undone = undone_in(collection)
    with _alone(version), tempfile.TemporaryDirectory() as temporary:
        sources = [term.source for term in policies.merge if term.source != Match.ORIGINAL]
        merged = {source: collection.matches.filter(source=source).count() for source in sources}
        reviews = review_rows(collection, exclude_captions=captions)
        rejections = rejections_of(rounds)
        contents, files, errors = _render(version, rounds, reviews, rejections, policies, Path(temporary), progress)
        version.manifest = describe(
            version,
            contents,
            rounds=rounds,
            policies=policies,
            reviews=reviews,
            rejections=rejections,
            attribution=parameters,
            partial=parameters.partial,
            label_errors=errors,
            files=describe_files(files),
        )
        version.manifest_sha256 = hashlib.sha256(manifest_bytes(version.manifest)).hexdigest()
        matches = _matches(version, contents, policies.positive_levels)
        with written_files(version, files, progress=progress):
            _enter(version, rounds, matches, merged, undone, progress)
    seal_folder(version)
    return version


def check_release(parameters: ReleaseParameters) -> tuple[Collection, Sample, list[Round]]:
    """Return the collection, the sample and the rounds that the parameters name. Raises as ``release`` for these."""
    collection = Collection.objects.named(parameters.collection)
    sample = Sample.objects.named(parameters.queries)
    rounds = sorted(map(Round.objects.named, parameters.rounds), key=lambda one: one.name)
    _check_contents(collection, sample, rounds, parameters.policies().merge)
    for round in rounds:
        require_pairs(round)
    if not parameters.mixed_tasks:
        refuse_mixed_tasks(rounds)
    if not parameters.partial:
        refuse_unfinished(rounds)
    return collection, sample, rounds


def _render(
    version: Version,
    rounds: Sequence[Round],
    reviews: list[Row],
    rejections: Sequence[Rejections],
    policies: Policies,
    folder: Path,
    progress: Progress,
) -> tuple[Contents, list[Path], dict[str, dict[str, int]]]:
    """Write the version's files into the folder; return its contents too, and the estimated label errors.

    Votes are read back from the file of judgments, as ``verify`` does.
    """
    files = [
        write_rows(folder / GALLERY, GalleryRow._fields, gallery_rows(version.collection)),
        write_rows(folder / REVIEWS, REVIEW_COLUMNS, reviews),
    ]
    files += [render_rejections(rejections, folder)] if rejections else []
    votes = None
    controls = None
    errors = {}
    if rounds:
        files.append(render_judgments(judgment_rows(rounds, key=version.pseudonym_key), folder, progress))
        answers = with_sets(read_answers(files[-1], *SET))
        uncounted = uncounted_sets(answers, sets_apart(rounds, key=version.pseudonym_key))
        files.append(write_rows(folder / UNCOUNTED, UncountedSet._fields, uncounted))
        votes = votes_among(answers)
        controls = control_answers(answers, uncounted)
        errors = label_errors(answers)
        del answers
        if votes.empty:
            raise CounterpartError(f"{some_of(rounds)} has no judgments that count. Accept some work first.")
    contents = gather_contents(
        version.collection,
        queries=queries_of(version.sample),
        votes=votes,
        reviewed=Reviewed.of(reviews),
        rounds=rounds,
        policies=policies,
        rejections=rejections,
        controls=controls,
        seeds={round.name: round.seed for round in rounds},
    )
    if not contents.positives:
        raise CounterpartError(
            f"Version {version.name} would have no positives: its sources have none on {version.sample}."
        )
    return contents, [*render_contents(version.name, contents, folder), *files], errors


def _check_contents(
    collection: Collection, sample: Sample, rounds: Sequence[Round], merge: Sequence[MergeTerm]
) -> None:
    if not rounds and not merge:
        raise CounterpartError("A release needs rounds or match sources: pass --rounds, --merge or both.")
    if sample.collection_id != collection.pk:
        raise CounterpartError(
            f"Sample {sample} belongs to {sample.collection}, not to {collection}. Choose another sample."
        )
    refuse_foreign(collection, rounds)
    doubled = sorted({round.name for round in rounds if rounds.count(round) > 1})
    if doubled:
        raise CounterpartError(
            f"{counted(len(doubled), 'round is', 'rounds are')} named more than once: {some_of(doubled)}. Name each "
            "once."
        )
    for round in rounds:
        _check_queries(round, sample)
    check_sources(collection, merge)


def _check_queries(round: Round, sample: Sample) -> None:
    """Refuse a round that has no query in the sample: the version would lose all its judgments."""
    asked = round.pool.sample
    shared = asked.images.filter(pk__in=sample.images.values("pk")).exists()
    if not shared and not asked.captions.filter(pk__in=sample.captions.values("pk")).exists():
        raise CounterpartError(
            f"No query of round {round} is in {sample}: it asked about {asked}. Pass --queries {asked}, or leave the "
            "round out."
        )


def _unreleased(name: str, collection: Collection, sample: Sample, by: User | None) -> Version:
    """Return the version that is to be released, not stored yet. Raises CounterpartError where its name is taken."""
    if Version.objects.filter(name=name).exists():
        raise _taken(name)
    if Match.objects.filter(source=name).exists():
        raise CounterpartError(f"A match source {name} exists already. Choose another name for the version.")
    return Version(
        name=name,
        collection=collection,
        sample=sample,
        folder=f"versions/{name}",
        pseudonym_key=pseudonym_key(name),
        released_by=by,
    )


def _taken(name: str) -> CounterpartError:
    return CounterpartError(f"Version {name} exists already and never changes. Choose another name.")


@contextmanager
def _alone(version: Version) -> Iterator[None]:
    """Hold the lease of the version's folder, so that no other process writes it."""
    if not take(version.folder):
        raise CounterpartError(f"A version {version} is being released already. Wait for it, or choose another name.")
    with held(version.folder):
        yield


def _enter(
    version: Version,
    rounds: Sequence[Round],
    matches: list[Match],
    merged: Mapping[str, int],
    undone: int,
    progress: Progress,
) -> None:
    """Store the version with its matches, seal its sources, and announce the release: all, or after an error nothing.
    Raises CounterpartError if its name was taken, a merged source has grown or an import was undone meanwhile."""
    collection = version.collection
    with transaction.atomic():
        check_authority()
        try:
            with transaction.atomic():
                version.save(force_insert=True)
        except IntegrityError as error:
            raise _taken(version.name) from error
        refuse_undone(collection, undone)
        version.rounds.set(rounds)
        for source in (version.name, *merged):
            seal_source(collection, source)
        for source, size in merged.items():
            if Match.objects.filter(collection=collection, source=source).count() != size:
                raise CounterpartError(f"The match source {source} has grown meanwhile. Release {version} again.")
        for start in tracked(range(0, len(matches), _BATCH), "writing matches", progress, every=1):
            Match.objects.bulk_create(matches[start : start + _BATCH])
        counts = {key: count for key, count in version.manifest["counts"].items() if isinstance(count, int)}
        record("released", version, actor=str(version.released_by or "command"), **counts)
        notify("version.released", f"/versions/{version.name}", id=version.name, counts=counts)
        released.send(Version, version=version)


def _matches(version: Version, contents: Contents, levels: Sequence[int]) -> list[Match]:
    images = dict(version.collection.images.values_list("key", "pk"))
    captions = dict(version.collection.captions.values_list("key", "pk"))
    graded = graded_pairs(contents, levels)
    return [
        Match(
            collection_id=version.collection_id,
            image_id=images[pair[0]],
            caption_id=captions[pair[1]],
            source=version.name,
            score=graded[pair][0],
            grade=graded[pair][1],
        )
        for pair in sorted(graded, key=pair_order)
    ]
