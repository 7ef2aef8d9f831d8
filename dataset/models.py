"""What a round concludes about its pairs, and the released versions."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from corpus.models import Caption, Collection, Image, Sample
from hits.models import Round
from hits.question import Level


class Verdict(models.Model):
    """What a round's counted judgments say of one pair, by one method. Rewritten whenever that is aggregated."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="verdicts")
    method = models.CharField(max_length=20)
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    caption = models.ForeignKey(Caption, on_delete=models.PROTECT, related_name="+")
    level = models.PositiveSmallIntegerField(choices=Level)
    distribution = models.JSONField(help_text="Shares of the levels 1-4; they sum to 1.")
    confidence = models.FloatField(help_text="The share of ``level``.")
    votes = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "method", "image", "caption"], name="one_verdict_per_pair")
        ]

    def __str__(self) -> str:
        return f"{self.image_id} - {self.caption_id}: {self.level}"


class Version(models.Model):
    """A released dataset. Never changes; its files and their SHA-256 stand in the manifest."""

    name = models.SlugField(max_length=80, unique=True)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="versions")
    sample = models.ForeignKey(Sample, on_delete=models.PROTECT, related_name="+")
    rounds = models.ManyToManyField(Round, related_name="versions")
    manifest = models.JSONField()
    folder = models.CharField(max_length=400, help_text="Where its files stand in the storage.")
    released_at = models.DateTimeField(default=timezone.now)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["-released_at"]
        permissions = [("release_version", "May release versions")]

    def __str__(self) -> str:
        return self.name
