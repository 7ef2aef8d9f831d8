"""Who works: pseudonyms, platform ids, exclusions, and the tests that workers pass before their first HIT."""

import secrets
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from core import clock
from core.models import DatedRow, NamedRow, SignedRow
from corpus.models import Caption, Collection, Image
from hits.models import Round


def new_pseudonym() -> str:
    return secrets.token_hex(6)


class ConsentSheet(models.Model):
    """What people read before they agree to take part, word for word as HTML. Only added; its key is its version."""

    text = models.TextField()
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the text.")
    made_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"consent sheet {self.pk}"


class ConsentWords(SignedRow):
    """What the pages of a round say of its own: parts of the consent sheet, and the guide. Only added: the latest
    counts. A HIT keeps the guide of the time when it was taken."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="consent_words")
    researchers = models.TextField(blank=True, help_text="Who asks, and why.")
    payment_terms = models.TextField(blank=True, help_text="How and when workers of the browser pool are paid.")
    contact = models.CharField(max_length=200, blank=True, help_text="A mail address or a web page.")
    levels = models.JSONField(default=dict, help_text="Own name and meaning of each level, by the level.")
    examples = models.JSONField(default=list, help_text="Own examples: image, level, sentence, why.")

    free_text = ("researchers", "payment_terms")

    def __str__(self) -> str:
        return f"consent words {self.pk} of {self.round}"


class Worker(models.Model):
    """A person who judges, known by a pseudonym only."""

    pseudonym = models.CharField(max_length=12, unique=True, default=new_pseudonym)
    consented_at = models.DateTimeField(null=True)
    forgotten_at = models.DateTimeField(null=True, help_text="When the platform ids were erased for good.")
    link_version = models.PositiveIntegerField(default=0, help_text="Links of earlier versions are void.")
    simulated = models.BooleanField(default=False, help_text="A program that plays a worker; its votes are marked.")
    created_at = models.DateTimeField(default=clock.now)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="To whom their case is assigned: who decides on their flagged work.",
    )

    def __str__(self) -> str:
        return self.pseudonym


class CaseNote(SignedRow):
    """What a member of staff notes on a worker's case, for other staff. Only added."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="case_notes")
    text = models.TextField()

    free_text = ("text",)
    personal_text = ("worker", "text")

    def __str__(self) -> str:
        return f"note on {self.worker_id}"


class Consent(DatedRow):
    """A worker's agreement to a version of the consent sheet, in a round. Only added: the latest of a round counts."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="consents")
    round = models.ForeignKey(
        Round, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Null: not noted, or gone."
    )
    sheet = models.ForeignKey(ConsentSheet, on_delete=models.PROTECT, related_name="consents")

    def __str__(self) -> str:
        return f"consent of {self.worker_id} to sheet {self.sheet_id}"


class WantsCall(models.Model):
    """A row that has to be reported to a platform. ``crowd`` makes the call, and notes here what concerns this app."""

    class Call(models.TextChoices):
        NONE = "", "none"
        WANTED = "wanted", "wanted (not yet in the outbox)"
        UNDER_WAY = "under way", "under way (the platform may be acting on it, or have acted)"

    call = models.CharField(max_length=9, choices=Call, blank=True, default=Call.NONE)

    class Meta:
        abstract = True


class WorkerIdentity(models.Model):
    """A worker's id on a platform: the only place where it is stored, erasable on its own."""

    OURS = ("browser", "simulation")  # channels whose ids we make up: they identify no person

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="identities")
    channel = models.CharField(max_length=20)
    environment = models.CharField(max_length=20, blank=True)
    external_id = models.CharField(max_length=120)

    class Meta:
        verbose_name_plural = "worker identities"
        constraints = [
            models.UniqueConstraint(fields=["channel", "environment", "external_id"], name="identity_once_per_platform")
        ]

    def __str__(self) -> str:
        return f"{self.channel} identity of {self.worker_id}"


class Exclusion(WantsCall, SignedRow):
    """A worker who gets no more HITs from us. Judgments and pay stay as they are; it can be lifted."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="exclusions")
    reason = models.TextField()
    lifted_at = models.DateTimeField(null=True)

    free_text = ("reason",)

    class Meta(SignedRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["worker"], condition=Q(lifted_at=None), name="one_standing_exclusion")
        ]

    def __str__(self) -> str:
        return f"exclusion of {self.worker}"


class Pause(SignedRow):
    """A worker who gets no more HITs of one round for now. What they hold they may finish; it ends once lifted."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="pauses")
    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="+")
    reason = models.TextField()
    lifted_at = models.DateTimeField(null=True)

    free_text = ("reason",)

    class Meta(SignedRow.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "round"], condition=Q(lifted_at=None), name="one_standing_pause_in_a_round"
            )
        ]

    def __str__(self) -> str:
        return f"pause of {self.worker} in {self.round}"


class QualificationTest(NamedRow):
    """A fixed set of pairs with known polarity, or of sentences that are written correctly or not. Passed with at least
    ``pass_mark`` right, within ``attempts`` tries."""

    made_by = "make_test"

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="+")
    pass_mark = models.PositiveSmallIntegerField(help_text="Right answers needed.")
    attempts = models.PositiveSmallIntegerField(default=2, help_text="Tries that one worker has.")
    seed = models.BigIntegerField()
    disputed = models.BooleanField(default=False, help_text="Its pairs are those on which workers disagreed.")
    created_at = models.DateTimeField(default=clock.now)


class TestItem(models.Model):
    """A pair's place (from 1) in a test and whether it is a match; or that of a ``sentence`` without image and caption,
    and whether it is written correctly."""

    __test__ = False

    test = models.ForeignKey(QualificationTest, on_delete=models.CASCADE, related_name="items", db_index=False)
    place = models.PositiveSmallIntegerField()
    image = models.ForeignKey(Image, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    caption = models.ForeignKey(Caption, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    sentence = models.TextField(blank=True, default="")
    polarity = models.CharField(max_length=8, choices=[("positive", "positive"), ("negative", "negative")])
    best_level = models.PositiveSmallIntegerField(
        null=True, help_text="Which of the right levels fits best; practice says so, and nothing is graded by it."
    )
    reason = models.TextField(blank=True, default="", help_text="Why, for practice.")

    class Meta:
        ordering = ["test_id", "place"]
        constraints = [models.UniqueConstraint(fields=["test", "place"], name="test_item_place")]

    def __str__(self) -> str:
        return f"item {self.place} of test {self.test_id}"

    @property
    def words(self) -> str:
        """The sentence that is shown."""
        return self.caption.text if self.caption else self.sentence


class TestAttempt(DatedRow):
    """One try of a worker at a test. Only added."""

    __test__ = False

    test = models.ForeignKey(QualificationTest, on_delete=models.PROTECT, related_name="tries")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="tests")
    number = models.PositiveSmallIntegerField(help_text="From 1.")
    answers = models.JSONField(help_text="Level by place.")
    right = models.PositiveSmallIntegerField()
    passed = models.BooleanField()

    class Meta(DatedRow.Meta):
        constraints = [models.UniqueConstraint(fields=["test", "worker", "number"], name="test_attempt_number")]

    def __str__(self) -> str:
        return f"try {self.number} of {self.worker_id} at {self.test_id}"


class Admission(models.Model):
    """Who may join a round of the browser pool. A round without one admits every person with its link."""

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="admission")
    capacity = models.PositiveIntegerField(null=True, help_text="Maximum number of workers; null: no limit.")
    per_worker = models.PositiveIntegerField(null=True, help_text="Maximum number of HITs of a worker; null: no limit.")
    test = models.ForeignKey(
        QualificationTest,
        null=True,
        on_delete=models.PROTECT,
        related_name="admissions",
        help_text="Test to pass before the first HIT.",
    )
    practice = models.ForeignKey(
        QualificationTest,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Its pairs may be judged for practice, with the right answers shown afterwards.",
    )
    invited = models.BooleanField(default=False, help_text="Nobody joins by the join link, only by an invitation.")

    def __str__(self) -> str:
        return f"admission to {self.round}"

    def terms(self) -> dict[str, Any]:
        """Return the limits that are set, by name."""
        tests = {"test": self.test, "practice": self.practice}
        named: dict[str, Any] = {name: test.name for name, test in tests.items() if test}
        named |= {"capacity": self.capacity, "per_worker": self.per_worker, "invited": self.invited or None}
        return {name: value for name, value in named.items() if value is not None}


class Participant(models.Model):
    """A worker who joined a round by its link. They count against its capacity whether they take a HIT or not."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="participants", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="+")
    joined_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["round", "worker"], name="a_worker_joins_once")]

    def __str__(self) -> str:
        return f"{self.worker_id} in round {self.round_id}"


class Invitation(models.Model):
    """A link by which one person may join a round, once. Its secret is the signature in the link."""

    class State(models.TextChoices):
        UNUSED = "unused"
        USED = "used"
        REVOKED = "revoked"

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="invitations")
    by = models.CharField(max_length=150)
    made_at = models.DateTimeField(default=clock.now)
    used_by = models.ForeignKey(Worker, null=True, on_delete=models.PROTECT, related_name="+")
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"invitation {self.pk}"

    @property
    def state(self) -> "Invitation.State":
        if self.used_by_id:
            return self.State.USED
        return self.State.REVOKED if self.revoked_at else self.State.UNUSED
