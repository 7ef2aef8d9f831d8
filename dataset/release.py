"""Release a version: gather its pairs, write its files, enter it in the corpus as a match source, for good."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.naming import check_name
from core.progress import Progress, silent, tracked
from corpus.matches import seal_source
from corpus.models import Collection, Match, Sample
from dataset.harvest import Harvest, gather
from dataset.manifest import describe
from dataset.merging import MergeTerm, check_sources, parse_merge
from dataset.models import Version
from dataset.version_files import removed_on_error, write_manifest, write_version_files
from hits.models import Round
from hits.question import Level

_BATCH = 5_000


def release_version(
    name: str,
    *,
    collection: Collection,
    sample: Sample,
    rounds: Sequence[Round] = (),
    merge: str | None = None,
    positive_levels: Sequence[int] = (Level.YES, Level.PARTIALLY_YES),
    exclude_captions: Sequence[str] = (),
    released_by: User | None = None,
    progress: Progress = silent,
) -> Version:
    """Freeze a dataset under ``name``: the rounds' positive verdicts united with the merged match sources.

    Its positives are one set of pairs, those that answer a query of ``sample``. ``merge`` is read by
    ``dataset.merging.parse_merge``; None means ``original`` beside rounds. ``exclude_captions`` are keys of
    captions found unusable: they are neither queries nor items. Files go to the storage's
    ``versions/<name>/``; ``corpus.Match`` rows with the version as source hold every positive (score 1; grade = its
    level, null where only a source has it) and every judged negative (score 0, grade 3-4).

    Raises CounterpartError, having changed nothing, for a taken name, an unknown source or caption, neither
    rounds nor sources, rounds not aggregated as they now stand, or where no pair would be positive.
    """
    terms = _checked_terms(collection, sample, rounds, merge)
    levels = _checked_levels(positive_levels)
    excluded = _captions_of(collection, exclude_captions)
    with transaction.atomic():
        version = _claim(name, collection, sample, released_by)
        harvest = gather(
            collection, sample=sample, rounds=rounds, terms=terms, positive_levels=levels, excluded=excluded
        )
        if not harvest.positives:
            raise CounterpartError(f"Version {name} would hold no pair: its sources have none on {sample}.")
        version.rounds.set(rounds)
        with removed_on_error(version):
            files = write_version_files(version, harvest, progress=progress)
            version.manifest = describe(
                version, harvest, terms=terms, positive_levels=levels, excluded=exclude_captions, files=files
            )
            write_manifest(version)
            version.save(update_fields=["manifest"])
            _enter_matches(version, harvest, levels, progress)
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
        raise CounterpartError(f"Sample {sample} belongs to {sample.collection}, not to {collection}; name its own.")
    foreign = [round.name for round in rounds if round.pool.collection_id != collection.pk]
    if foreign:
        raise CounterpartError(f"{len(foreign)} rounds are not over {collection}: {some_of(foreign)}; leave them out.")
    check_sources(collection, terms)
    return terms


def _checked_levels(levels: Sequence[int]) -> list[int]:
    wrong = [level for level in levels if level not in Level.values]
    if wrong or not levels:
        raise CounterpartError(f"Positive levels are some of 1, 2, 3, 4, not {some_of(list(levels)) or 'none'}.")
    return sorted(set(levels))


def _captions_of(collection: Collection, keys: Sequence[str]) -> frozenset[int]:
    if not keys:
        return frozenset()
    known = dict(collection.captions.values_list("key", "pk"))
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise CounterpartError(
            f"{len(unknown)} captions to exclude are not in {collection}: {some_of(unknown)}. Mend the list."
        )
    return frozenset(known[key] for key in keys)


def _claim(name: str, collection: Collection, sample: Sample, by: User | None) -> Version:
    check_name(name)
    if Match.objects.filter(source=name).exists() and not Version.objects.filter(name=name).exists():
        raise CounterpartError(f"{name} is a match source already; choose another name for the version.")
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
        raise CounterpartError(f"Version {name} was released before and never changes; choose another name.") from error


def _enter_matches(version: Version, harvest: Harvest, levels: Sequence[int], progress: Progress) -> None:
    judged_negative = {pair for pair, said in harvest.opinions.items() if said.level not in levels}
    rows = []
    for pair in sorted(harvest.positives | judged_negative):
        positive, said = pair in harvest.positives, harvest.opinions.get(pair)
        agreed = said is not None and positive == (said.level in levels)
        rows.append(
            Match(
                collection_id=version.collection_id,
                image_id=pair[0],
                caption_id=pair[1],
                source=version.name,
                score=float(positive),
                grade=said.level if said and agreed else None,
            )
        )
    for start in tracked(range(0, len(rows), _BATCH), "matches", progress, every=1):
        Match.objects.bulk_create(rows[start : start + _BATCH])
