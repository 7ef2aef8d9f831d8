"""The manifest of a version: what it was made from, its files and its figures."""

import hashlib
from collections.abc import Sequence
from typing import Any

from core.version import software_version
from corpus.models import Match, Sample
from dataset.contents import JUDGED, Contents
from dataset.merging import MergeTerm
from dataset.models import Version
from hits.models import Round


def describe(
    version: Version,
    contents: Contents,
    *,
    terms: Sequence[MergeTerm],
    positive_levels: Sequence[int],
    excluded: Sequence[str],
    files: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return the manifest. It contains no time, so the same release made again has the same bytes."""
    rounds = list(version.rounds.order_by("name"))
    return {
        "version": version.name,
        "software": f"counterpart {software_version()}",
        "collection": version.collection.name,
        "sample": _describe_sample(version.sample),
        "rounds": [_describe_round(round) for round in rounds],
        "policies": {
            "merge": ",".join(map(str, terms)),
            "positive_levels": list(positive_levels),
            "method": contents.method,
            "ties": contents.ties,
            "merged_against_verdict": "kept",
        },
        "excluded_captions": list(excluded),
        "counts": _count(contents),
        "sources": _source_rows(version.name, contents),
        "files": files,
    }


def _describe_sample(sample: Sample) -> dict[str, Any]:
    sides = {
        side: sorted(queries.values_list("key", flat=True))
        for side, queries in (("images", sample.images), ("captions", sample.captions))
    }
    digest = hashlib.sha256(repr(sides).encode()).hexdigest()
    counts = {side: len(keys) for side, keys in sides.items()}
    return {"name": sample.name, "seed": sample.seed, **counts, "sha256_of_keys": digest}


def _describe_round(round: Round) -> dict[str, Any]:
    retrievals = round.pool.retrievals.select_related("annotator").order_by("annotator__name")
    return {
        "name": round.name,
        "seed": round.seed,
        "plan_hash": round.plan_hash,
        "design": round.design,
        "wording": round.wording,
        "replication": round.replication,
        "pool": {
            "name": round.pool.name,
            "seed": round.pool.seed,
            "top_k": round.pool.top_k,
            "control_depth": round.pool.control_depth,
            "annotators": {retrieval.annotator.name: retrieval.sha256 for retrieval in retrievals},
        },
    }


def _count(contents: Contents) -> dict[str, int]:
    i2t, t2i = contents.queries.count(contents.positives)
    judged_positive = len(contents.by_source.get(JUDGED, set()) & contents.positives)
    return {
        "image_queries": len(contents.queries.images),
        "caption_queries": len(contents.queries.captions),
        "positives": len(contents.positives),
        "i2t": i2t,
        "t2i": t2i,
        "judged": len(contents.verdicts),
        "judged_positive": judged_positive,
        "merged_against_verdict": len(contents.positives & contents.verdicts.keys()) - judged_positive,
    }


def _source_rows(version_name: str, contents: Contents) -> list[dict[str, Any]]:
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
