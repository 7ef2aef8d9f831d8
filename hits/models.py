"""Round, TopUp, HIT, Item, Control and Seat: which pairs are judged, and how many answer sets are wanted."""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, ClassVar, Self

from django.db import models, transaction

from core import clock
from core.models import NamedRow
from corpus.models import Caption, Image, brought_by
from hits.prices import WAGE_FLOOR, FeeSchedule
from mitl.models import Pool


class Round(NamedRow):
    """A pool packed into HITs for people to judge: how it was packed, what is paid, and who may take part.

    The time stamps say whether it is a draft, open or closed; its seats say whether it is complete.
    """

    made_by = "pack"

    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="rounds")
    task = models.CharField(max_length=20, default="levels", help_text="Type of task, of hits.task_types.")
    design = models.JSONField(help_text="Composition of a HIT: name, candidates, positives, negatives.")
    reward = models.DecimalField(max_digits=8, decimal_places=2, help_text="US dollars for one assignment.")
    ceiling = models.DecimalField(
        max_digits=12, decimal_places=2, help_text="Maximum cost of the round in US dollars, fees included."
    )
    reasons = models.BooleanField(default=False, help_text="Ask for reasons at levels 2 and 3.")
    wording = models.PositiveSmallIntegerField(
        default=1, help_text="Version of the explanations and reasons that workers read."
    )
    replication = models.PositiveSmallIntegerField(default=1, help_text="Answer sets wanted for each HIT.")
    top_up = models.PositiveSmallIntegerField(
        default=0, help_text="Maximum number of further votes on a pair on which workers disagree."
    )
    seed = models.BigIntegerField(help_text="Seed of the shuffles and of the drawing of controls.")
    plan_hash = models.CharField(max_length=64, help_text="SHA-256 over all items, with the keys of their pairs.")
    summary = models.JSONField(default=dict, help_text="Counts and costs, as shown before publishing.")
    channel = models.CharField(max_length=20, blank=True)
    environment = models.CharField(max_length=20, blank=True)
    join_key = models.CharField(max_length=40, unique=True, help_text="Secret part of the join link.")
    offer = models.JSONField(default=dict, help_text="Title, description and requirements of the HITs on a platform.")
    wage_floor = models.DecimalField(
        max_digits=6, decimal_places=2, default=WAGE_FLOOR, help_text="Minimum wage in US dollars an hour."
    )
    expected_seconds = models.PositiveIntegerField(
        null=True, help_text="Expected active time of a HIT: measured in a pilot or stated when publishing."
    )
    language = models.CharField(
        max_length=10, blank=True, help_text="Language of the pages of workers; empty: that of their browser."
    )
    fees = models.JSONField(default=dict, help_text="The channel's fees when the round was published.")
    settles = models.BooleanField(
        default=False, help_text="The channel itself holds and pays the money; otherwise we pay and mark it paid."
    )
    rehearsal = models.BooleanField(
        default=False, help_text="Published where nobody is paid and workers may be simulated."
    )
    created_at = models.DateTimeField(default=clock.now)
    published_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True, help_text="Since when a person has it take nobody new.")
    closed_at = models.DateTimeField(null=True)
    told_tenths = models.PositiveSmallIntegerField(
        default=0, help_text="How many tenths of its answer sets other programs were told to be filled."
    )
    told_ceiling = models.BooleanField(default=False, help_text="They were told that its ceiling is reached.")

    class Meta:
        ordering = ["-created_at"]
        permissions = [
            ("launch_round", "May pack, publish and close rounds"),
            ("publish_below_floor", "May publish rounds that may pay less than their wage floor"),
        ]

    @property
    def state(self) -> str:
        """``draft``, ``open`` or ``closed``."""
        if self.closed_at:
            return "closed"
        return "open" if self.published_at else "draft"

    @property
    def takes_workers(self) -> bool:
        """Whether it is open and not paused."""
        return self.state == "open" and self.paused_at is None

    @property
    def fee_schedule(self) -> FeeSchedule:
        return FeeSchedule.from_json(self.fees)

    @property
    def seat_cost(self) -> Decimal:
        """The cost of one answer set in US dollars with its fee; before publication without one."""
        return self.fee_schedule.cost(self.reward)

    @contextmanager
    def held_for_summary(self) -> Iterator["Round"]:
        """Give the round as it is now, locked, and store what the body changes of its summary."""
        with transaction.atomic():
            held = Round.objects.select_for_update(no_key=True).get(pk=self.pk)
            yield held
            held.save(update_fields=["summary"])
        self.summary = held.summary


class Control(models.Model):
    """A gold pair, whose right levels are known. Its state reflects how good workers answer it.

    Here and below, foreign keys that lead a unique index, or by which nothing is looked up, have no index of their own.
    """

    class Polarity(models.TextChoices):
        POSITIVE = "positive"
        NEGATIVE = "negative"

    class State(models.TextChoices):
        ACTIVE = "active"
        SUSPECTED = "suspected"
        RETIRED = "retired"

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="controls", db_index=False)
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+", db_index=False)
    caption = models.ForeignKey(Caption, on_delete=models.PROTECT, related_name="+", db_index=False)
    polarity = models.CharField(max_length=8, choices=Polarity)
    state = models.CharField(max_length=9, choices=State, default=State.ACTIVE)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "image", "caption"], name="control_once_per_round")]

    def __str__(self) -> str:
        return f"{self.polarity} {self.image_id} - {self.caption_id}"


class TopUpQuerySet(models.QuerySet["TopUp"]):
    _asks_nothing_new: ClassVar[dict[str, Any]] = {
        "rankings": {},
        "audit_share": None,
        "opened__isnull": True,
        "rejected__isnull": True,
    }

    def for_disputes(self) -> Self:
        """Further votes on pairs that the round asks already."""
        return self.filter(**self._asks_nothing_new)

    def of_new_pairs(self) -> Self:
        return self.exclude(**self._asks_nothing_new)

    def unfinished(self) -> Self:
        """Those of new pairs that wait for answers. Until they are in, the round is estimated without them."""
        waiting = Seat.objects.filter(state__in=Seat.UNFILLED, hit__top_up__isnull=False).values("hit__top_up")
        return self.of_new_pairs().filter(pk__in=waiting)


class TopUp(models.Model):
    """HITs that were added to a round; ``number`` counts from 1. They ask disputed or doubtful pairs once more,
    the first items of models that did not propose into its pool, further queries of an audit, likely matches, or a
    random sample of unlikely ones that the round rejects.

    ``avoided`` holds what was avoided then, as keys of image and caption (``hits.controls.Keys``).
    """

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="top_ups", db_index=False)
    number = models.PositiveSmallIntegerField()
    plan_hash = models.CharField(max_length=64, help_text="SHA-256 over its items, as of the round's plan.")
    avoided = models.JSONField(default=list)
    rankings = models.JSONField(default=dict, help_text="Checksum of the rankings of each such model, by its name.")
    audit_share = models.FloatField(null=True, help_text="Share of the queries that the audit judges with it.")
    opened = models.JSONField(
        null=True,
        help_text="Of likely matches: the pairs (keys) of audited queries that their order came to beside them.",
    )
    rejected = models.JSONField(
        null=True,
        help_text="Of unlikely pairs: the probability up to which they are rejected (below), and all of them (pairs), "
        "by their keys.",
    )
    created_at = models.DateTimeField(default=clock.now)

    objects = TopUpQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["round", "number"], name="top_up_number_in_round")]

    def __str__(self) -> str:
        return f"top-up {self.number} of {self.round_id}"

    @property
    def purpose(self) -> str:
        """What its HITs ask, in words."""
        if self.rankings:
            return f"the first items of {', '.join(sorted(self.rankings))}"
        if self.audit_share is not None:
            return f"an audit of {self.audit_share:.0%} of the queries"
        if self.rejected is not None:
            return f"a random sample of {len(self.rejected['pairs']):,} pairs to reject"
        return "further votes on pairs asked before" if self.opened is None else "likely matches"


class HIT(models.Model):
    """A task of 18 pairs (by default) that one worker judges in one sitting."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="hits", db_index=False)
    number = models.PositiveIntegerField(help_text="From 1, in packing order.")
    top_up = models.ForeignKey(
        TopUp,
        null=True,
        on_delete=models.CASCADE,
        related_name="hits",
        db_index=False,
        help_text="Null: of the round's plan.",
    )

    class Meta:
        ordering = ["number"]
        verbose_name = "HIT"
        constraints = [models.UniqueConstraint(fields=["round", "number"], name="hit_number_in_round")]

    def __str__(self) -> str:
        return f"HIT {self.number}"


class AskedItemManager(models.Manager["Item"]):
    """The items whose answers are judgments: without those that ask about a pair a second time."""

    def get_queryset(self) -> models.QuerySet["Item"]:
        return super().get_queryset().filter(repeat_of=None)


class Item(models.Model):
    """A pair in a HIT, at a place from 1. ``control`` is set if the pair is a gold control; ``image`` is null where the
    round's type of task asks about captions alone, ``caption`` where it asks about images alone. An item that repeats
    another of its HIT is only shown to workers: nothing else counts it."""

    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="items", db_index=False)
    place = models.PositiveSmallIntegerField()
    image = models.ForeignKey(Image, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    caption = models.ForeignKey(Caption, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    control = models.ForeignKey(Control, null=True, on_delete=models.PROTECT, related_name="items", db_index=False)

    content = models.JSONField(null=True, help_text="Rankings of images that are shown beside its caption.")
    repeat_of = models.ForeignKey(
        "self",
        null=True,
        on_delete=models.CASCADE,
        related_name="repeats",
        db_index=False,
        help_text="The item that it asks about again; its answer is no vote.",
    )

    objects = AskedItemManager()
    shown: ClassVar[models.Manager["Item"]] = models.Manager()

    class Meta:
        ordering = ["hit_id", "place"]
        constraints = [
            models.UniqueConstraint(fields=["hit", "place"], name="item_place_in_hit"),
            models.UniqueConstraint(
                fields=["hit", "image", "caption"], condition=models.Q(repeat_of=None), name="item_pair_in_hit"
            ),
            models.UniqueConstraint(
                fields=["hit", "caption"], condition=models.Q(image=None), name="item_caption_in_hit"
            ),
            models.UniqueConstraint(
                fields=["hit", "image"], condition=models.Q(caption=None), name="item_image_in_hit"
            ),
        ]
        indexes = [
            models.Index(fields=["control"], condition=models.Q(control__isnull=False), name="items_of_a_control"),
            models.Index(fields=["repeat_of"], condition=models.Q(repeat_of__isnull=False), name="repeats_of_an_item"),
        ]

    def __str__(self) -> str:
        return f"item {self.place} of HIT {self.hit_id}"


class Seat(models.Model):
    """One wanted answer set of a HIT: open, taken by a worker, or filled with answers that count. ``round`` repeats the
    HIT's, so that a round's open seats are found and counted from the index alone."""

    class State(models.TextChoices):
        OPEN = "open"
        TAKEN = "taken"
        FILLED = "filled", "filled (its answers count)"

    UNFILLED = (State.OPEN, State.TAKEN)

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="seats", db_index=False)
    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="seats", db_index=False)
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=6, choices=State, default=State.OPEN)
    batch = brought_by("added it")

    class Meta:
        ordering = ["hit_id", "number"]
        constraints = [models.UniqueConstraint(fields=["hit", "number"], name="seat_number_in_hit")]
        indexes = [models.Index(fields=["round", "state", "hit", "number"], name="seats_of_a_round")]

    def __str__(self) -> str:
        return f"seat {self.number} of HIT {self.hit_id} ({self.state})"
