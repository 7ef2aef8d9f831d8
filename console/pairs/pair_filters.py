"""Which pairs the pairs table shows: those of a pool, a round or a version that pass a filter.

Conditions are lookups of one pair in an index, so that a page of a million pairs needs only the rows it shows.
"""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.models import Report
from console.pairs.file_pairs import ORDERS as FILE_ORDERS
from console.pairs.file_pairs import FilePairs, below, condition_of, levels_of
from console.pairs.pair_scopes import PairScope
from core.errors import some_of
from core.untrusted import whole_number
from corpus.models import Match
from dataset.judged.verdict_worth import least_votes, with_percentage
from dataset.models import Case, Review, Verdict, Version
from dataset.reviews.random_reviews import random_reviews
from hits.models import Control, Item, TopUp
from hits.question import Level
from mitl.models import Annotator, Pool, Proposal

Pairs = QuerySet[Any, tuple[int, int]] | FilePairs | list[tuple[int, int]]
"""The ids of image and caption of pairs, in order, as a queryset, read from a file, or drawn."""
PAIR = {"image": OuterRef("image"), "caption": OuterRef("caption")}
ONE_NUMBER = F("image") * 2**32 + F("caption")
"""A pair as one number. No index holds it, so that SQLite does not look up each picture with each caption of a list."""
YES_OR_NO = [("", "any"), ("yes", "yes"), ("no", "no")]
FLAGS = [
    ("", "any"),
    ("review", "waits for a review"),
    ("report", "reported by a worker"),
    ("reviewed", "has a review"),
]
LEVELS = [(str(level.value), f"{level.value} {level.label.split(',')[0]}") for level in Level]
VERDICTS = [("", "any"), ("yes", "match"), ("no", "no match"), *LEVELS, ("none", "not judged")]
FLAGGED: dict[str, QuerySet[Any]] = {
    "review": Case.objects.filter(done_at=None),
    "report": Report.objects.all(),
    "reviewed": Review.objects.all(),
}
"""The rows that a pair of each state has."""
OF_VERSIONS: dict[str, dict[str, Any]] = {"yes": {"score": 1}, "no": {"score": 0}, "none": {"grade": None}}
"""The matches of a version that each verdict means."""
OF_VERDICTS = ("disagreement", "votes", "sure")
"""Filters that only pairs with a verdict pass."""
OF_PAIRS = ("text", "annotator", "also", "unlike", "rank", "level", "flagged")
"""Filters that a file of verdicts cannot answer."""
SORTS = [
    ("", "default order"),
    ("unsure", "least certain first"),
    ("level", "level of the verdict"),
    ("drawn", "drawn at random, to review"),
]
ORDERS = {
    "": ("image_id", "caption_id"),
    "unsure": ("probability", "image_id", "caption_id"),
    "level": ("level", "-confidence", "image_id", "caption_id"),
}
SORTS_OF_VERSIONS = [("", "default order"), ("level", "level")]


def _one_of(rows: Any, label: str, *, by: str = "name", **more: Any) -> forms.ModelChoiceField:
    return forms.ModelChoiceField(rows.all(), to_field_name=by, required=False, empty_label="any", label=label, **more)


class PairFilter(forms.Form):
    """The conditions on pairs, read from the address; an empty field sets no condition.

    ``also`` and ``unlike`` compare: pairs that another annotator proposed too, and those that it did not propose, or
    that another version judges differently.
    """

    text = forms.CharField(required=False, max_length=200, label="Caption contains")
    annotator = _one_of(Annotator.objects, "Proposed by")
    also = _one_of(Annotator.objects, "And proposed by")
    unlike = _one_of(Annotator.objects, "But not by")
    rank = forms.IntegerField(required=False, min_value=1, max_value=32_767, label="At rank, or better")
    level = forms.ChoiceField(required=False, choices=[("", "any"), *LEVELS], label="With a vote of")
    votes = forms.IntegerField(required=False, min_value=1, max_value=32_767, label="Number of votes")
    verdict = forms.ChoiceField(required=False, choices=VERDICTS, label="Verdict")
    sure = forms.IntegerField(required=False, min_value=1, max_value=99, label="At most % right")
    disagreement = forms.ChoiceField(required=False, choices=YES_OR_NO, label="Workers disagree")
    flagged = forms.ChoiceField(required=False, choices=FLAGS, label="State")
    control = forms.ChoiceField(required=False, choices=[("", "candidates"), ("yes", "controls")], label="Kind of pair")

    def __init__(self, place: PairScope, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.place = place
        for name in ("text", "sure"):
            self.fields[name].widget.attrs["placeholder"] = self.fields[name].label
        for side, rows, label in (
            ("image", place.collection.images, "Picture"),
            ("caption", place.collection.captions, "Caption"),
        ):
            unknown = {"invalid_choice": f"No {label.lower()} of the collection has this key."}
            self.fields[side] = _one_of(
                rows, f"{label} with the key", by="key", widget=forms.TextInput, error_messages=unknown
            )
        if place.kind != "round":
            del self.fields["control"]
        sorts = SORTS_OF_VERSIONS if place.kind == "version" else SORTS
        if not (place.kind == "round" and place.aggregations):
            sorts = [one for one in sorts if one[0] != "drawn"]
        self.fields["sort"] = forms.ChoiceField(required=False, choices=sorts, label="Sorted by")
        if not any(least_votes(one.certainty) for one in place.aggregations):
            del self.fields["sure"]
        if isinstance(place.row, Version):
            others = place.collection.versions.exclude(pk=place.row.pk)
            self.fields["unlike"] = _one_of(others, "Other than in")
            del self.fields["also"]

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or {}
        by_verdict = any(chosen.get(name) for name in ("sort", *OF_VERDICTS))
        if chosen.get("control") and (by_verdict or chosen.get("verdict")):
            raise forms.ValidationError("Controls have no verdict: filter and sort them without one.")
        if chosen.get("verdict") == "none" and by_verdict:
            raise forms.ValidationError("Pairs without a verdict cannot be filtered or sorted by it.")
        in_files = [self.place.file.round] if self.place.file else self.place.in_files
        if chosen.get("verdict") == "none" and in_files:
            raise forms.ValidationError(
                f"The verdicts of {some_of(in_files)} are in a file, which cannot be searched for pairs "
                "without one. Choose another verdict."
            )
        return chosen

    @property
    def chips(self) -> list[tuple[str, str, str]]:
        """Each condition of a valid filter: its label, its value in words, and the query string without it."""
        given = {name: self.data[name] for name in self.fields if self.data.get(name)}
        return [
            (str(self[name].label), self._words(name), urlencode({one: given[one] for one in given if one != name}))
            for name in given
            if name != "sort"
        ]

    def _words(self, name: str) -> str:
        field, chosen = self.fields[name], self.cleaned_data[name]
        named: Any = field.choices if type(field) is forms.ChoiceField else ()
        return str(dict(named).get(chosen, chosen))

    def pairs(self) -> Pairs:
        """Return the ids of image and caption of the pairs that pass, each pair once, in order."""
        return _passing(self.place, self.cleaned_data)


def _passing(place: PairScope, chosen: dict[str, Any]) -> Pairs:
    """Return the ids of image and caption of the pairs that pass."""
    if chosen["sort"] == "drawn":
        return _drawn(place, {**chosen, "sort": ""})
    if not (place.file and (chosen["sort"] or _by_verdict(chosen))):
        return _in_rows(place, chosen)
    rest = {**chosen, **dict.fromkeys(("verdict", "sort", *OF_VERDICTS), "")}
    among = _in_rows(place, rest) if any(chosen.get(name) for name in OF_PAIRS) else None
    return FilePairs(place.file, condition_of(place.file, chosen), FILE_ORDERS[chosen["sort"]], among)


def _drawn(place: PairScope, chosen: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the next verdicts that a reviewer should check, of the round's draw; of those that pass."""
    (aggregation,) = place.aggregations
    drawn = [one[:2] for one in random_reviews(aggregation).following]
    if not any(chosen.values()):
        return drawn
    return [pair for pair in drawn if pair in set(_passing(place, chosen))]


def _by_verdict(chosen: dict[str, Any]) -> bool:
    return chosen["verdict"] not in ("", "none") or any(chosen.get(name) for name in OF_VERDICTS)


def _in_rows(place: PairScope, chosen: dict[str, Any]) -> QuerySet[Any, tuple[int, int]]:
    rows = pairs_in(place, control=chosen.get("control", ""), sort=chosen["sort"], judged=_by_verdict(chosen))
    rows = rows.filter(**{side: chosen[side] for side in ("image", "caption") if chosen[side]})
    if chosen["text"]:
        captions = place.collection.captions.order_by().filter(text__icontains=chosen["text"])
        rows = rows.filter(caption__in=captions.values("pk"))
    if chosen["annotator"] or chosen["rank"]:
        rows = _proposed(rows, place, chosen)
    if chosen.get("also"):
        rows = rows.filter(Exists(_alike(place, chosen["also"])))
    if chosen["unlike"]:
        rows = rows.exclude(Exists(_alike(place, chosen["unlike"])))
    rows = _filtered(rows, place, chosen)
    return rows.values_list("image_id", "caption_id")


def _alike(place: PairScope, opposite: Version | Annotator) -> QuerySet[Any]:
    """Return what the other version or annotator has of the outer pair: a match with the same score, or a proposal."""
    if isinstance(opposite, Version):
        return Match.objects.filter(
            collection=opposite.collection_id, source=opposite.name, score=OuterRef("score"), **PAIR
        )
    return Proposal.objects.filter(pool__in=place.pools, annotator=opposite, **PAIR)


def pairs_in(place: PairScope, *, control: str = "", sort: str = "", judged: bool = False) -> QuerySet[Any]:
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
    # By number, not by id: an index of the round's HITs has this order, so the first pairs are read without the rest.
    return asked.order_by("hit__number", "place")


def _filtered(rows: QuerySet[Any], place: PairScope, chosen: dict[str, Any]) -> QuerySet[Any]:
    if chosen["level"]:
        rows = rows.filter(Exists(place.votes.filter(level=chosen["level"], **PAIR)))
    if chosen["verdict"]:
        rows = _of_verdict(rows, place, chosen["verdict"])
    if chosen["disagreement"]:
        disagree = {"confidence__lte": 0.5} if chosen["disagreement"] == "yes" else {"confidence__gt": 0.5}
        rows = _with_verdict(rows, place, **disagree)
    if chosen["votes"]:
        rows = _with_verdict(rows, place, votes=chosen["votes"])
    if chosen.get("sure"):
        rows = _with_verdict(rows, place, with_percentage(place.aggregations), probability__lt=below(chosen["sure"]))
    if chosen["flagged"]:
        rows = rows.filter(Exists(FLAGGED[chosen["flagged"]].filter(**PAIR).order_by()))
    return rows


def _proposed(rows: QuerySet[Any], place: PairScope, chosen: dict[str, Any]) -> QuerySet[Any]:
    by = {"annotator": chosen["annotator"]} if chosen["annotator"] else {}
    at = {"rank__lte": chosen["rank"]} if chosen["rank"] else {}
    proposals = Proposal.objects.filter(pool__in=place.pools, **by, **at)
    # To list these few takes a quarter of the time of a lookup for each pair. A file's pairs are looked up by many
    # queries, and each query would make the list again.
    if by and at and not place.file:
        return rows.alias(pair=ONE_NUMBER).filter(pair__in=proposals.values_list(ONE_NUMBER))
    return rows.filter(Exists(proposals.filter(**PAIR)))


def _of_verdict(rows: QuerySet[Any], place: PairScope, verdict: str) -> QuerySet[Any]:
    if isinstance(place.row, Version):
        level = whole_number(verdict)
        return rows.filter(**OF_VERSIONS[verdict] if level is None else {"grade": level})
    if verdict == "none":
        return rows.exclude(Exists(_verdicts(place)))
    return _with_verdict(rows, place, level__in=levels_of(verdict))


def _with_verdict(rows: QuerySet[Any], place: PairScope, *more: Q, **conditions: Any) -> QuerySet[Any]:
    if rows.model is Verdict:
        return rows.filter(*more, **conditions)
    return rows.filter(Exists(_verdicts(place).filter(*more, **conditions)))


def _verdicts(place: PairScope) -> QuerySet[Verdict]:
    return Verdict.objects.filter(aggregation__in=place.aggregations, **PAIR)
