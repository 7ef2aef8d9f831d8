"""How other programs reach the site: Token, who may call the API, and KeptAnswer, what a repeated call is told."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class Token(models.Model):
    """Lets a program act for its owner within some scopes, until it expires or is revoked. Of its secret only the
    digest is stored."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80, help_text="What it is for, in its owner's words.")
    identifier = models.CharField(max_length=8, unique=True, help_text="The part of the token that is shown.")
    sha256 = models.CharField(max_length=64, editable=False, help_text="SHA-256 of the whole token.")
    scopes = models.JSONField(help_text="Names of console.api.scopes. The owner's role holds beside them at each use.")
    networks = models.JSONField(default=list, help_text="Where it may be used, as 10.0.0.0/8; empty: anywhere.")
    created_at = models.DateTimeField(default=timezone.now)
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
        return "valid" if self.expires_at > timezone.now() else "expired"


class KeptAnswer(models.Model):
    """The answer to a call that changed something, by its Idempotency-Key: a repeated call is told the same."""

    token = models.ForeignKey(Token, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, help_text="SHA-256 of method, path and body.")
    status = models.PositiveSmallIntegerField(default=0)
    body = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token", "key"], name="answer_once_per_key")]

    def __str__(self) -> str:
        return self.key
