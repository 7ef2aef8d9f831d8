"""What people said and what we conclude: drafts, judgments, verdicts and released versions."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from corpus.models import Caption, Collection, Image, Sample
from hits.models import Assignment, Item, Round, Worker


class Level(models.IntegerChoices):
    """The four answers, in the paper's words and order (ECCV Caption, section 3.2)."""

    YES = 1, "100% YES"
    PARTIALLY_YES = 2, "Partially YES, but"
    MOSTLY_NO = 3, "Mostly NO, because"
    NO = 4, "100% NO"


class Shortcoming(models.TextChoices):
    """Why a match is not perfect (ECCV Caption, appendix B.1 and table B.3a)."""

    NOT_IN_IMAGE = "not_in_image", "it describes things that do not appear in the picture"
    NOT_IN_CAPTION = "not_in_caption", "it leaves out the main things in the picture"
    WRONG_WAY = "wrong_way", "it describes the main things in a wrong way"
    GRAMMAR = "grammar", "it has a grammatical error"


class WrongWay(models.TextChoices):
    """What is described in a wrong way (ECCV Caption, table B.3b)."""

    QUANTITY = "quantity"
    COLOR = "color"
    SPECIES = "species"
    GENDER = "gender"
    AGE = "age"
    ACTION = "action"
    EMOTION = "emotion"
    LOCATION = "location"
    ORIENTATION = "orientation"
    OTHERS = "others"


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
