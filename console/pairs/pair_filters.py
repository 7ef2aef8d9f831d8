"""Which pairs the pairs table shows: those of a pool, a round or a version that pass a filter.

Every condition is a lookup of one pair in an index, so that a page of a million pairs needs only the rows it shows.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Judgment, Report
from core.errors import some_of
from corpus.models import Collection, Match
from dataset.models import Aggregation, Case, Verdict, Version
from hits.models import Control, Item, Round, TopUp
from hits.question import Level
from mitl.models import Annotator, Pool, Proposal

PAIR = {"image": OuterRef("image"), "caption": OuterRef("caption")}
YES_LEVELS = (Level.YES, Level.PARTIALLY_YES)
YES_OR_NO = [("", "any"), ("yes", "yes"), ("no", "no")]
FLAGS = [("", "any"), ("review", "waits for a review"), ("report", "reported by a worker")]
LEVELS = [(str(level.value), f"{level.value} {level.label.split(',')[0]}") for level in Level]
VERDICTS = [("", "any"), ("yes", "match"), ("no", "no match"), *LEVELS, ("none", "not judged")]
OF_VERSIONS: dict[str, dict[str, Any]] = {"yes": {"score": 1}, "no": {"score": 0}, "none": {"grade": None}}
"""The matches of a version that each verdict means."""
SORTS = [
    ("", "default order"),
    ("unsure", "least certain first"),
    ("level", "level of the verdict"),
]
ORDERS = {
    "": ("image_id", "caption_id"),
    "unsure": ("probability", "image_id", "caption_id"),
    "level": ("level", "-confidence", "image_id", "caption_id"),
}
SORTS_OF_VERSIONS = [("", "default order"), ("level", "level")]


@dataclass(frozen=True)
class Place:
    """A pool, round, version or whole collection whose pairs are shown, with the votes and verdicts of its rounds."""

    row: Pool | Round | Version | Collection

    @property
    def kind(self) -> str:
        return self.row._meta.model_name or ""

    @property
    def collection(self) -> Collection:
        if isinstance(self.row, Collection):
            return self.row
        return self.row.pool.collection if isinstance(self.row, Round) else self.row.collection

    @cached_property
    def rounds(self) -> list[int]:
        if isinstance(self.row, Round):
            return [self.row.pk]
        rows = Round.objects.filter(pool__in=self.pools) if isinstance(self.row, Collection) else self.row.rounds.all()
        return list(rows.values_list("pk", flat=True))

    @cached_property
    def pools(self) -> list[int]:
        if isinstance(self.row, Pool):
            return [self.row.pk]
        if isinstance(self.row, Collection):
            return list(self.row.pools.values_list("pk", flat=True))
        return list(Round.objects.filter(pk__in=self.rounds).values_list("pool", flat=True).distinct())

    @cached_property
    def aggregations(self) -> list[Aggregation]:
        """The last aggregation of each round that has one."""
        rows = Aggregation.objects.filter(round__in=self.rounds).select_related("round").order_by("at", "pk")
        return list({row.round_id: row for row in rows}.values())

    @property
    def in_files(self) -> list[Round]:
        """The rounds whose verdicts are in a file: filters and orders see those of their pairs under review only."""
        return [one.round for one in self.aggregations if one.file and self.kind != "version"]


class PairFilter(forms.Form):
    """The conditions on pairs, read from the address; an empty field sets none."""

    text = forms.CharField(required=False, max_length=200, label="Caption contains")
    annotator = forms.ModelChoiceField(
        Annotator.objects.all(), to_field_name="name", required=False, empty_label="any", label="Proposed by"
    )
    rank = forms.IntegerField(required=False, min_value=1, max_value=32_767, label="At rank, or better")
    level = forms.ChoiceField(required=False, choices=[("", "any"), *LEVELS], label="With a vote of")
    verdict = forms.ChoiceField(required=False, choices=VERDICTS, label="Verdict")
    disagreement = forms.ChoiceField(required=False, choices=YES_OR_NO, label="Workers disagree")
    flagged = forms.ChoiceField(required=False, choices=FLAGS, label="Flagged")
    control = forms.ChoiceField(required=False, choices=[("", "candidates"), ("yes", "controls")], label="Kind of pair")
    sort = forms.ChoiceField(required=False, choices=SORTS, label="Sorted by")

    def __init__(self, place: Place, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.place = place
        if place.kind != "round":
            del self.fields["control"]
        if place.kind == "version":
            self.fields["sort"] = forms.ChoiceField(required=False, choices=SORTS_OF_VERSIONS, label="Sorted by")

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or {}
        if chosen.get("control") and (chosen.get("sort") or chosen.get("verdict") or chosen.get("disagreement")):
            raise forms.ValidationError("Controls have no verdict: filter and sort them without one.")
        if chosen.get("verdict") == "none" and (chosen.get("sort") or chosen.get("disagreement")):
            raise forms.ValidationError("Pairs without a verdict cannot be filtered or sorted by it.")
        if chosen.get("verdict") == "none" and self.place.in_files:
            raise forms.ValidationError(
                f"The verdicts of {some_of(self.place.in_files)} are in a file, which cannot be searched for pairs "
                "without one. Choose another verdict."
            )
        return chosen

    @property
    def query(self) -> str:
        """The conditions that are set, as a query string."""
        return urlencode({name: self.data[name] for name in self.fields if self.data.get(name)})

    def pairs(self) -> QuerySet[Any, tuple[int, int]]:
        """Return the ids of image and caption of the pairs that pass, each pair once, in order."""
        chosen = self.cleaned_data
        judged = chosen["verdict"] not in ("", "none") or bool(chosen["disagreement"])
        rows = pairs_in(self.place, control=chosen.get("control", ""), sort=chosen["sort"], judged=judged)
        return _filtered(rows, self.place, chosen).values_list("image_id", "caption_id")


def pairs_in(place: Place, *, control: str = "", sort: str = "", judged: bool = False) -> QuerySet[Any]:
    """Return rows that name the pairs of the place. Where pairs are ``judged`` or sorted by verdict, they are the
    verdicts' own rows, which need no lookup; a pair judged in two rounds is then sorted in at each of its verdicts."""
    row = place.row
    if isinstance(row, Version):
        matches = Match.objects.filter(collection=row.collection_id, source=row.name)
        graded = matches.exclude(grade=None).order_by("grade", "image_id", "caption_id")
        return graded if sort else matches.order_by("image_id", "caption_id")
    if sort or judged:
        verdicts = Verdict.objects.filter(aggregation__in=place.aggregations).order_by(*ORDERS[sort])
        return verdicts if sort else verdicts.distinct()
    if isinstance(row, Pool):
        return Proposal.objects.filter(pool=row).order_by("image_id", "caption_id").distinct()
    if control:
        return Control.objects.filter(round__in=place.rounds).order_by("image_id", "caption_id")
    # HITs that are added for disputes ask pairs of the first HITs again.
    repeated = list(TopUp.objects.for_disputes().filter(round__in=place.rounds).values_list("pk", flat=True))
    asked = Item.objects.filter(
        hit__round__in=place.rounds, control=None, image__isnull=False, caption__isnull=False
    ).exclude(hit__top_up__in=repeated)
    return asked.order_by("hit_id", "place")


def _filtered(rows: QuerySet[Any], place: Place, chosen: dict[str, Any]) -> QuerySet[Any]:
    if chosen["text"]:
        captions = place.collection.captions.order_by().filter(text__icontains=chosen["text"])
        rows = rows.filter(caption__in=captions.values("pk"))
    if chosen["annotator"] or chosen["rank"]:
        by = {"annotator": chosen["annotator"]} if chosen["annotator"] else {}
        at = {"rank__lte": chosen["rank"]} if chosen["rank"] else {}
        rows = rows.filter(Exists(Proposal.objects.filter(pool__in=place.pools, **PAIR, **by, **at)))
    if chosen["level"]:
        rows = rows.filter(Exists(votes_in(place).filter(level=chosen["level"], **PAIR)))
    if chosen["verdict"]:
        rows = _of_verdict(rows, place, chosen["verdict"])
    if chosen["disagreement"]:
        disagree = {"confidence__lte": 0.5} if chosen["disagreement"] == "yes" else {"confidence__gt": 0.5}
        rows = _with_verdict(rows, place, **disagree)
    if chosen["flagged"]:
        flags = Case.objects.filter(done_at=None) if chosen["flagged"] == "review" else Report.objects.all()
        rows = rows.filter(Exists(flags.filter(**PAIR).order_by()))
    return rows


def votes_in(place: Place) -> QuerySet[Judgment]:
    """Return the counted judgments of the place's rounds."""
    return Judgment.objects.counted().filter(assignment__hit__round__in=place.rounds).order_by()


def _of_verdict(rows: QuerySet[Any], place: Place, verdict: str) -> QuerySet[Any]:
    if isinstance(place.row, Version):
        return rows.filter(**{"grade": int(verdict)} if verdict.isdecimal() else OF_VERSIONS[verdict])
    if verdict == "none":
        return rows.exclude(Exists(_verdicts(place)))
    if verdict.isdecimal():
        return _with_verdict(rows, place, level=int(verdict))
    levels = [level for level in Level if (level in YES_LEVELS) == (verdict == "yes")]
    return _with_verdict(rows, place, level__in=levels)


def _with_verdict(rows: QuerySet[Any], place: Place, **conditions: Any) -> QuerySet[Any]:
    if rows.model is Verdict:
        return rows.filter(**conditions)
    return rows.filter(Exists(_verdicts(place).filter(**conditions)))


def _verdicts(place: Place) -> QuerySet[Verdict]:
    return Verdict.objects.filter(aggregation__in=place.aggregations, **PAIR)
