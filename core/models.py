"""Who did what when (Event), and how far long work has got (Job)."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone


class Event(models.Model):
    """One thing that happened to one row. Only added, never changed."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    actor = models.CharField(max_length=100, help_text="A user name, worker:<pseudonym> or a command's or task's name.")
    verb = models.CharField(max_length=40)
    subject = models.CharField(max_length=120, help_text="The row, as app.model:key.")
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["subject", "id"])]

    def __str__(self) -> str:
        return f"{self.actor} {self.verb} {self.subject}"


class Job(models.Model):
    """Long work that may be left and watched: its state, its progress, and what is needed to send it again."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=200)
    task = models.CharField(max_length=100, help_text="The Celery task that takes this job's id and does the work.")
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    step = models.CharField(max_length=100, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, help_text="Null where the step cannot tell.")
    message = models.TextField(blank=True, help_text="The outcome, or the error in one line.")
    cancel_requested = models.BooleanField(default=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    heartbeat_at = models.DateTimeField(
        default=timezone.now, help_text="Last sign of life; an old one means a lost worker."
    )
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["state", "heartbeat_at"])]

    def __str__(self) -> str:
        return f"{self.title} ({self.state})"

    @property
    def is_live(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def share(self) -> float | None:
        """Progress of the present step in 0..1, or None where the step cannot tell."""
        return min(1.0, self.done / self.total) if self.total else None
