"""What rounds conclude about their pairs, and the released versions."""

from collections.abc import Mapping

import numpy as np
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.dispatch import Signal

from core import clock
from core.files.stored_files import StoredFile
from core.models import NamedRow
from corpus.models import Caption, Collection, Image, Sample
from hits.models import Control, Round
from hits.question import RIGHT_LEVELS, Level
from hits.task_types import task_type_of


class Aggregation(models.Model):
    """A round's counted judgments turned into verdicts by one method. Aggregating again replaces it.

    The verdicts of a large one are in a file (``dataset.judged.verdict_files``); rows are then those of pairs under
    review.
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="aggregations")
    method = models.CharField(max_length=20)
    ties = models.CharField(max_length=10, help_text="Policy for tied levels: median, lower or higher.")
    seed = models.BigIntegerField(default=0, help_text="Seed of the random starts of methods that have any.")
    judgments = models.PositiveIntegerField(help_text="Number of judgments counted.")
    file = models.CharField(
        max_length=400, blank=True, default="", help_text="Path of its verdicts in the storage; empty: they are rows."
    )
    sha256 = models.CharField(max_length=64, blank=True, default="", help_text="Checksum of the file.")
    certainty = models.JSONField(
        null=True,
        help_text="Figures of ``aggregation.certainty``; null: aggregated by an earlier program.",
    )
    at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["-at"]
        constraints = [models.UniqueConstraint(fields=["round", "method"], name="one_aggregation_per_method")]

    def __str__(self) -> str:
        return f"{self.round} by {self.method}"

    @property
    def stored(self) -> StoredFile:
        return StoredFile(self.file, self.sha256)


class Verdict(models.Model):
    """What an aggregation concludes about one pair."""

    aggregation = models.ForeignKey(Aggregation, on_delete=models.CASCADE, related_name="verdicts")
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    caption = models.ForeignKey(Caption, on_delete=models.PROTECT, related_name="+")
    level = models.PositiveSmallIntegerField(choices=Level)
    distribution = models.JSONField(help_text="Shares of the levels 1-4; they sum to 1.")
    confidence = models.FloatField(help_text="The share of ``level``.")
    votes = models.PositiveSmallIntegerField()
    probability = models.FloatField(
        null=True, help_text="That its side, match or no match, is right; null: aggregated by an earlier program."
    )

    doubt = ""
    """Why a lone vote is doubtful (``dataset.judged.verdict_worth``)."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["aggregation", "image", "caption"], name="one_verdict_per_pair")]
        indexes = [
            models.Index(fields=["aggregation", "probability", "image", "caption"], name="least_certain_verdicts")
        ]

    def __str__(self) -> str:
        return f"{self.image_id} - {self.caption_id}: {self.level}"

    @property
    def score(self) -> float:
        """The mean over its votes of what the answers of the round's type of task count (``TaskType.mean_of``)."""
        return float(task_type_of(self.aggregation.round).score(np.array(self.distribution)))

    @property
    def support(self) -> str:
        """What its level rests on: "3 of 5 votes", or a model's share with the model's name; not a probability."""
        if self.aggregation.method == "majority":
            return "1 vote" if self.votes == 1 else f"{round(self.confidence * self.votes)} of {self.votes} votes"
        return f"{self.confidence:.2f} by {self.aggregation.method}"

    @property
    def is_match(self) -> bool:
        return self.level in RIGHT_LEVELS[Control.Polarity.POSITIVE]


Subject = tuple[int | None, int | None]
"""Database ids of an image and a caption; None where a review is about the other one alone."""


class ReviewQuerySet(models.QuerySet["Review"]):
    def holding(self, collection: Collection) -> Mapping[Subject, "Review"]:
        """Return the review that holds of each subject of the collection: the latest that needs no second person."""
        settled = self.filter(Q(needs_second=False) | Q(seconded_at__isnull=False), collection=collection)
        return {(review.image_id, review.caption_id): review for review in settled.order_by("pk")}


class Review(models.Model):
    """A person's conclusion, which overrides the votes: the level of a pair, or that a caption or an image is excluded.

    Only added; the latest of a subject holds, so that an earlier one is undone by a new one.
    """

    class Conclusion(models.TextChoices):
        LEVEL = "level", "the pair has this level, whatever the votes say"
        EXCLUDED = "excluded", "the caption or image leaves the dataset"
        KEPT = "kept", "it stays as it is, and the votes hold"

    class Grounds(models.TextChoices):
        """Why a caption or an image leaves the dataset (ECCV Caption, appendix C.1)."""

        MEANINGLESS = "meaningless", "the caption describes no picture"
        WRONG = "wrong", "the caption describes another picture"
        DUPLICATE = "duplicate", "the picture occurs twice, or in the training set"
        OTHER = "other", "another reason"

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="reviews")
    image = models.ForeignKey(Image, null=True, on_delete=models.PROTECT, related_name="reviews")
    caption = models.ForeignKey(Caption, null=True, on_delete=models.PROTECT, related_name="reviews")
    conclusion = models.CharField(max_length=8, choices=Conclusion)
    level = models.PositiveSmallIntegerField(choices=Level, null=True)
    grounds = models.CharField(max_length=11, choices=Grounds, blank=True)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=clock.now)
    needs_second = models.BooleanField(default=False, help_text="Holds only when a second person has agreed.")
    seconded_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    seconded_at = models.DateTimeField(null=True)
    undoes = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")

    objects = ReviewQuerySet.as_manager()

    free_text = ("reason",)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(image__isnull=False) | Q(caption__isnull=False), name="review_subject"),
            models.CheckConstraint(
                condition=Q(conclusion="level", level__range=(1, 4), image__isnull=False, caption__isnull=False)
                | (~Q(conclusion="level") & Q(level=None)),
                name="review_level_of_a_pair",
            ),
            models.CheckConstraint(
                condition=~Q(conclusion="excluded") | Q(image=None) | Q(caption=None), name="no_pair_is_excluded"
            ),
            models.CheckConstraint(condition=~Q(seconded_by=F("by")), name="nobody_seconds_their_own_review"),
        ]

    def __str__(self) -> str:
        return f"{self.conclusion} {self.level or ''}".strip()

    @property
    def subject(self) -> Subject:
        return self.image_id, self.caption_id

    @property
    def is_settled(self) -> bool:
        """Whether it needs no second person (any more)."""
        return not self.needs_second or self.seconded_at is not None


class CaseQuerySet(models.QuerySet["Case"]):
    def waiting(self) -> "CaseQuerySet":
        """Return the queue of reviewers: cases without a conclusion, most urgent first."""
        return self.filter(done_at=None).order_by("-priority", "pk")


class Case(models.Model):
    """A pair that waits for a reviewer, and why. Reviews are what was concluded; a case only says what to look at.

    A case about a caption alone is that of the caption with its own image; one about an image that of the image with
    its first caption.
    """

    class Reason(models.TextChoices):
        CONFLICT = "conflict", "people say no, a merged source says yes"
        REPORTED = "reported", "workers report a problem"
        SUSPICIOUS = "suspicious", "an original pair that workers or a source find wrong"
        MEANINGLESS = "meaningless", "the caption seems to describe no picture"
        DISAGREEMENT = "disagreement", "workers disagree"
        DUPLICATE = "duplicate", "the picture seems to occur twice"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="cases")
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    caption = models.ForeignKey(Caption, on_delete=models.CASCADE, related_name="+")
    reasons = models.JSONField(default=dict, help_text="Each reason with its note: what was found.")
    priority = models.PositiveSmallIntegerField(help_text="The most urgent case has the highest.")
    opened_at = models.DateTimeField(default=clock.now)
    done_at = models.DateTimeField(null=True, help_text="When a review settled it.")

    objects = CaseQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["image", "caption"], name="one_case_per_pair")]
        indexes = [
            models.Index(fields=["collection", "-priority", "id"], condition=Q(done_at=None), name="waiting_cases")
        ]

    def __str__(self) -> str:
        return f"{self.image_id} - {self.caption_id}: {', '.join(self.reasons)}"


class QueueCheck(models.Model):
    """The last check of a round's queue: whether it showed every pair of the round without a majority."""

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="queue_check")
    shown = models.BooleanField()
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"queue of {self.round}: {'works' if self.shown else 'hides disagreements'}"


released = Signal()
"""Sent with ``version`` inside the transaction that releases it, for what follows from it in apps further right."""


class Version(NamedRow):
    """A released dataset. It never changes; its manifest lists its files with their SHA-256."""

    made_by = "release"

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="versions")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="+")
    rounds = models.ManyToManyField(Round, related_name="versions")
    manifest = models.JSONField()
    manifest_sha256 = models.CharField(max_length=64, blank=True, default="", help_text="Of the manifest's file.")
    folder = models.CharField(max_length=400, help_text="Folder of its files in the storage.")
    pseudonym_key = models.CharField(
        max_length=64, blank=True, default="", editable=False, help_text="Secret key of its workers' pseudonyms."
    )
    released_at = models.DateTimeField(default=clock.now)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-released_at"]
        permissions = [("release_version", "May release versions")]


class ReleaseLease(models.Model):
    """A process writes a version's folder (``dataset.releases.release_leases``)."""

    folder = models.CharField(max_length=200, unique=True)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.folder


class Publication(models.Model):
    """The public page of a version, which anybody may read while the row exists (``dataset.publications``)."""

    version = models.OneToOneField(Version, on_delete=models.CASCADE, related_name="publication")
    picture_terms = models.CharField(
        max_length=300, blank=True, default="", help_text="Licence of the pictures; empty: the page shows none."
    )
    offers_files = models.BooleanField(default=False, help_text="Whether the page offers the version's files.")
    agreement = models.TextField(help_text="How well the votes agree, in a sentence.")
    published_at = models.DateTimeField(default=clock.now)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    free_text = ("picture_terms",)

    def __str__(self) -> str:
        return f"public page of {self.version}"
