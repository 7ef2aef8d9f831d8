"""What annotators propose: their top-k lists, and pools of pairs with their provenance."""

from collections.abc import Sequence
from typing import Self

from django.db import models

from core import clock
from core.errors import CounterpartError, some_of
from core.files.stored_files import StoredFile
from core.models import NamedQuerySet, NamedRow
from core.text import counted
from corpus.models import Caption, Collection, Gallery, Image, Sample
from counterpart_metrics.arrays import DIRECTIONS


class Direction(models.TextChoices):
    """Which side is the query: an image that looks for captions, or a caption that looks for images."""

    IMAGE_TO_CAPTION = "i2t", DIRECTIONS["i2t"]
    CAPTION_TO_IMAGE = "t2i", DIRECTIONS["t2i"]


class AnnotatorQuerySet(NamedQuerySet["Annotator"]):
    def all_named(self, names: Sequence[str]) -> list["Annotator"]:
        """Return the annotators in the order named. Raises CounterpartError for unknown and doubled names, or none."""
        if not names:
            raise CounterpartError("Name at least one annotator.")
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise CounterpartError(
                f"{counted(len(doubled), 'annotator is', 'annotators are')} named more than once: {some_of(doubled)}."
            )
        annotators = {annotator.name: annotator for annotator in self.filter(name__in=names)}
        unknown = [name for name in names if name not in annotators]
        if unknown:
            existing = some_of(list(self.values_list("name", flat=True))) or "none yet"
            raise CounterpartError(
                f"{counted(len(unknown), 'annotator is', 'annotators are')} unknown: {some_of(unknown)};"
                f" there are {existing}. Make one with {Annotator.made_by}."
            )
        return [annotators[name] for name in names]


class Annotator(NamedRow):
    """A model that scores image-caption pairs."""

    made_by = "add_annotator"

    kind = models.CharField(max_length=20)
    options = models.JSONField(default=dict)
    checkpoint = models.CharField(max_length=400, blank=True, help_text="Path of the weights in the storage.")
    checksum = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the weights.")
    trained_on = models.JSONField(
        default=dict, help_text="Collection, matches, loss, seed and figures of the training."
    )
    curve = models.JSONField(
        default=list, help_text="Loss and validation figures of every epoch of the last or current training."
    )
    architecture = models.JSONField(default=dict, help_text="Parts of the network, a text a name.")
    source = models.CharField(max_length=400, blank=True, help_text="Author or origin of the weights.")
    licence = models.CharField(max_length=200, blank=True, help_text="Licence of the weights.")
    created_at = models.DateTimeField(default=clock.now)

    objects = AnnotatorQuerySet.as_manager()  # type: ignore[misc]  # in place of the base's


class Retrieval(models.Model):
    """One annotator's top lists over a collection's gallery, in a stored file (``mitl.search.gallery``)."""

    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="retrievals")
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="retrievals")
    sample = models.ForeignKey(
        Sample, null=True, on_delete=models.CASCADE, help_text="The queries; null: the whole gallery."
    )
    gallery = models.ForeignKey(
        Gallery,
        null=True,
        on_delete=models.PROTECT,
        related_name="retrievals",
        help_text="What was searched; null: the collection's rows.",
    )
    depth = models.PositiveSmallIntegerField()
    engine = models.CharField(max_length=20)
    cascade = models.ForeignKey(
        Annotator,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Annotator whose lists were scored again; null: the whole gallery was searched.",
    )
    cascade_depth = models.PositiveSmallIntegerField(
        null=True, help_text="Number of places of those lists that were scored again."
    )
    rerank = models.CharField(max_length=80, blank=True, help_text="Steps of the re-ranking; empty: the plain search.")
    fingerprint = models.CharField(
        max_length=64, help_text="SHA-256 of the annotator (kind, options, weights) and the gallery."
    )
    file = models.CharField(max_length=400)
    sha256 = models.CharField(max_length=64)
    seconds = models.FloatField()
    report = models.JSONField(
        default=dict, help_text="What the lists say of the search (``mitl.search.search_report``)."
    )
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.annotator} over {self.collection}"

    @property
    def stored(self) -> StoredFile:
        return StoredFile(self.file, self.sha256)


class PoolQuerySet(NamedQuerySet["Pool"]):
    def of_lists(self) -> Self:
        """Leave out pools of images alone, which rounds that ask about images make for themselves."""
        return self.filter(top_k__gt=0)


class Pool(NamedRow):
    """The pairs in the top lists of several annotators."""

    made_by = "the command pool"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="pools")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="pools")
    retrievals = models.ManyToManyField(Retrieval, related_name="pools")
    top_k = models.PositiveSmallIntegerField()
    control_depth = models.PositiveSmallIntegerField(
        help_text="Negative controls are outside this many places of every list."
    )
    directions = models.JSONField(default=list)
    seed = models.BigIntegerField()
    filtered_from = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The pool before unlikely pairs were dropped.",
    )
    threshold = models.FloatField(null=True, help_text="BLEU-1 below which pairs of that pool were dropped.")
    beyond = models.CharField(
        max_length=80, blank=True, help_text="Match source, such as a version, whose pairs were left out."
    )
    n_proposals = models.PositiveIntegerField(default=0)
    n_pairs = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)

    objects = PoolQuerySet.as_manager()  # type: ignore[misc]  # in place of the base's

    def figures(self) -> dict[str, str | int]:
        """Return what ``pool`` and ``plan_round --pool-only`` print."""
        return {"pool": self.name, "proposals": self.n_proposals, "pairs": self.n_pairs, "seed": self.seed}


class Proposal(models.Model):
    """A pair in one annotator's list, with the direction, the rank (from 1) and the score it had there.

    Proposals are read and deleted by pool alone, the first column of the unique index. The foreign keys have no index:
    it would be written for every row (the captions' at random places) and used only to delete an annotator, an image or
    a caption, which scans the table instead.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="proposals", db_index=False)
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="+", db_index=False)
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+", db_index=False)
    caption = models.ForeignKey(Caption, on_delete=models.CASCADE, related_name="+", db_index=False)
    direction = models.CharField(max_length=3, choices=Direction)
    rank = models.PositiveSmallIntegerField()
    score = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pool", "image", "caption", "annotator", "direction"],
                name="proposal_once_per_annotator_and_direction",
            )
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} {self.direction} #{self.rank}"


class ChatPurse(models.Model):
    """What one model of one endpoint was asked in all: the sums of its requests (``mitl.hosting.purses``)."""

    name = models.TextField(unique=True, help_text="Address and model.")
    requests = models.IntegerField(default=0)
    cost = models.BigIntegerField(default=0, help_text="In units of 1e-12.")

    def __str__(self) -> str:
        return self.name


class ChatRequest(models.Model):
    """One request to a chat model, stored before it is sent, with the most that it can cost until that is known."""

    purse = models.ForeignKey(ChatPurse, on_delete=models.PROTECT, related_name="+")
    question = models.CharField(max_length=64, db_index=True, help_text="SHA-256 of all that decides the answer.")
    chances = models.JSONField(null=True, help_text="Probabilities of the levels; null: no valid answer.")
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    seconds = models.FloatField(null=True)
    cost = models.BigIntegerField(help_text="In units of 1e-12.")
    asked_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return f"{self.purse} #{self.pk}"
