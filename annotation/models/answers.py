"""What people said and what we conclude: drafts, judgments, verdicts and released versions."""

from django.db import models
from django.utils import timezone

from annotation.models.work import Assignment, Worker
from corpus.models import Caption, Image
from hits.models import Item
from hits.question import Level, Shortcoming, WrongWay


class Draft(models.Model):
    """An answer that its worker may still change: saved as they go, kept when they leave."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="drafts")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    level = models.PositiveSmallIntegerField(choices=Level)
    shortcoming = models.CharField(max_length=14, choices=Shortcoming, blank=True)
    wrong_way = models.CharField(max_length=11, choices=WrongWay, blank=True)
    saved_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "item"], name="one_draft_per_item")]

    def __str__(self) -> str:
        return f"draft of item {self.item_id}: {self.level}"


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    def of_candidates(self) -> "JudgmentQuerySet":
        """Answers on the pairs that were asked about; controls never become verdicts."""
        return self.filter(item__control__isnull=True)

    def counted(self) -> "JudgmentQuerySet":
        """Answers whose assignment was accepted."""
        return self.filter(assignment__state=Assignment.State.ACCEPTED)


class Judgment(models.Model):
    """One worker's answer on one pair. Only added: corrections stand beside it, exclusion leaves it uncounted.

    ``image`` and ``caption`` repeat the item's, so that the database itself can hold to one answer per
    worker and pair.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="judgments")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="judgments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="judgments")
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    caption = models.ForeignKey(Caption, on_delete=models.PROTECT, related_name="+")
    level = models.PositiveSmallIntegerField(choices=Level)
    shortcoming = models.CharField(max_length=14, choices=Shortcoming, blank=True)
    wrong_way = models.CharField(max_length=11, choices=WrongWay, blank=True)
    at = models.DateTimeField(default=timezone.now)

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["worker", "image", "caption"], name="one_answer_per_worker_and_pair"),
            models.UniqueConstraint(fields=["assignment", "item"], name="one_answer_per_assignment_and_item"),
            models.CheckConstraint(condition=models.Q(level__range=(1, 4)), name="judgment_level"),
        ]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.level}"
