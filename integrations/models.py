"""How other programs reach the site and are reached: Token, who may call the API; KeptAnswer, the answer
to a repeated call; Notification, an event; Webhook, an address that gets events; Delivery, whether it got one."""

import uuid
from datetime import timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models

from core import clock


class Token(models.Model):
    """Lets a program act for its owner within some scopes, until it expires or is revoked. Of its secret only the
    digest is stored."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80, help_text="What it is for, in its owner's words.")
    identifier = models.CharField(max_length=8, unique=True, help_text="The part of the token that is shown.")
    sha256 = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the whole token.")
    scopes = models.JSONField(help_text="Names of console.api.scopes. The owner's role holds beside them at each use.")
    networks = models.JSONField(default=list, help_text="Where it may be used, as 10.0.0.0/8; empty: anywhere.")
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True, help_text="To the hour.")

    free_text = ("name",)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} (cp_{self.identifier}…)"

    @property
    def state(self) -> str:
        """``valid``, ``expired`` or ``revoked``."""
        if self.revoked_at:
            return "revoked"
        return "valid" if self.expires_at > clock.now() else "expired"


class KeptAnswer(models.Model):
    """The answer to a call that changed something, by its Idempotency-Key: a repeated call gets the same."""

    token = models.ForeignKey(Token, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, help_text="SHA-256 of method, path and body.")
    status = models.PositiveSmallIntegerField(default=0)
    body = models.TextField(blank=True)
    at = models.DateTimeField(default=clock.now, db_index=True)

    KEPT = timedelta(hours=24)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="answer_once_per_key")]

    def __str__(self) -> str:
        return self.key

    @classmethod
    def purge(cls) -> int:
        """Remove the expired answers; return how many."""
        return cls.objects.filter(at__lt=clock.now() - cls.KEPT).delete()[0]


class Notification(models.Model):
    """An event for webhooks and for the list of events: ids, names and counts alone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    place = models.PositiveBigIntegerField(
        null=True, unique=True, help_text="Its number in the list of events; null until that was read."
    )
    type = models.CharField(max_length=30, help_text="One of integrations.notifications, or a test.")
    data = models.JSONField()
    at = models.DateTimeField(default=clock.now, db_index=True)

    def __str__(self) -> str:
        return f"{self.type} {self.data.get('id', '')}".strip()


class Webhook(models.Model):
    """An address of another program that gets notifications. Its secret is derived from its id and ``generation``
    (``integrations.webhooks``) and stored nowhere."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    types = models.JSONField(help_text="Types of notifications that it is told.")
    created_at = models.DateTimeField(default=clock.now)
    generation = models.PositiveIntegerField(default=1, help_text="How many secrets it has had.")
    rotated_at = models.DateTimeField(null=True, help_text="When its present secret replaced another.")
    off_since = models.DateTimeField(null=True)
    reason = models.CharField(max_length=200, blank=True, help_text="Why the site switched it off.")
    failing_since = models.DateTimeField(null=True, help_text="Its first failure after the last success.")
    failures = models.PositiveIntegerField(default=0, help_text="Failures one after the other.")
    rests_until = models.DateTimeField(null=True, help_text="After failures: it is told nothing before.")

    free_text = ("url",)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.host

    @property
    def host(self) -> str:
        """The host of its address. The rest may be as secret as a password."""
        return urlsplit(self.url).netloc

    @property
    def state(self) -> str:
        """``on``, ``failing`` or ``off``."""
        if self.off_since:
            return "off"
        return "failing" if self.failing_since else "on"


class Delivery(models.Model):
    """One notification for one webhook: when it is tried next, or how it ended."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    notification = models.ForeignKey(Notification, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True, default=clock.now, db_index=True, help_text="Null: not tried again.")
    tried_at = models.DateTimeField(null=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="Status of the last answer; null: none came.")
    error = models.CharField(max_length=200, blank=True, help_text="Why the last try failed, in one line.")

    free_text = ("error",)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["webhook", "notification"], name="delivery_once_per_webhook")]

    def __str__(self) -> str:
        return f"{self.notification} to {self.webhook}"
