"""The manifest of a version: what it was made from, its protocol, its files and its figures."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from django.db.models import Q

from core.site.version import software_version
from corpus.models import Match, Sample
from dataset.models import Version
from dataset.releases.credits import Credits
from dataset.releases.provenance import provenance_of
from dataset.turns import lineage_of
from dataset.versions.contents import JUDGED, Contents, Policies
from dataset.versions.rejections import Rejections
from dataset.versions.review_rows import Row
from dataset.versions.version_files import FORM, GALLERY
from hits.judge_designs import queries_of
from hits.models import Round
from hits.rounds.top_ups import design_of
from mitl.annotators import kind_of, kinds
from mitl.hosting.option_fields import CompanionFile, ServerText
from mitl.models import Annotator, Pool, Retrieval


def describe(
    version: Version,
    contents: Contents,
    *,
    rounds: Sequence[Round],
    policies: Policies,
    reviews: Iterable[Row],
    rejections: Sequence[Rejections],
    attribution: Credits,
    partial: bool,
    label_errors: dict[str, dict[str, int]],
    files: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return the manifest. It does not contain its own time, so the same release made again has the same bytes."""
    excluded = [(image, caption) for image, caption, conclusion, *_ in reviews if conclusion == "excluded"]
    return {
        "form": FORM,
        "version": version.name,
        "software": f"counterpart {software_version()}",
        "licence": attribution.licence,
        "credits": attribution.in_manifest(),
        "collection": version.collection.name,
        "sample": describe_sample(version.sample),
        "protocol": _protocol(version, contents, files),
        "rounds": [_describe_round(round) for round in rounds],
        "annotators": _describe_annotators(rounds),
        "provenance": {round.name: provenance_of(round) for round in rounds},
        "partial": partial,
        "policies": policies.as_json(),
        **rejection_figures(rejections, contents, policies),
        **certainty_figures(contents),
        "excluded_captions": [caption for _, caption in excluded if caption],
        "excluded_images": [image for image, _ in excluded if image],
        "counts": count(contents),
        "sources": source_rows(version.name, contents),
        "label_errors": label_errors,
        "files": files,
    }


def rejection_figures(rejections: Sequence[Rejections], contents: Contents, policies: Policies) -> dict[str, Any]:
    """Return the rejections of each round with their bound, and the number of all; nothing without any."""
    if not rejections:
        return {}
    by_round = {one.round: one.figures(contents.verdicts, policies.positive_levels) for one in rejections}
    return {"rejections": by_round, "automatic_rejections": len(contents.automatic)}


def certainty_figures(contents: Contents) -> dict[str, Any]:
    """Return what the verdicts are worth on which votes decided; nothing where that was not asked for."""
    return {} if contents.certainty is None else {"certainty": dict(contents.certainty)}


def describe_sample(sample: Sample) -> dict[str, Any]:
    sides = {
        side: sorted(queries.values_list("key", flat=True))
        for side, queries in (("images", sample.images), ("captions", sample.captions))
    }
    digest = hashlib.sha256(repr(sides).encode()).hexdigest()
    counts = {side: len(keys) for side, keys in sides.items()}
    return {"name": sample.name, "seed": sample.seed, **counts, "sha256_of_keys": digest}


def _protocol(version: Version, contents: Contents, files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return what a retrieval model must search to be measured on the version."""
    gallery = version.collection.images.gallery()
    splits = gallery.order_by().values_list("split", flat=True).distinct()
    images = Counter(dict.fromkeys(gallery.uncaptioned().order_by().values_list("pk", flat=True), 0))
    images.update(version.collection.captions.gallery().order_by().values_list("image_id", flat=True))
    return {
        "splits": sorted(split for split in splits if split),
        "gallery_images": gallery.count(),
        "gallery_captions": images.total(),
        "gallery_sha256": files[GALLERY]["sha256"],
        "captions_per_image": {str(each): count for each, count in sorted(Counter(images.values()).items())},
        "image_queries": len(contents.queries.images),
        "caption_queries": len(contents.queries.captions),
    }


def _listed_gallery(pool: Pool) -> dict[str, Any]:
    """Return the gallery that the annotators searched if it is larger than the collection's rows, else nothing."""
    beyond = pool.retrievals.select_related("gallery").exclude(gallery=None).first()
    if beyond is None or beyond.gallery is None:
        return {}
    found = beyond.gallery
    return {
        "gallery": {
            "name": found.name,
            "images": found.n_images,
            "captions": found.n_captions,
            "digest": found.digest,
        }
    }


def _describe_round(round: Round) -> dict[str, Any]:
    retrievals = round.pool.retrievals.select_related("annotator").order_by("annotator__name")
    design = design_of(round, finished=True)
    judge = design.as_json()
    is_greedy = design.greedy or round.top_ups.filter(opened__isnull=False).exists()
    guard = design.guard_note(queries_of(round.pool)) if is_greedy else ""
    guides = round.consent_words.exclude(levels={}, examples=[]).values("at", "levels", "examples")
    topped_up_for = [one for one in round.top_ups.order_by("number").values_list("rankings", flat=True) if one]
    return {
        "name": round.name,
        "task": round.task,
        "seed": round.seed,
        "plan_hash": round.plan_hash,
        "top_ups": list(round.top_ups.order_by("number").values_list("plan_hash", flat=True)),
        **({"topped_up_for": topped_up_for} if topped_up_for else {}),
        "design": round.design,
        "wording": round.wording,
        **({"guides": [one | {"at": one["at"].isoformat()} for one in guides]} if guides else {}),
        "replication": round.replication,
        "reward": str(round.reward),
        **({"judge": judge} if judge else {}),
        **({"guard": guard} if guard else {}),
        "pool": {
            "name": round.pool.name,
            "seed": round.pool.seed,
            "top_k": round.pool.top_k,
            "control_depth": round.pool.control_depth,
            **lineage_of(round.pool),
            **_listed_gallery(round.pool),
            "annotators": {retrieval.annotator.name: retrieval.sha256 for retrieval in retrievals},
        },
    }


def _describe_annotators(rounds: Sequence[Round]) -> dict[str, dict[str, Any]]:
    """Return what the annotators behind the rounds are, by name; those whose lists others scored again too."""
    retrievals = Retrieval.objects.filter(pools__rounds__in=rounds)
    used = Q(retrievals__in=retrievals) | Q(pk__in=retrievals.values("cascade"))
    return {
        annotator.name: {
            "kind": annotator.kind,
            "options": _options(annotator),
            "checkpoint_sha256": annotator.checksum,
            **_taught_by(annotator),
            "source": annotator.source,
            "licence": annotator.licence,
        }
        for annotator in Annotator.objects.filter(used).distinct().order_by("name")
    }


def _taught_by(annotator: Annotator) -> dict[str, Any]:
    """Return the match source by which an annotator learned the gallery; nothing of one that learned elsewhere."""
    return {"taught_by": annotator.trained_on["matches"]} if annotator.trained_on.get("gallery") else {}


def _options(annotator: Annotator) -> dict[str, Any]:
    """Return an annotator's options that may be published: of an uploaded file its name, without the server's files and
    addresses. They are unknown if the package of the kind is not installed any more."""
    declared = kind_of(annotator.kind).options if annotator.kind in kinds() else {}
    public = {name: annotator.options[name] for name in sorted(annotator.options.keys() & declared.keys())}
    return {
        name: PurePath(value).name if isinstance(declared[name], CompanionFile) else value
        for name, value in public.items()
        if not isinstance(declared[name], ServerText)
    }


def count(contents: Contents) -> dict[str, Any]:
    """Return the figures of a release's contents."""
    i2t, t2i = contents.queries.count(contents.positives)
    levels = Counter(verdict.level for verdict in contents.verdicts.values())
    return {
        "image_queries": len(contents.queries.images),
        "caption_queries": len(contents.queries.captions),
        "positives": len(contents.positives),
        "i2t": i2t,
        "t2i": t2i,
        "judged": len(contents.verdicts),
        "judged_positive": len(contents.by_source.get(JUDGED, set()) & contents.verdicts.keys()),
        "judged_by_level": {str(level): levels[level] for level in (1, 2, 3, 4)},
        "reviewed": sum(verdict.review is not None for verdict in contents.verdicts.values()),
        "votes": sum(verdict.votes for verdict in contents.verdicts.values()),
        "simulated_votes": sum(verdict.simulated for verdict in contents.verdicts.values()),
        "merged_against_verdict": len(contents.conflicts),
    }


def source_rows(version_name: str, contents: Contents) -> list[dict[str, Any]]:
    """Return the table of positives per source (ECCV Caption, table 3).

    ``images`` counts the caption-to-image pairs, ``captions`` the image-to-caption pairs, on the queries;
    ``times_images`` and ``times_captions`` divide them by the original ones, None if there are none. The first row is
    the original association, the last the version. Sources are counted before any caption is excluded.
    """
    captions, images = contents.queries.count(contents.original)
    sources = {Match.ORIGINAL: contents.original, **contents.by_source, version_name: set(contents.positives)}
    rows = []
    for source, pairs in sources.items():
        i2t, t2i = contents.queries.count(pairs)
        times = {
            "times_images": round(t2i / images, 4) if images else None,
            "times_captions": round(i2t / captions, 4) if captions else None,
        }
        rows.append({"source": source, "images": t2i, "captions": i2t, **times})
    return rows
