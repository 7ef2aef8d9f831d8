"""Run, one model's rankings of a collection, and Score, one of its figures on a version."""

from django.conf import settings
from django.db import models

from core import clock
from core.files.stored_files import StoredFile
from corpus.models import Collection
from dataset.models import Version
from mitl.models import Direction, Retrieval


class Run(models.Model):
    """One model's rankings of a collection's gallery: a stored file, or the lists of a retrieval.

    A run of an earlier program has neither; its scores are kept, but cannot be computed again.
    """

    class Mark(models.TextChoices):
        """Why a run looks suspicious."""

        ORIGINAL = "original", "every query finds its original matches first"
        CONSTANT = "constant", "all scores of a list are equal"
        BY_ID = "by_id", "all lists are in the order of the ids"
        COPY = "copy", "the same lists as another run"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="runs")
    model = models.CharField(max_length=80, help_text="Name of the model.")
    sha256 = models.CharField(max_length=64, help_text="Checksum of the rankings.")
    file = models.CharField(max_length=400, blank=True, default="", help_text="Path of the rankings in the storage.")
    file_name = models.CharField(
        max_length=255, blank=True, default="", help_text="Its name before; the suffix tells the form."
    )
    retrieval = models.ForeignKey(
        Retrieval, null=True, on_delete=models.SET_NULL, related_name="runs", help_text="Whose lists are the rankings."
    )
    digest = models.CharField(
        max_length=32, blank=True, default="", help_text="Of the first items of all lists; equal ones are copies."
    )
    marks = models.JSONField(default=dict, help_text="Each mark of suspicion with its note.")
    registered_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["model"]
        constraints = [models.UniqueConstraint(fields=["collection", "model", "sha256"], name="run_once_per_rankings")]

    def __str__(self) -> str:
        return self.model

    @property
    def stored(self) -> StoredFile:
        return StoredFile(self.file, self.sha256)

    @property
    def has_lists(self) -> bool:
        """Whether the rankings are still known."""
        return bool(self.file) or self.retrieval_id is not None

    @property
    def suspicions(self) -> list[str]:
        """The marks in words, with their notes."""
        return [f"{self.Mark(mark).label}{f' ({note})' if note else ''}" for mark, note in self.marks.items()]


class Score(models.Model):
    """One figure of a run on a version: the mean of a metric over the queries of one direction, in 0..1.

    ``low`` and ``high`` are the 95% bootstrap interval over the queries. The values of single queries are in a file.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores")
    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="scores")
    metric = models.CharField(max_length=20)
    direction = models.CharField(max_length=3, choices=Direction)
    value = models.FloatField()
    low = models.FloatField(null=True, help_text="Null if it was scored before 0.2.0.")
    high = models.FloatField(null=True)
    original = models.FloatField(
        null=True, help_text="The same on the original matches alone; null: none of its queries, or an earlier program."
    )
    queries = models.PositiveIntegerField(help_text="Number of queries in the mean.")
    values_file = models.CharField(
        max_length=400, blank=True, default="", help_text="Path of the values of single queries in the storage."
    )
    values_sha256 = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "version", "metric", "direction"], name="score_once_per_run")
        ]

    def __str__(self) -> str:
        return f"{self.metric} {self.direction} {self.value:.4f}"

    @property
    def values_of_queries(self) -> StoredFile:
        return StoredFile(self.values_file, self.values_sha256)
