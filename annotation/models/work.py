"""What workers do: their assignments, drafts and judgments."""

from django.db import models
from django.db.models import OuterRef, Q
from django.utils.translation import gettext_noop

from annotation.models.people import Worker
from core import clock
from core.errors import CounterpartError
from core.models import DatedRow
from core.web.signatures import signature
from corpus.models import Caption, Image, brought_by
from hits.models import HIT, Item, Round, Seat, TopUp
from hits.question import Level, Shortcoming, WrongWay
from hits.task_types import task_type_of

RECEIPT = "hits.receipt"  # the salt of its signature
RECEIPT_LENGTH = 10
CLAIM = Q(seat=None, state="leased")
"""Work that a visitor says is theirs, until it is confirmed outside (``submitted_at``) and taken in."""


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def numbered(self, number: int) -> "Assignment":
        """Return the assignment that pages show under this number. Raises CounterpartError if there is none."""
        if found := self.filter(pk=number if number < 2**63 else 0).select_related("hit__round", "worker").first():
            return found
        raise CounterpartError(f"Unknown assignment {number}. Its page shows its number.")

    def without_claims(self) -> "AssignmentQuerySet":
        """Leave out claims."""
        return self.exclude(CLAIM)

    def with_hit(self) -> "AssignmentQuerySet":
        """Leave out visitors of a platform who were given no HIT and are paid for coming."""
        return self.filter(has_hit=True)

    def lost(self) -> "AssignmentQuerySet":
        """Leases that ran out and whose seat another worker has."""
        holders = Assignment.objects.filter(seat=OuterRef("seat"), state__in=Assignment.HOLDING)
        others = holders.exclude(worker=OuterRef("worker"))
        return self.filter(models.Exists(others), state=Assignment.State.EXPIRED)

    def waiting(self) -> "AssignmentQuerySet":
        """Claims that are confirmed and not taken in."""
        return self.filter(CLAIM, submitted_at__isnull=False)


class Assignment(models.Model):
    """One worker's turn at a HIT: leased → submitted → accepted | flagged → accepted | excluded,
    or leased → returned | expired.

    It holds a seat from the start, but for a claim: a visitor who says that they have taken the HIT elsewhere gets a
    seat once that is confirmed.
    """

    class State(models.TextChoices):
        LEASED = "leased"
        SUBMITTED = "submitted"
        FLAGGED = "flagged", "flagged for a human check"
        ACCEPTED = "accepted"
        EXCLUDED = "excluded"
        RETURNED = "returned"
        EXPIRED = "expired"

    HOLDING = (State.LEASED, State.SUBMITTED, State.FLAGGED, State.ACCEPTED)
    ABANDONED = (State.RETURNED, State.EXPIRED)
    SUBMITTED = (State.SUBMITTED, State.FLAGGED, State.ACCEPTED, State.EXCLUDED)
    # The seat of an expired lease may still be free, so late answers are accepted.
    ANSWERABLE = (State.LEASED, State.EXPIRED)

    seat = models.ForeignKey(
        Seat,
        null=True,
        on_delete=models.PROTECT,
        related_name="assignments",
        help_text="Null: a claim, or paid for without being counted.",
    )
    hit = models.ForeignKey(HIT, on_delete=models.PROTECT, related_name="assignments")
    has_hit = models.BooleanField(
        default=True, help_text="False: the session was given no HIT; ``hit`` says only which round it is of."
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=9, choices=State, default=State.LEASED)
    leased_at = models.DateTimeField(default=clock.now)
    deadline = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)
    active_seconds = models.PositiveIntegerField(null=True, help_text="Time with the page visible and in use.")
    channel = models.CharField(max_length=20, blank=True, help_text="Of its answers, where it is not the round's.")
    outside_key = models.CharField(
        max_length=64,
        blank=True,
        help_text="Its key outside, which the order of its pairs follows from; empty in the browser pool.",
    )
    problem = models.TextField(blank=True, help_text="What a person has to look at.")
    receipt = models.CharField(max_length=24, blank=True, help_text="Shown to the worker as proof of submission.")
    control_failures = models.PositiveSmallIntegerField(
        null=True, help_text="Gold controls answered wrong; null before grading."
    )
    repeats = models.JSONField(
        default=list,
        db_default=[],
        help_text="Answers to pairs that were asked about again: lists of an item, the item that it repeats, a level.",
    )
    signals = models.JSONField(
        default=list,
        db_default=[],
        help_text="Evidence of how it was made, for a person: a list of names and sentences (annotation.work.signals).",
    )
    batch = brought_by()

    objects = AssignmentQuerySet.as_manager()

    free_text = ("problem",)

    class Meta:
        ordering = ["id"]
        permissions = [("decide_assignment", "May decide whether votes count and work is paid")]
        indexes = [
            models.Index(fields=["state", "deadline"]),
            models.Index(fields=["worker", "hit"]),
            models.Index(fields=["batch"], condition=Q(batch__isnull=False), name="assignments_of_a_batch"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["seat"],
                condition=Q(state__in=("leased", "submitted", "flagged", "accepted")),
                name="one_holder_of_a_seat",
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=~Q(state__in=("returned", "expired", "excluded")) & Q(seat__isnull=False),
                name="a_worker_answers_a_hit_once",
            ),
            models.CheckConstraint(
                condition=Q(seat__isnull=False)
                | Q(state__in=("flagged", "excluded"))
                | (Q(state="leased") & ~Q(outside_key="")),
                name="only_work_from_outside_lacks_a_seat",
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk} ({self.state})"

    @property
    def is_outside(self) -> bool:
        """Whether its worker came from outside the browser pool, and finishes it there."""
        return bool(self.outside_key)

    @property
    def is_submitted(self) -> bool:
        """Whether it was submitted, here or outside."""
        return self.state in self.SUBMITTED or (self.is_claim and self.submitted_at is not None)

    @property
    def receipt_code(self) -> str:
        """The code that proves to us that it was submitted: its number and a signature."""
        return f"{self.pk}-{signature(RECEIPT, str(self.pk), length=RECEIPT_LENGTH)}"

    @property
    def is_answerable(self) -> bool:
        """Whether its worker may still answer it, also late: nothing answered is lost for that."""
        is_open = self.state in self.ANSWERABLE and not self.is_submitted
        return is_open or self.may_be_answered_yet

    @property
    def may_be_answered_yet(self) -> bool:
        """Whether its worker may still answer it although a person has to decide on it."""
        return self.state == self.State.FLAGGED and not self.receipt and self.seat_id is not None

    @property
    def is_claim(self) -> bool:
        """Whether it waits to be confirmed, or to be taken in once it is."""
        return self.seat_id is None and self.state == self.State.LEASED


class Norm(models.Model):
    """What is usual in a round's accepted work, which signals compare an answer set with. Measured again as the work
    grows; it decides nothing by itself."""

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="norm")
    answer_sets = models.PositiveIntegerField(help_text="Filled seats when it was measured.")
    pace = models.JSONField(null=True, help_text="Median and spread of people's log seconds a pair; null: too few.")
    shares = models.JSONField(help_text="Of the levels 1 to 4 among the answers.")
    annotators = models.JSONField(default=list, help_text="Keys, in the order of the weights.")
    weights = models.JSONField(default=list, help_text="Of the expected answers; empty: too few to tell.")

    def __str__(self) -> str:
        return f"norm of round {self.round_id}"


class Draft(models.Model):
    """An answer that its worker may still change: saved as they go, kept when they leave."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="drafts")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    level = models.PositiveSmallIntegerField(choices=Level)
    shortcoming = models.CharField(max_length=14, choices=Shortcoming, blank=True)
    wrong_way = models.CharField(max_length=11, choices=WrongWay, blank=True)
    text = models.TextField(blank=True, default="", db_default="", help_text="What the worker wrote.")
    seconds = models.PositiveIntegerField(null=True, help_text="Active time on this pair so far; null if unknown.")
    saved_at = models.DateTimeField(default=clock.now)

    personal_text = ("assignment__worker", "text")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "item"], name="one_draft_per_item")]

    def __str__(self) -> str:
        return f"draft of item {self.item_id}: {self.level}"


class Report(DatedRow):
    """What a worker says is wrong with what an item shows; it changes no answer, no control and no pay. ``image`` and
    ``caption`` repeat the item's."""

    class Problem(models.TextChoices):
        PICTURE = "picture", gettext_noop("the picture is missing or broken")
        TEXT = "text", gettext_noop("the sentence cannot be read")
        OFFENSIVE = "offensive", gettext_noop("the picture or the sentence is offensive")
        OTHER = "other", gettext_noop("something else")

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="reports")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="reports", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="reports")
    image = models.ForeignKey(Image, null=True, on_delete=models.PROTECT, related_name="reports")
    caption = models.ForeignKey(Caption, null=True, on_delete=models.PROTECT, related_name="reports")
    problem = models.CharField(max_length=9, choices=Problem)
    note = models.TextField(blank=True, max_length=300)

    personal_text = ("worker", "note")

    class Meta(DatedRow.Meta):
        constraints = [models.UniqueConstraint(fields=["worker", "item"], name="one_report_per_worker_and_item")]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.problem}"


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    def of_candidates(self) -> "JudgmentQuerySet":
        """Answers on the pairs that were asked about; controls never become verdicts."""
        return self.filter(item__control__isnull=True)

    def counted(self) -> "JudgmentQuerySet":
        """Answers whose assignment was accepted."""
        return self.filter(assignment__state=Assignment.State.ACCEPTED)

    def finished(self) -> "JudgmentQuerySet":
        """Answers without those to top-ups that wait for more of them: what a round is estimated by."""
        return self.exclude(assignment__hit__top_up__in=TopUp.objects.unfinished())

    def simulated(self) -> "JudgmentQuerySet":
        """Answers of programs: of workers that a simulation plays, and of everybody in a rehearsal."""
        return self.filter(Q(worker__simulated=True) | Q(assignment__hit__round__rehearsal=True))


class Judgment(DatedRow):
    """One worker's answer on one pair. Only added: a correction is a Review, exclusion leaves it uncounted.

    ``image`` and ``caption`` repeat the item's, so that the database itself can hold to one answer per worker and
    pair; about a caption or an image alone, per worker and item, as a round asks about each once. ``text`` is a caption
    that was written, an answer with level 1.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="judgments")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="judgments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="judgments")
    image = models.ForeignKey(Image, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    caption = models.ForeignKey(Caption, null=True, on_delete=models.PROTECT, related_name="+")
    level = models.PositiveSmallIntegerField(choices=Level)
    shortcoming = models.CharField(max_length=14, choices=Shortcoming, blank=True)
    wrong_way = models.CharField(max_length=11, choices=WrongWay, blank=True)
    text = models.TextField(blank=True, default="", db_default="", help_text="What the worker wrote.")
    seconds = models.PositiveIntegerField(null=True, help_text="Active time on this pair; null if unknown.")

    objects = JudgmentQuerySet.as_manager()

    personal_text = ("worker", "text")

    class Meta(DatedRow.Meta):
        constraints = [
            models.UniqueConstraint(fields=["worker", "image", "caption"], name="one_answer_per_worker_and_pair"),
            models.UniqueConstraint(
                fields=["worker", "item"], condition=Q(image=None), name="one_answer_per_worker_and_caption"
            ),
            models.UniqueConstraint(
                fields=["worker", "item"], condition=Q(caption=None), name="one_answer_per_worker_and_image"
            ),
            models.UniqueConstraint(fields=["assignment", "item"], name="one_answer_per_assignment_and_item"),
            models.CheckConstraint(condition=models.Q(level__range=(1, 4)), name="judgment_level"),
        ]
        indexes = [models.Index(fields=["image", "caption"], name="judgments_of_a_pair")]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.level}"

    @property
    def said(self) -> str:
        """The answer in the words of its round's type of task, or what was written."""
        return self.text or task_type_of(self.assignment.hit.round).labels[self.level]
