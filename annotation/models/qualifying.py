"""Who is let in: workers who joined a round, tests that they pass before they get HITs, and who passed."""

from django.db import models
from django.utils import timezone

from annotation.models.work import Worker
from corpus.models import Caption, Collection, Image
from hits.models import Round


class QualificationTest(models.Model):
    """A fixed set of pairs with known polarity. Passed with at least ``pass_mark`` right, within ``attempts`` tries."""

    name = models.SlugField(max_length=80, unique=True)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="+")
    pass_mark = models.PositiveSmallIntegerField(help_text="Right answers needed.")
    attempts = models.PositiveSmallIntegerField(default=2, help_text="Tries that one worker has.")
    seed = models.BigIntegerField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class TestItem(models.Model):
    """A pair's place (from 1) in a test and whether it is a match."""

    __test__ = False

    test = models.ForeignKey(QualificationTest, on_delete=models.CASCADE, related_name="items", db_index=False)
    place = models.PositiveSmallIntegerField()
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+", db_index=False)
    caption = models.ForeignKey(Caption, on_delete=models.PROTECT, related_name="+", db_index=False)
    polarity = models.CharField(max_length=8, choices=[("positive", "positive"), ("negative", "negative")])

    class Meta:
        ordering = ["test_id", "place"]
        constraints = [models.UniqueConstraint(fields=["test", "place"], name="test_item_place")]

    def __str__(self) -> str:
        return f"pair {self.place} of test {self.test_id}"


class TestAttempt(models.Model):
    """One try of a worker at a test. Only added."""

    __test__ = False

    test = models.ForeignKey(QualificationTest, on_delete=models.PROTECT, related_name="tries")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="tests")
    number = models.PositiveSmallIntegerField(help_text="From 1.")
    answers = models.JSONField(help_text="Level by place.")
    right = models.PositiveSmallIntegerField()
    passed = models.BooleanField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["test", "worker", "number"], name="test_attempt_number")]

    def __str__(self) -> str:
        return f"try {self.number} of {self.worker_id} at {self.test_id}"


class Participant(models.Model):
    """A worker who joined a round by its link. They count against its capacity whether they take a HIT or not."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="participants", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="+")
    joined_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["round", "worker"], name="a_worker_joins_once")]

    def __str__(self) -> str:
        return f"{self.worker_id} in round {self.round_id}"
