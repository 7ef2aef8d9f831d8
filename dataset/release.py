"""Release a version: gather its contents, write its files and add it to the corpus as a match source."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.naming import check_name
from core.progress import Progress, silent, tracked
from corpus.matches import seal_source
from corpus.models import Collection, Match, Sample
from dataset.aggregation import Method
from dataset.contents import Contents, gather_contents
from dataset.manifest import describe
from dataset.merging import MergeTerm, check_sources, parse_merge
from dataset.models import Version
from dataset.version_files import describe_files, render_files, written_files
from hits.models import Round
from hits.question import Level

_BATCH = 5_000


def release_version(
    name: str,
    *,
    collection: Collection,
    sample: Sample,
    rounds: Sequence[Round] = (),
    method: Method = "majority",
    merge: str | None = None,
    positive_levels: Sequence[int] = (Level.YES, Level.PARTIALLY_YES),
    exclude_captions: Sequence[str] = (),
    released_by: User | None = None,
    progress: Progress = silent,
) -> Version:
    """Release the rounds' positive verdicts by ``method``, united with the merged match sources, as version ``name``.

    The positives are one set of pairs whose image or caption is a query of ``sample``. ``merge`` is parsed by
    ``dataset.merging.parse_merge``; None means ``original`` if there are rounds. ``exclude_captions`` are keys of
    unusable captions, which are dropped as queries and as items. Files go to the storage's ``versions/<name>/``;
    ``corpus.Match`` rows with the version as source hold every positive (score 1; grade = its level, null if only a
    source has it) and every judged negative (score 0, grade 3-4).

    Raises CounterpartError and changes nothing if the name is taken by a version or by a folder of the storage, a
    source or caption is unknown, neither rounds nor sources are given, verdicts are missing or out of date, or no pair
    would be positive.
    """
    terms = _checked_terms(collection, sample, rounds, merge)
    levels = _checked_levels(positive_levels)
    excluded = _captions_of(collection, exclude_captions)
    with transaction.atomic():
        version = _claim(name, collection, sample, released_by)
        contents = gather_contents(
            collection,
            sample=sample,
            rounds=rounds,
            method=method,
            terms=terms,
            positive_levels=levels,
            excluded=excluded,
        )
        if not contents.positives:
            raise CounterpartError(f"Version {name} would have no positives: its sources have none on {sample}.")
        version.rounds.set(rounds)
        files = render_files(version, contents)
        version.manifest = describe(
            version,
            contents,
            terms=terms,
            positive_levels=levels,
            excluded=exclude_captions,
            files=describe_files(files),
        )
        with written_files(version, files, progress=progress):
            version.save(update_fields=["manifest"])
            _enter_matches(version, contents, levels, progress)
            seal_source(collection, name)
            record("released", version, actor=str(released_by or "command"), **version.manifest["counts"])
    return version


def _checked_terms(
    collection: Collection, sample: Sample, rounds: Sequence[Round], merge: str | None
) -> list[MergeTerm]:
    terms = parse_merge((Match.ORIGINAL if rounds else "") if merge is None else merge)
    if not rounds and not terms:
        raise CounterpartError("A release needs rounds or match sources: pass --rounds, --merge or both.")
    if sample.collection_id != collection.pk:
        raise CounterpartError(
            f"Sample {sample} belongs to {sample.collection}, not to {collection}. Choose another sample."
        )
    foreign = [round.name for round in rounds if round.pool.collection_id != collection.pk]
    if foreign:
        raise CounterpartError(f"{len(foreign)} rounds are not on {collection}: {some_of(foreign)}. Leave them out.")
    check_sources(collection, terms)
    return terms


def _checked_levels(levels: Sequence[int]) -> list[int]:
    wrong = [level for level in levels if level not in Level.values]
    if wrong or not levels:
        raise CounterpartError(f"Invalid positive levels {some_of(list(levels)) or '(none)'}: use some of 1, 2, 3, 4.")
    return sorted(set(levels))


def _captions_of(collection: Collection, keys: Sequence[str]) -> frozenset[int]:
    if not keys:
        return frozenset()
    known = dict(collection.captions.values_list("key", "pk"))
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise CounterpartError(
            f"{len(unknown)} captions to exclude are not in {collection}: {some_of(unknown)}. Correct the list."
        )
    return frozenset(known[key] for key in keys)


def _claim(name: str, collection: Collection, sample: Sample, by: User | None) -> Version:
    check_name(name)
    if Match.objects.filter(source=name).exists() and not Version.objects.filter(name=name).exists():
        raise CounterpartError(f"A match source {name} exists already. Choose another name for the version.")
    try:
        with transaction.atomic():
            return Version.objects.create(
                name=name,
                collection=collection,
                sample=sample,
                manifest={},
                folder=f"versions/{name}",
                released_by=by,
            )
    except IntegrityError as error:
        raise CounterpartError(f"Version {name} exists already and never changes. Choose another name.") from error


def _enter_matches(version: Version, contents: Contents, levels: Sequence[int], progress: Progress) -> None:
    judged_negative = {pair for pair, verdict in contents.verdicts.items() if verdict.level not in levels}
    rows = []
    for pair in sorted(contents.positives | judged_negative):
        positive, verdict = pair in contents.positives, contents.verdicts.get(pair)
        agreed = verdict is not None and positive == (verdict.level in levels)
        rows.append(
            Match(
                collection_id=version.collection_id,
                image_id=pair[0],
                caption_id=pair[1],
                source=version.name,
                score=float(positive),
                grade=verdict.level if verdict and agreed else None,
            )
        )
    for start in tracked(range(0, len(rows), _BATCH), "matches", progress, every=1):
        Match.objects.bulk_create(rows[start : start + _BATCH])
