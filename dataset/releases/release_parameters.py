"""The parameters of ``release`` and ``aggregate``, for the commands, the pages and the jobs."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from django import forms
from django.core.exceptions import ValidationError

from core.parameters import OFF_PAGE, POSITIONAL, FlagField, Parameters, choices
from core.seeds import SeedField
from core.text import NameField
from corpus.models import Sample
from counterpart_statistics.aggregation import POSITIVE, TIES, Method, Ties
from dataset.releases.credits import Credits
from dataset.versions.contents import PRECEDENCES, Policies, Precedence
from dataset.versions.merging import parse_merge
from hits.question import Level

METHODS_IN_WORDS: dict[Method, tuple[str, str]] = {
    "majority": (
        "every vote is worth the same",
        "Choose it where several workers judge each pair, or where anybody should be able to recount the verdicts.",
    ),
    "dawid-skene": (
        "learns which levels each worker confuses",
        "Choose it where workers judge many pairs each and use the levels differently, as for check boxes.",
    ),
    "mace": (
        "workers answer right or always alike",
        "Choose it where some may answer without looking and there are few controls: it does not use them.",
    ),
    "glad": (
        "workers differ in ability, pairs in difficulty",
        "Choose it for a small round with several votes on each pair; a million votes take many minutes.",
    ),
    "ordinal": (
        "workers see levels too high or low, more or less exactly",
        "Choose it where pairs have several votes on all four levels; report it with strict labels.",
    ),
    "consensus": (
        "as ordinal, and annotators vote too",
        "Choose it where pairs have few votes, but not for scores of the annotators that vote.",
    ),
}
"""What each method of aggregation assumes, and when to choose it; docs/researchers.md has more."""


MethodOption = Annotated[
    Method,
    forms.ChoiceField(
        choices=[(name, f"{name}: {meaning}") for name, (meaning, _) in METHODS_IN_WORDS.items()],
        label="Aggregation",
        help_text="aggregation method; ordinal and consensus move pairs from level 2 to level 1, so strict labels "
        "depend on it",
    ),
]
TiesOption = Annotated[
    Ties,
    forms.ChoiceField(
        choices=choices(*TIES),
        label="Tied levels",
        help_text="of tied levels the one nearest to the median answer, the lower (nearer to yes) or the higher one",
    ),
]


class LevelsField(forms.Field):
    """Levels as numbers, as text with commas between them, or as ``strict`` or ``lenient``; cleaned to a tuple."""

    widget = forms.CheckboxSelectMultiple(choices=[(level.value, level.brief) for level in Level])
    metavar = "LEVELS"
    json_schema: ClassVar[dict[str, Any]] = {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 4}}

    def to_python(self, value: Any) -> tuple[int, ...]:
        levels = POSITIVE.get(value, value.split(",")) if isinstance(value, str) else value or ()
        try:
            return tuple(sorted({Level(int(level)).value for level in levels}))
        except (TypeError, ValueError) as error:
            raise ValidationError("Use some of 1, 2, 3, 4, as in 1,2, or strict, or lenient.") from error


class MergeField(forms.CharField):
    """Match sources to merge; None if the parameter is not given, which differs from an empty list."""

    def to_python(self, value: Any) -> str | None:
        return None if value is None else super().to_python(value)


class AggregateParameters(Parameters):
    """How the votes of a round become verdicts."""

    round: Annotated[str, "name of the round", POSITIONAL, OFF_PAGE]
    method: MethodOption = "majority"
    ties: TiesOption = "median"
    seed: Annotated[int, SeedField(help_text="seed of methods with random starts"), OFF_PAGE] = 0
    workers: Annotated[bool, "print a row of figures of every worker", OFF_PAGE] = False


class MergeParameters(Parameters):
    """What of a release decides on its positives, and on the conflicts between people and sources."""

    rounds: Annotated[tuple[str, ...], "rounds whose judgments count"] = ()
    merge: Annotated[
        str | None,
        MergeField(
            required=False, help_text='match sources, as in "cxc>=3,original" (default: original if there are rounds)'
        ),
    ] = None
    positive_levels: Annotated[
        tuple[int, ...],
        LevelsField(help_text="levels that are a match: strict (1), lenient (1,2), or some separated by commas"),
    ] = (1, 2)
    method: MethodOption = "majority"
    ties: TiesOption = "median"

    def policies(self) -> Policies:
        """Raises CounterpartError for a merge that cannot be read."""
        merge = tuple(parse_merge("original" if self.merge is None else self.merge))
        return Policies(method=self.method, ties=self.ties, positive_levels=self.positive_levels, merge=merge)


class ConflictsParameters(MergeParameters):
    """Whose conflicts are listed, and whether they are sent to review."""

    sample: Annotated[str, "the sample whose queries are released", POSITIONAL]
    send: Annotated[bool, "put the conflicts into the reviewers' queue"] = False


class ReleaseParameters(MergeParameters, Credits):
    """What a version holds, and what its users need to cite it."""

    version: Annotated[
        str,
        NameField(label="Version name", help_text="name of the version, and of the match source that it becomes"),
        POSITIONAL,
    ]
    collection: Annotated[str, "name of the collection", OFF_PAGE]
    queries: Annotated[str, "the sample whose queries' positives are released"]
    seed: Annotated[int, SeedField(help_text="seed of methods with random starts"), OFF_PAGE] = 0
    precedence: Annotated[
        Precedence,
        forms.ChoiceField(
            choices=list(zip(PRECEDENCES, ("keep the match", "drop the match"), strict=True)),
            label="Where people say no and a merged source yes",
            help_text="where people say no and a merged source yes: union keeps the match, judged drops it",
        ),
    ] = "union"
    partial: Annotated[
        bool,
        FlagField(
            label="Release unfinished rounds as they are",
            help_text="release rounds that are unfinished, and record it",
        ),
    ] = False
    mixed_tasks: Annotated[
        bool,
        FlagField(
            label="Count votes of different tasks alike",
            help_text="count votes of different tasks alike, and record it",
        ),
    ] = False
    exclude_captions: Annotated[Path | None, "file of caption ids to drop, one per line", OFF_PAGE] = None

    def policies(self) -> Policies:
        found = super().policies()
        merge = found.merge if self.rounds or self.merge else ()
        return replace(found, merge=merge, precedence=self.precedence, seed=self.seed)

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Self:
        """Also read what version 0.3 stored for a job."""
        if "sample" in given:
            sample = Sample.objects.select_related("collection").named(given["sample"])
            contents = {"collection": sample.collection.name, "queries": sample.name, "rounds": given["rounds"]}
            given = {"version": given["version"], **contents, **given["options"], **given.get("credits", {})}
        return super().from_json(given)
