"""What machines propose: annotators, their top-k lists, pools of pairs with their provenance."""

from django.db import models
from django.utils import timezone

from corpus.models import Caption, Collection, Image, Sample


class Direction(models.TextChoices):
    """Which side asks: an image for captions, or a caption for images."""

    IMAGE_TO_CAPTION = "i2t", "image → captions"
    CAPTION_TO_IMAGE = "t2i", "caption → images"


class Annotator(models.Model):
    """A machine that scores image-caption pairs."""

    name = models.SlugField(max_length=80, unique=True)
    kind = models.CharField(max_length=20)
    options = models.JSONField(default=dict)
    checkpoint = models.CharField(max_length=400, blank=True, help_text="Path of its weights in the storage.")
    checksum = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the weights.")
    trained_on = models.JSONField(
        default=dict, help_text="Collection, matches, loss, seed and figures of its training."
    )
    curve = models.JSONField(
        default=list, help_text="Loss and validation figures of every epoch of its training, or of one under way."
    )
    architecture = models.JSONField(default=dict, help_text="What its network is made of, a text a name.")
    source = models.CharField(max_length=400, blank=True, help_text="Who made its weights, or where they are from.")
    licence = models.CharField(max_length=200, blank=True, help_text="On what terms the weights may be used.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Retrieval(models.Model):
    """One annotator's top lists over a collection's gallery, in a stored file (``mitl.lists``)."""

    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="retrievals")
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="retrievals")
    sample = models.ForeignKey(
        Sample, null=True, on_delete=models.CASCADE, help_text="The queries; null = the whole gallery."
    )
    depth = models.PositiveSmallIntegerField()
    engine = models.CharField(max_length=20)
    cascade = models.ForeignKey(
        Annotator,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Whose lists were scored anew; null = the whole gallery was searched.",
    )
    cascade_depth = models.PositiveSmallIntegerField(
        null=True, help_text="How many places of those lists were scored anew."
    )
    rerank = models.CharField(
        max_length=80, blank=True, help_text="The steps by which scores were re-ranked; empty = the plain search."
    )
    fingerprint = models.CharField(
        max_length=64, help_text="SHA-256 of what searched (kind, options, weights) and of what was searched."
    )
    file = models.CharField(max_length=400)
    sha256 = models.CharField(max_length=64)
    seconds = models.FloatField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.annotator} over {self.collection}"


class Pool(models.Model):
    """The pairs that several annotators' top lists name together."""

    name = models.SlugField(max_length=80, unique=True)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="pools")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="pools")
    retrievals = models.ManyToManyField(Retrieval, related_name="pools")
    top_k = models.PositiveSmallIntegerField()
    control_depth = models.PositiveSmallIntegerField(
        help_text="Negative controls stand outside this many of every list."
    )
    directions = models.JSONField(default=list)
    seed = models.BigIntegerField()
    filtered_from = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The pool whose likely pairs it holds.",
    )
    threshold = models.FloatField(null=True, help_text="The BLEU-1 score that its pairs reach, if it was filtered.")
    n_proposals = models.PositiveIntegerField(default=0)
    n_pairs = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Proposal(models.Model):
    """One annotator's naming of one pair: the direction, the rank (from 1) and the score it had there.

    Proposals are read and deleted by pool alone, which the unique index leads with. The foreign keys have no index
    of their own: each would be written at every row (the captions' at random places) and read by nothing but the
    deletion of an annotator, an image or a caption, which then goes through the table once for each.
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
                name="proposal_once_per_machine_and_direction",
            )
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} {self.direction} #{self.rank}"
