"""What rounds conclude about their pairs, and the released versions."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from core.naming import NamedQuerySet
from corpus.models import Caption, Collection, Image, Sample
from hits.models import Round
from hits.question import Level


class Aggregation(models.Model):
    """A round's counted judgments turned into verdicts by one method. Aggregating again replaces it."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="aggregations")
    method = models.CharField(max_length=20)
    ties = models.CharField(max_length=10, help_text="Policy for tied levels: median, lower or higher.")
    judgments = models.PositiveIntegerField(help_text="Number of judgments counted.")
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of the ids of the judgments counted.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at"]
        constraints = [models.UniqueConstraint(fields=["round", "method"], name="one_aggregation_per_method")]

    def __str__(self) -> str:
        return f"{self.round} by {self.method}"


class Verdict(models.Model):
    """What an aggregation concludes about one pair."""

    aggregation = models.ForeignKey(Aggregation, on_delete=models.CASCADE, related_name="verdicts")
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    caption = models.ForeignKey(Caption, on_delete=models.PROTECT, related_name="+")
    level = models.PositiveSmallIntegerField(choices=Level)
    distribution = models.JSONField(help_text="Shares of the levels 1-4; they sum to 1.")
    confidence = models.FloatField(help_text="The share of ``level``.")
    votes = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["aggregation", "image", "caption"], name="one_verdict_per_pair")]

    def __str__(self) -> str:
        return f"{self.image_id} - {self.caption_id}: {self.level}"


class VersionQuerySet(NamedQuerySet["Version"]):
    made_by = "release"


class Version(models.Model):
    """A released dataset. It never changes; its manifest lists its files with their SHA-256."""

    name = models.SlugField(max_length=80, unique=True)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="versions")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="+")
    rounds = models.ManyToManyField(Round, related_name="versions")
    manifest = models.JSONField()
    folder = models.CharField(max_length=400, help_text="Folder of its files in the storage.")
    released_at = models.DateTimeField(default=timezone.now)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    objects = VersionQuerySet.as_manager()

    class Meta:
        ordering = ["-released_at"]
        permissions = [("release_version", "May release versions")]

    def __str__(self) -> str:
        return self.name
