"""The fields of samples, annotators, searches and pools that calls, commands and pages show."""

from datetime import datetime
from pathlib import PurePath
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from ninja import Field, Schema

from console.api.row_fields import Named, address
from console.pagination import count_of
from core.parameters import values_of
from corpus.models import Sample
from mitl.annotators import kind_of, kinds
from mitl.hosting.option_fields import CompanionFile, ServerText
from mitl.models import Annotator, Pool, PoolQuerySet, Retrieval


class SampleAnswer(Schema):
    """A fixed set of queries: images and captions, drawn by the seed or listed."""

    name: str
    collection: Named
    images: Annotated[int, Field(validation_alias="n_images")]
    captions: Annotated[int, Field(validation_alias="n_captions")]
    seed: int
    created_at: datetime


class OptionAnswer(Schema):
    """A setting of a kind of annotators. ``by``: a call sets it among the ``options``, or as a file among the
    ``files``, or only the operator sets it."""

    name: str
    default: Annotated[str | float, Field(validation_alias="initial")]
    description: Annotated[str, Field(validation_alias="help_text")]
    values: list[str]
    by: Literal["options", "files", "operator"]


class KindAnswer(Schema):
    """A kind of annotators: whether it needs files, can be trained, and scores pair by pair; its losses, the default
    first, and its settings."""

    kind: str
    checkpoint: Literal["required", "optional", "none"]
    learns: bool
    pair_by_pair: Annotated[bool, Field(validation_alias="cross_encoder")]
    losses: list[str]
    options: list[OptionAnswer]


class Kinds(Schema):
    """All kinds of annotators."""

    results: list[KindAnswer]
    next: None


def can_learn(annotator: Annotator) -> bool:
    """Whether the annotator can be trained here: its kind learns, and its weights are not an imported checkpoint."""
    is_imported = annotator.checkpoint and not annotator.trained_on
    return annotator.kind in kinds() and kind_of(annotator.kind).learns and not is_imported


class AnnotatorAnswer(Schema):
    """A model that proposes pairs: its settings, the SHA-256 of its weights, what it was trained on, and where the
    weights come from. ``learns``: whether it can be trained here."""

    name: str
    url: Annotated[str, Field(validation_alias="name"), address("annotator")]
    kind: str
    options: dict[str, Any]
    checksum: str
    learns: bool
    trained_on: dict[str, Any]
    architecture: dict[str, Any]
    source: str
    licence: str
    searches: Annotated[int, Field(validation_alias="n_retrievals")]
    created_at: datetime

    @staticmethod
    def resolve_options(annotator: Annotator) -> dict[str, Any]:
        """Leave out addresses, variables and folders of the server; files become names without folders."""
        declared = kind_of(annotator.kind).options if annotator.kind in kinds() else {}
        shown = {}
        for name, value in annotator.options.items():
            field = declared.get(name)
            if isinstance(field, CompanionFile):
                shown[name] = PurePath(str(value)).name
            elif field is not None and not isinstance(field, ServerText):
                shown[name] = value
        return shown

    resolve_learns = staticmethod(can_learn)


class RetrievalAnswer(Schema):
    """The lists that one annotator made of a gallery, for the queries of a sample or for all. ``gallery``: what was
    searched beyond the collection's rows. ``report``: by direction, shares of lists with equal scores (``blind``),
    decided by ties, in the order of the rows or alike, and hubs; of embeddings, copies and how alike they are."""

    id: int
    url: Annotated[str, Field(validation_alias="pk"), address("retrieval")]
    annotator: Named
    collection: Named
    sample: Named | None
    gallery: Named | None
    depth: int
    engine: str
    cascade: Named | None
    cascade_depth: int | None
    rerank: str
    sha256: str
    seconds: float
    report: dict[str, Any]
    created_at: datetime


class PoolAnswer(Schema):
    """The pairs of the first ``top_k`` places of several annotators' lists. ``filtered_from``: the pool before unlikely
    pairs were dropped, by ``threshold``; ``beyond``: the match source whose pairs were left out."""

    name: str
    url: Annotated[str, Field(validation_alias="name"), address("pool")]
    collection: Named
    sample: Named
    annotators: list[str]
    top_k: int
    control_depth: int
    directions: list[str]
    seed: int
    filtered_from: Named | None
    threshold: float | None
    beyond: str
    pairs: Annotated[int, Field(validation_alias="n_pairs")]
    proposals: Annotated[int, Field(validation_alias="n_proposals")]
    created_at: datetime

    @staticmethod
    def resolve_annotators(pool: Pool) -> list[str]:
        return sorted(one.annotator.name for one in pool.retrievals.all())


def of_kind(kind: str) -> dict[str, Any]:
    properties = kind_of(kind)
    by: dict[type, str] = {CompanionFile: "files", ServerText: "operator"}
    options = [
        {"name": name, "values": values_of(field), "by": by.get(type(field), "options"), **vars(field)}
        for name, field in properties.options.items()
    ]
    return {**vars(properties), "kind": kind, "options": options}


def counted_samples() -> QuerySet[Sample]:
    """Return the samples with ``n_images`` and ``n_captions``."""
    return Sample.objects.select_related("collection").annotate(
        n_images=count_of(Sample.images.through, "sample"), n_captions=count_of(Sample.captions.through, "sample")
    )


def counted_annotators() -> QuerySet[Annotator]:
    """Return the annotators with ``n_retrievals``."""
    return Annotator.objects.annotate(n_retrievals=count_of(Retrieval, "annotator"))


def searches() -> QuerySet[Retrieval]:
    """Return the searches with the rows that they name."""
    return Retrieval.objects.select_related("annotator", "collection", "sample", "gallery", "cascade")


def related_pools() -> PoolQuerySet:
    """Return the pools with the rows that they name."""
    related = ("collection", "sample", "filtered_from")
    return Pool.objects.select_related(*related).prefetch_related("retrievals__annotator")
