"""Collections of captioned images, the known matches between images and captions, samples of queries, and galleries of
items that need no rows."""

from typing import Any

from django.db import models

from core import clock
from core.models import NamedQuerySet, NamedRow


class Collection(NamedRow):
    """Images imported together with their captions, in the order of their file. Some or all may have no caption."""

    made_by = "import_collection"

    description = models.TextField(blank=True)
    language = models.CharField(
        max_length=35, blank=True, default="", help_text="Language of the captions, as a BCP 47 tag; empty: not known."
    )
    sealed_sources = models.JSONField(default=list, help_text="Match sources that must not change: released versions.")
    drawn = models.JSONField(
        null=True, editable=False, help_text="Size and seed of a drawn demo collection; null if it was imported."
    )
    two_reviewers = models.BooleanField(
        default=False, help_text="A review that changes the dataset holds only when a second person has agreed."
    )
    doubted_below = models.FloatField(default=2, help_text="Original pairs with a lower CxC score wait for a review.")
    created_at = models.DateTimeField(default=clock.now)


class BatchQuerySet(NamedQuerySet["Batch"]):
    def standing(self) -> "BatchQuerySet":
        """Leave out those that were undone."""
        return self.filter(undone_at=None)


class Batch(NamedRow):
    """What one import brought into a collection; it can be undone while nothing depends on it (``corpus.batches``).

    Rows point to the batch that brought them. Those from before batches were kept point to none: they are of the
    collection's, or the source's, one batch without ``counts``. An undone batch stays, so that its name is not used
    again.
    """

    class Kind(models.TextChoices):
        COLLECTION = "collection", "images and captions"
        PICTURES = "pictures"
        MATCHES = "matches"
        JUDGMENTS = "judgments"

    made_by = "an import"

    name = models.SlugField(max_length=100, unique=True)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="batches")
    kind = models.CharField(max_length=10, choices=Kind)
    source = models.CharField(max_length=80, blank=True, default="", help_text="Match source; empty: of other kinds.")
    file = models.CharField(max_length=255, blank=True, default="", help_text="Name of the imported file or folder.")
    language = models.CharField(max_length=35, blank=True, default="", help_text="Language of its captions, if given.")
    counts = models.JSONField(null=True, help_text="What it added, by kind; null: imported before batches were kept.")
    by = models.CharField(max_length=100, blank=True, default="", help_text="User name, or name of a command.")
    created_at = models.DateTimeField(default=clock.now)
    undone_at = models.DateTimeField(null=True)
    undone_by = models.CharField(max_length=100, blank=True, default="")

    objects = BatchQuerySet.as_manager()  # type: ignore[misc]  # in place of the base's

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "batches"


def brought_by(what: str = "brought it") -> "models.ForeignKey[Batch | None, Batch | None]":
    """Return the field of a row for the import that ``what``: without an index, which every import would pay for."""
    return models.ForeignKey(
        Batch,
        null=True,
        editable=False,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        help_text=f"The import that {what}.",
    )


class Excludable(models.Model):
    """What reviewers may exclude from the dataset. ``excluded_at`` repeats the review that holds, for the apps that
    cannot see reviews: what is excluded is asked about in no later HIT."""

    excluded_at = models.DateTimeField(null=True, editable=False, help_text="Set by the review that excludes it.")

    class Meta:
        abstract = True


class ImageQuerySet(models.QuerySet["Image"]):
    def gallery(self) -> "ImageQuerySet":
        """Return the images that rounds draw from and annotators search: all outside the training splits."""
        return self.exclude(split__in=Image.TRAINING_SPLITS)

    def training(self) -> "ImageQuerySet":
        return self.filter(split__in=Image.TRAINING_SPLITS)

    def captioned(self) -> "ImageQuerySet":
        """Return the images that have captions of their own."""
        return self.filter(models.Exists(Caption.objects.filter(image=models.OuterRef("pk"))))

    def uncaptioned(self) -> "ImageQuerySet":
        return self.filter(captions=None)

    def without_file(self) -> "ImageQuerySet":
        return self.filter(file="")


class Image(Excludable):
    """One picture. ``key`` is its id in the source data (COCO's image id, a file name)."""

    TRAINING_SPLITS = ("train", "restval", "val")

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="images")
    key = models.CharField(max_length=120)
    file_name = models.CharField(max_length=255)
    file = models.CharField(
        max_length=400, blank=True, help_text="Path in the storage; empty until the picture is imported."
    )
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    split = models.CharField(max_length=20, blank=True)
    look = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        help_text="Perceptual hash, 64 bits in hex; empty until the clean-up needs it.",
    )
    batch = brought_by()
    picture_batch = brought_by("stored its picture")

    objects = ImageQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["collection", "key"], name="image_key_in_collection")]

    def __str__(self) -> str:
        return self.key


class CaptionQuerySet(models.QuerySet["Caption"]):
    def gallery(self) -> "CaptionQuerySet":
        """Return the captions of gallery images."""
        return self.exclude(image__split__in=Image.TRAINING_SPLITS)

    def training(self) -> "CaptionQuerySet":
        return self.filter(image__split__in=Image.TRAINING_SPLITS)


class Caption(Excludable):
    """One sentence, verbatim, and the image it was written for. Equal texts are allowed."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="captions")
    key = models.CharField(max_length=120)
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="captions")
    text = models.TextField()
    batch = brought_by()

    objects = CaptionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["collection", "key"], name="caption_key_in_collection")]

    def __str__(self) -> str:
        return self.key


class MatchQuerySet(models.QuerySet["Match"]):
    def by_source(self) -> "models.QuerySet[Match, dict[str, Any]]":
        """Count the matches of each collection and source, and those of them that were judged to be none."""
        rejected = models.Count("pk", filter=models.Q(score=0, grade__isnull=False))
        counts = self.order_by().values("collection", "source").annotate(n=models.Count("pk"), n_rejected=rejected)
        return counts.order_by("collection", "source")


class Match(models.Model):
    """A known association of an image and a caption, according to one source.

    Sources: ``original`` (the collection's own pairs, written at import), imported ones (``cxc``, ``eccv``),
    the demo's ``truth``, and released versions under their own names. ``score`` is the source's own number;
    ``grade`` is a level 1-4 (1 = 100% YES) if the source has levels. Pairs that a source does not list
    are unknown, not wrong.
    """

    ORIGINAL = "original"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="matches")
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="matches")
    caption = models.ForeignKey(Caption, on_delete=models.CASCADE, related_name="matches")
    source = models.CharField(max_length=80)
    score = models.FloatField(null=True)
    grade = models.PositiveSmallIntegerField(null=True)
    batch = brought_by()

    objects = MatchQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "source", "image", "caption"], name="match_once_per_source"),
            models.CheckConstraint(
                condition=models.Q(grade__isnull=True) | models.Q(grade__range=(1, 4)), name="match_grade"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source}: {self.image_id} - {self.caption_id}"


class Sample(NamedRow):
    """A fixed set of query images and query captions. Galleries are never sampled, only queries."""

    made_by = "sample_queries"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="samples")
    images = models.ManyToManyField(Image, related_name="+")
    captions = models.ManyToManyField(Caption, related_name="+")
    seed = models.BigIntegerField()
    created_at = models.DateTimeField(default=clock.now)


class Gallery(NamedRow):
    """Images and captions to search that have no rows but are listed in files: parts, which ``file`` names.

    The queries are rows of ``collection``; items that a search finds become its rows too.
    """

    made_by = "import_gallery"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="galleries")
    n_images = models.PositiveBigIntegerField()
    n_captions = models.PositiveBigIntegerField()
    file = models.CharField(max_length=400, help_text="Path in the storage of the list of parts.")
    sha256 = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the parts' checksums: of the items and their order.")
    created_at = models.DateTimeField(default=clock.now)

    class Meta(NamedRow.Meta):
        verbose_name_plural = "galleries"
