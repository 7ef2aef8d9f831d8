"""What a version says of itself: everything it was made from, and how much of what it holds."""

import hashlib
import tomllib
from collections.abc import Sequence
from functools import cache
from typing import Any

from django.conf import settings

from corpus.models import Match, Sample
from dataset.harvest import JUDGED, Harvest
from dataset.merging import MergeTerm
from dataset.models import Version
from hits.models import Round


def describe(
    version: Version,
    harvest: Harvest,
    *,
    terms: Sequence[MergeTerm],
    positive_levels: Sequence[int],
    excluded: Sequence[str],
    files: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """Return the manifest. It has no time in it, so that the same release made again has the same bytes."""
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
            "method": "majority" if rounds else None,
            "ties": harvest.ties,
            "merged_against_verdict": "kept",
        },
        "excluded_captions": list(excluded),
        "counts": _count(harvest),
        "sources": _source_rows(version.name, harvest),
        "files": files,
    }


@cache
def software_version() -> str:
    return str(tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"])


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
        "replication": round.replication,
        "pool": {
            "name": round.pool.name,
            "seed": round.pool.seed,
            "top_k": round.pool.top_k,
            "control_depth": round.pool.control_depth,
            "annotators": {retrieval.annotator.name: retrieval.sha256 for retrieval in retrievals},
        },
    }


def _count(harvest: Harvest) -> dict[str, int]:
    i2t, t2i = harvest.queries.count(harvest.positives)
    judged_positive = len(harvest.by_source.get(JUDGED, set()) & harvest.positives)
    return {
        "image_queries": len(harvest.queries.images),
        "caption_queries": len(harvest.queries.captions),
        "positives": len(harvest.positives),
        "i2t": i2t,
        "t2i": t2i,
        "judged": len(harvest.opinions),
        "judged_positive": judged_positive,
        "merged_against_verdict": len(harvest.positives & harvest.opinions.keys()) - judged_positive,
    }


def _source_rows(version_name: str, harvest: Harvest) -> list[dict[str, Any]]:
    """Positives per source on the queries, and how many times the original ones that is (ECCV Caption, table 3)."""
    captions, images = harvest.queries.count(harvest.original)
    sources = {Match.ORIGINAL: harvest.original, **harvest.by_source, version_name: set(harvest.positives)}
    rows = []
    for source, pairs in sources.items():
        i2t, t2i = harvest.queries.count(pairs)
        times = {
            "times_images": round(t2i / images, 4) if images else None,
            "times_captions": round(i2t / captions, 4) if captions else None,
        }
        rows.append({"source": source, "images": t2i, "captions": i2t, **times})
    return rows
