"""Event, the log of acts; Job, the state and progress of long work; Heartbeat, the last sign of queue and clock; and
the columns that rows of all apps share."""

import uuid
from typing import ClassVar, TypeVar

from django.conf import settings
from django.db import models

from core import clock
from core.text import find_named

Named = TypeVar("Named", bound="NamedRow")


class NamedQuerySet(models.QuerySet[Named]):
    """Rows that are found by name: ``Collection.objects.named("birds")``."""

    def named(self, name: str) -> Named:
        """Return the row with this name, or raise CounterpartError as ``find_named`` does."""
        return find_named(self, name, made_by=self.model.made_by)


class NamedRow(models.Model):
    """A row with a name, which the command ``made_by`` makes."""

    made_by: ClassVar[str]

    name = models.SlugField(max_length=80, unique=True)

    objects = NamedQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class DatedRow(models.Model):
    """A row with the time when it was added, among rows in that order."""

    at = models.DateTimeField(default=clock.now)

    class Meta:
        abstract = True
        ordering = ["id"]


class SignedRow(DatedRow):
    """A row with the name of who added it as well."""

    by = models.CharField(max_length=150)

    class Meta(DatedRow.Meta):
        abstract = True


class Event(models.Model):
    """A change of one row: who did what, and when. Events are only added, and never read to decide anything."""

    at = models.DateTimeField(default=clock.now, db_index=True)
    actor = models.CharField(max_length=100, help_text="User name, worker:<pseudonym>, or name of a command or task.")
    verb = models.CharField(max_length=40)
    subject = models.CharField(max_length=120, help_text="The changed row, as app.model:key.")
    data = models.JSONField(default=dict)

    free_text = ("data",)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["subject", "id"])]

    def __str__(self) -> str:
        return f"{self.actor} {self.verb} {self.subject}"


class Job(models.Model):
    """Long work in the background: its state, its progress, and the parameters needed to send it again."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=200)
    task = models.CharField(max_length=100, help_text="The Celery task, called with this job's id.")
    params = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    step = models.CharField(max_length=100, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, help_text="Null if unknown for this step.")
    message = models.TextField(blank=True, help_text="The result, or the error in one line.")
    cancel_requested = models.BooleanField(default=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    asked = models.JSONField(
        default=dict, help_text="Who asked (core.work.authority): the account, token and scope; empty for the operator."
    )
    created_at = models.DateTimeField(default=clock.now)
    heartbeat_at = models.DateTimeField(
        default=clock.now, help_text="Last sign of life; an old one means a lost process."
    )
    finished_at = models.DateTimeField(null=True)

    free_text = ("message",)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["state", "heartbeat_at"])]

    def __str__(self) -> str:
        return f"{self.title} ({self.state})"

    @property
    def actor(self) -> str:
        """The actor in the events of the job: the person who started it, or else a command."""
        return str(self.created_by or "command")

    @property
    def is_live(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def share(self) -> float | None:
        """Progress of the current step in 0..1, or None if its total is unknown."""
        return min(1.0, self.done / self.total) if self.total else None


class Heartbeat(models.Model):
    """The last sign of life, in two rows: of the queue, by the worker that ran a task of the clock, and of the clock
    that leads."""

    QUEUE = 1
    CLOCK = 2

    at = models.DateTimeField()
    by = models.CharField(max_length=100, blank=True, help_text="Host of the worker; host and number of the clock.")

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S}"
