"""What calls answer of samples, annotators, searches and pools."""

from datetime import datetime
from typing import Any, Literal

from django.urls import reverse
from ninja import Schema

from console.annotators.figures import learns
from console.annotators.sent_annotators import shown_options
from core.parameters import values_of
from mitl.annotators import kind_of, kinds
from mitl.models import Pool, Retrieval
from mitl.options import CompanionFile, ServerText


class SampleAnswer(Schema):
    """A fixed set of queries: so many images and captions, drawn by the seed or listed."""

    name: str
    collection: str
    images: int
    captions: int
    seed: int
    created_at: datetime


class Samples(Schema):
    """A part of the list of samples, by name."""

    results: list[SampleAnswer]
    next: str | None


class OptionAnswer(Schema):
    """A setting of a kind of annotators. ``by``: a call sets it among the ``options``, as a file among the ``files``,
    or only the operator does."""

    name: str
    default: str | float
    description: str
    values: list[str]
    by: Literal["options", "files", "operator"]


class KindAnswer(Schema):
    """A kind of annotators: whether it needs files, can be trained, and scores pair by pair; its losses, the default
    first, and its settings."""

    kind: str
    checkpoint: Literal["required", "optional", "none"]
    learns: bool
    pair_by_pair: bool
    losses: list[str]
    options: list[OptionAnswer]


class Kinds(Schema):
    """All kinds of annotators."""

    results: list[KindAnswer]
    next: None


class AnnotatorAnswer(Schema):
    """A model that proposes pairs: its settings, the SHA-256 of its weights, what it was trained on, and where the
    weights come from. ``learns``: whether it can be trained here."""

    name: str
    url: str
    kind: str
    options: dict[str, Any]
    checksum: str
    learns: bool
    trained_on: dict[str, Any]
    architecture: dict[str, Any]
    source: str
    licence: str
    searches: int
    created_at: datetime


class Annotators(Schema):
    """A part of the list of annotators, by name."""

    results: list[AnnotatorAnswer]
    next: str | None


class RetrievalAnswer(Schema):
    """The lists that one annotator made of a gallery, for the queries of a sample or for all. ``gallery``: what was
    searched beyond the collection's rows."""

    id: int
    url: str
    annotator: str
    collection: str
    sample: str | None
    gallery: str | None
    depth: int
    engine: str
    cascade: str | None
    cascade_depth: int | None
    rerank: str
    sha256: str
    seconds: float
    created_at: datetime


class Retrievals(Schema):
    """A part of the list of searches, the latest first."""

    results: list[RetrievalAnswer]
    next: str | None


class PoolAnswer(Schema):
    """The pairs of the first ``top_k`` places of several annotators' lists. ``filtered_from``: the pool before unlikely
    pairs were dropped, by ``threshold``; ``beyond``: the match source whose pairs were left out."""

    name: str
    url: str
    collection: str
    sample: str
    annotators: list[str]
    top_k: int
    control_depth: int
    directions: list[str]
    seed: int
    filtered_from: str | None
    threshold: float | None
    beyond: str
    pairs: int
    proposals: int
    created_at: datetime


class Pools(Schema):
    """A part of the list of pools, the latest first."""

    results: list[PoolAnswer]
    next: str | None


def of_sample(sample: Any) -> dict[str, Any]:
    return {
        **{name: getattr(sample, name) for name in ("name", "seed", "created_at")},
        **{"collection": sample.collection.name, "images": sample.n_images, "captions": sample.n_captions},
    }


def of_kind(kind: str) -> dict[str, Any]:
    properties = kind_of(kind)
    by: dict[type, str] = {CompanionFile: "files", ServerText: "operator"}
    options = [
        {
            **{"name": name, "default": field.initial, "description": str(field.help_text)},
            **{"values": values_of(field), "by": by.get(type(field), "options")},
        }
        for name, field in properties.options.items()
    ]
    return {
        **{"kind": kind, "checkpoint": properties.checkpoint, "learns": properties.learns},
        **{"pair_by_pair": properties.cross_encoder, "losses": properties.losses, "options": options},
    }


def of_annotator(annotator: Any) -> dict[str, Any]:
    names = ("name", "kind", "checksum", "trained_on", "architecture", "source", "licence", "created_at")
    return {name: getattr(annotator, name) for name in names} | {
        "url": reverse("api:annotator", args=[annotator.name]),
        "options": shown_options(annotator),
        "learns": annotator.kind in kinds() and learns(annotator),
        "searches": annotator.n_retrievals,
    }


def of_retrieval(retrieval: Retrieval) -> dict[str, Any]:
    names = ("id", "depth", "engine", "cascade_depth", "rerank", "sha256", "seconds", "created_at")
    rows = ("annotator", "collection", "sample", "gallery", "cascade")
    return {
        **{name: getattr(retrieval, name) for name in names},
        **{name: row and row.name for name in rows for row in [getattr(retrieval, name)]},
        "url": reverse("api:retrieval", args=[retrieval.pk]),
    }


def of_pool(pool: Pool) -> dict[str, Any]:
    names = ("name", "top_k", "control_depth", "directions", "seed", "threshold", "beyond", "created_at")
    return {name: getattr(pool, name) for name in names} | {
        "url": reverse("api:pool", args=[pool.name]),
        "collection": pool.collection.name,
        "sample": pool.sample.name,
        "annotators": sorted(one.annotator.name for one in pool.retrievals.all()),
        "filtered_from": pool.filtered_from and pool.filtered_from.name,
        "pairs": pool.n_pairs,
        "proposals": pool.n_proposals,
    }
