"""The parameters of ``pack`` and ``plan_round``, for the commands, the page, the job and the API."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self

from django import forms
from django.core.exceptions import ValidationError

from core.errors import CounterpartError
from core.parameters import POSITIONAL, Option, Parameters, ShareField, choices
from core.seeds import SeedField
from core.text import MAX_NAME, NameField
from counterpart_statistics.audits import STOP_RECALL
from hits.judge_designs import GUARD_QUERIES, GUARD_SHARE, JUDGES, LARGEST_GUARD, JudgeDesign, guard_share
from hits.packing.designs import DEFAULT, DESIGNS, Design, load_design, parse_design
from hits.packing.plan import Sharing
from hits.prices import WAGE_FLOOR, cents, fair_reward
from hits.task_types import TASK_TYPES
from hits.task_types.levels import LEVELS
from hits.task_types.task_type import TaskType
from mitl.search.search_parameters import PoolingParameters, SearchParameters

AUDIT_SHARE = 0.3
"""Usual share of the queries in an audit that no greedy order follows."""
GREEDY_ALONE = ("stop_recall", "stop_width")
"""The parameters of a greedy order."""


def _replications() -> str:
    """Return the default of each type of task, as in "1; checkbox 3"."""
    return "; ".join(["1", *(f"{task} {task.replication}" for task in TASK_TYPES.values() if task.replication != 1)])


class DollarField(forms.DecimalField):
    """US dollars from 0, in whole cents."""

    metavar = "DOLLARS"

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_digits", 12)
        super().__init__(min_value=Decimal(0), decimal_places=2, **kwargs)

    def clean(self, value: Any) -> Decimal | None:
        amount = super().clean(value)
        return None if amount is None else cents(amount)


class DesignField(forms.Field):
    """The composition of a HIT: the name of one in DESIGNS, a JSON object, or a Design; None for that of the type of
    task. Files are not read here."""

    metavar = "|".join([*DESIGNS, "FILE"])
    json_schema: ClassVar[dict[str, Any]] = {"type": ["string", "object"]}
    widget = forms.Select(
        choices=[
            ("", f"default of the type of task, otherwise {DEFAULT}"),
            *(
                (
                    name,
                    f"{name}: {design.candidates} candidates, {design.positives} + {design.negatives} controls"
                    + (f", {design.repeats} asked twice" if design.repeats else ""),
                )
                for name, design in DESIGNS.items()
            ),
        ]
    )

    def to_python(self, value: Any) -> Design | None:
        if isinstance(value, Design):
            return value
        if value in self.empty_values:
            return None
        try:
            return parse_design(value)
        except CounterpartError as error:
            raise ValidationError(str(error)) from error


def unused_by(task: TaskType) -> set[str]:
    """Return the parameters of PackParameters that a round of this type has no use for."""
    used = {
        "design": task.design is None,
        "positives": task.from_matches,
        "reasons": bool(task.asks),
        "top_up": task.on_pairs and task.group == 1,
        **dict.fromkeys(("judge", "audit_share", *GREEDY_ALONE), task.on_pairs and task.group == 1),
    }
    return {name for name, is_used in used.items() if not is_used}


class PackParameters(Parameters):
    """How a pool is packed into a round, what workers are paid, and what the round may cost."""

    task: Annotated[
        str,
        forms.ChoiceField(
            choices=[(name, f"{name}: {task.label}") for name, task in TASK_TYPES.items()],
            help_text="type of task: what is asked, and how",
        ),
    ] = LEVELS.name
    design: Annotated[
        Design | None,
        DesignField(
            required=False,
            help_text=f"candidates and gold controls of a HIT (default {DEFAULT}; some types of task have their own)",
        ),
    ] = None
    positives: Annotated[
        str, "match source of the right images in made rankings, such as a version; for the task preference"
    ] = ""
    sharing: Annotated[
        Sharing, "whether items of a HIT may share an image or a caption; avoid: only if the pool requires it"
    ] = "avoid"
    seed: Annotated[
        int | None,
        SeedField(
            required=False,
            help_text="seed of everything that is random (default: drawn at random and recorded, so that workers "
            "cannot compute which pairs are controls)",
        ),
    ] = None
    reward: Annotated[
        Decimal | None,
        DollarField(
            max_digits=8,
            required=False,
            help_text=f"US dollars for one assignment (default: the wage floor of ${WAGE_FLOOR} an hour for as long as "
            "slow workers usually take)",
        ),
    ] = None
    ceiling: Annotated[
        Decimal, DollarField(max_digits=12, help_text="maximum cost of the round in US dollars, fees included")
    ] = Decimal(500)
    replication: Annotated[
        int | None,
        forms.IntegerField(
            required=False,
            min_value=1,
            max_value=99,
            help_text=f"answer sets wanted for each HIT (default {_replications()})",
        ),
    ] = None
    top_up: Annotated[
        int,
        forms.IntegerField(
            min_value=0,
            max_value=99,
            label="Top-up",
            help_text="maximum number of further votes on a pair on which workers disagree; with audit+greedy also on "
            "one of which its votes and its probability leave unsure whether it is a match",
        ),
    ] = 0
    reasons: Annotated[bool, "ask for reasons at levels 2 and 3"] = False
    judge: Annotated[
        str,
        forms.ChoiceField(
            choices=choices(*JUDGES),
            label="Pairs to judge",
            help_text="all pairs of the pool; the first hits of its annotators, which give their R@1; or an audit: all "
            "pairs of some random queries, from which the scores are estimated; or an audit and then, greedily, likely "
            "matches of the other queries until enough are found",
        ),
    ] = "all"
    audit_share: Annotated[
        float | None,
        ShareField(
            help_text=f"share of the queries that an audit judges whole (default {AUDIT_SHARE}; with audit+greedy "
            f"{GUARD_SHARE}, and more, up to {LARGEST_GUARD}, where that is fewer than {GUARD_QUERIES} queries)",
        ),
    ] = None
    stop_recall: Annotated[
        float | None,
        ShareField(
            help_text="with audit+greedy: stop once the probabilities say that this share of the matches is found "
            f"(default {STOP_RECALL})",
        ),
    ] = None
    stop_width: Annotated[
        float | None,
        forms.FloatField(
            required=False,
            min_value=0.001,
            max_value=1,
            help_text="with audit+greedy: stop before that once no interval of mAP@R, of any model and direction, is "
            "wider, such as 0.04",
        ),
        Option(metavar="WIDTH"),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        task = TASK_TYPES[self.task]
        unused = unused_by(TASK_TYPES[self.task])
        if "design" in unused and self.design:
            raise CounterpartError(
                f"Invalid design {self.design}: a HIT of the task {task} is always {task.design}. Leave --design out."
            )
        if bool(self.positives) == ("positives" in unused):
            advice = "name a match source" if not self.positives else f"the task {task} needs none, leave it out"
            raise CounterpartError(f"Invalid option --positives: {advice}.")
        if "reasons" in unused and self.reasons:
            raise CounterpartError(f"Invalid option --reasons: the task {task} asks for none. Leave it out.")
        if "top_up" in unused and self.top_up:
            raise CounterpartError(
                f"Invalid top-up {self.top_up}: the task {task} does not ask about one pair at a time. Leave --top-up "
                "out, or use a greater --replication."
            )
        self._check_choice(unused)

    def _check_choice(self, unused: set[str]) -> None:
        if self.judge != "all" and "judge" in unused:
            task = TASK_TYPES[self.task]
            raise CounterpartError(f"Invalid option --judge {self.judge}: the task {task} asks about all of a pool.")
        if self.audit_share and self.judge not in ("audit", "audit+greedy"):
            raise CounterpartError("Invalid option --audit-share: only --judge audit judges a share of the queries.")
        if self.judge != "audit+greedy" and (given := [name for name in GREEDY_ALONE if getattr(self, name)]):
            options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise CounterpartError(f"Invalid option {options}: only --judge audit+greedy stops by itself.")
        if self.top_up and self.seats < 2 and self.judge != "audit+greedy":
            raise CounterpartError(
                f"Invalid top-up {self.top_up}: workers disagree only if a pair has several votes. Use a --replication "
                "of at least 2, or leave --top-up out."
            )

    @property
    def composition(self) -> Design:
        """The design of a HIT: the type's own where it has one."""
        return TASK_TYPES[self.task].design or self.design or DESIGNS[DEFAULT]

    def judge_design(self, queries: Iterable[int]) -> JudgeDesign:
        """Return which pairs are asked of a pool; ``queries`` are the numbers of queries of its directions."""
        match self.judge:
            case "audit":
                return JudgeDesign("audit", self.audit_share or AUDIT_SHARE)
            case "audit+greedy":
                share = self.audit_share or guard_share(queries)
                recall = self.stop_recall or STOP_RECALL
                return JudgeDesign("audit", share, greedy=True, stop_recall=recall, stop_width=self.stop_width)
            case "first-hits":
                return JudgeDesign("first-hits")
        return JudgeDesign()

    @property
    def seats(self) -> int:
        """Answer sets wanted for each HIT."""
        return self.replication or TASK_TYPES[self.task].replication

    @property
    def pay(self) -> Decimal:
        """US dollars for one assignment."""
        return fair_reward(TASK_TYPES[self.task].usual_seconds) if self.reward is None else self.reward

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Self:
        """Read the options of a command, and the design from its file."""
        design = options["design"]
        return super().from_options({**options, "design": load_design(design) if design else None})


class NewRoundParameters(PackParameters):
    """The round that a pool is packed into."""

    round: Annotated[str, NameField(help_text="name of the new round"), POSITIONAL]


class RoundParameters(SearchParameters, PoolingParameters, PackParameters):
    """A round to plan: its queries, how annotators search for them, what is pooled, and how the pool is packed."""

    round: Annotated[
        str,
        NameField(max_length=MAX_NAME - len("-queries"), label="Name", help_text="name of the new round"),
        POSITIONAL,
    ]
    collection: Annotated[str, "collection to search"]
    queries: Annotated[str, "existing sample instead of a new one"] = ""
    images: Annotated[
        int, forms.IntegerField(min_value=0, label="Query images", help_text="images to draw for a new sample")
    ] = 0
    captions: Annotated[
        int, forms.IntegerField(min_value=0, label="Query captions", help_text="captions to draw for a new sample")
    ] = 0
    pool_only: Annotated[bool, "stop when the pool is made, to look at its pairs; pack them with `pack` then"] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.queries and self.images + self.captions < 1:
            raise CounterpartError(
                f"Round {self.round} has no queries: name a sample, or the number of images or captions to draw."
            )

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Self:
        """Read the options of a command. Unlike a page, it refuses a sample together with numbers."""
        parameters = super().from_options(options)
        if parameters.queries and (parameters.images or parameters.captions):
            raise CounterpartError(
                f"Round {parameters.round} has two kinds of queries: pass --queries {parameters.queries}, or "
                "--images and --captions to draw a new sample."
            )
        return parameters

    @property
    def sample_name(self) -> str:
        return self.queries or f"{self.round}-queries"

    @property
    def pool_name(self) -> str:
        return f"{self.round}-pool"
