"""Run, one model's rankings evaluated on one version, and Score, one of its figures."""

from django.db import models
from django.utils import timezone

from dataset.models import Version
from mitl.models import Direction


class Run(models.Model):
    """One model's rankings, evaluated on one version."""

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="runs")
    model = models.CharField(max_length=80, help_text="Name of an annotator or of a rankings file.")
    sha256 = models.CharField(max_length=64, help_text="Checksum of the rankings.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["model"]
        constraints = [models.UniqueConstraint(fields=["version", "model", "sha256"], name="run_once_per_rankings")]

    def __str__(self) -> str:
        return f"{self.model} on {self.version_id}"


class Score(models.Model):
    """One figure of a run: the mean of a metric over the queries of one direction, in 0..1."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=20)
    direction = models.CharField(max_length=3, choices=Direction)
    value = models.FloatField()
    queries = models.PositiveIntegerField(help_text="Number of queries in the mean.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "metric", "direction"], name="score_once_per_run")]

    def __str__(self) -> str:
        return f"{self.metric} {self.direction} {self.value:.4f}"
