"""Verdicts, which votes decide, and reviews, which people add."""

import json
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from console.api.bearer import ApiRequest
from console.api.file_answers import FILES, Format, as_file
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.api.row_fields import Keyed, Named, Username
from core.errors import CounterpartError
from corpus.models import Collection
from counterpart_statistics.aggregation import shows_percentage
from dataset.judged.verdict_files import LINE, Line, verdict_lines
from dataset.models import Aggregation, Review, Subject
from dataset.reviews.cases import group_of
from dataset.reviews.reviews import Conclusion, conclude, second, undo
from dataset.secret_controls import refuse_secret_pairs
from hits.models import Round

resources = Resources("Verdicts and reviews")


class VerdictAnswer(Schema):
    """The result of a round's votes on a pair: its level from 1, certainly a match, to 4, certainly no match.

    ``distribution`` has the shares of the four levels, ``confidence`` that of ``level``. ``probability`` is that of its
    side, match or no match, being right; null where too little was measured to say it, as the round's aggregation
    says, and where an earlier program counted the votes.
    """

    image: str
    caption: str
    level: int
    distribution: list[float]
    confidence: float
    probability: float | None
    votes: int


class ReviewAnswer(Schema):
    """The conclusion of a person: the level of a pair, that an image or a caption leaves the dataset (`excluded`), or
    that a pair is `kept` and its votes hold. The latest one holds, once no second person has to agree any more."""

    id: int
    collection: Named
    image: Keyed | None
    caption: Keyed | None
    conclusion: Review.Conclusion
    level: int | None
    grounds: str
    reason: str
    by: Username
    at: datetime
    needs_second: bool
    seconded_by: Username | None
    seconded_at: datetime | None
    undoes: Annotated[int | None, Field(validation_alias="undoes_id")]


class ReviewsMade(Schema):
    """The reviews that an act has made, or that existed already."""

    results: list[ReviewAnswer]


class ReviewBody(Schema, extra="forbid"):
    """A conclusion on a pair (`level` or `kept`), or on an image or a caption alone (`excluded`, with grounds and a
    reason). With `group`, near-duplicates of the pair are concluded on alike."""

    collection: str
    image: str | None = None
    caption: str | None = None
    conclusion: Review.Conclusion
    level: int | None = None
    grounds: Review.Grounds | Literal[""] = ""
    reason: str = ""
    group: bool = False
    seen: Annotated[int | None, Field(ge=0, description="refuse if there is a review with a higher id")] = None


@resources.lists(
    "/verdicts", "dataset:read", VerdictAnswer, "A part of the verdicts of a round by one method.", files=FILES
)
def verdicts(
    request: ApiRequest, place: Query[Place], round: str, method: str = "", format: Format = "json"
) -> HttpResponseBase:
    """List the verdicts of a round by a method, or by the one that counted its votes last; with a `format`, all of them
    in one file."""
    judged = get_object_or_404(Round, name=round)
    refuse_secret_pairs(judged, request.user)
    counts = judged.aggregations.select_related("round").order_by("-at", "-pk")
    aggregation: Aggregation | None = (counts.filter(method=method) if method else counts).first()
    if aggregation is None:
        by = f" by {method}" if method else ""
        raise Problem(404, f"The votes of {round} are not counted{by}. Send POST to /rounds/{round}/aggregations.")
    if format != "json":
        return as_file(
            (_shown(aggregation, line) for _, line in verdict_lines(aggregation)),
            LINE,
            format,
            f"{aggregation.round}-verdicts",
        )
    shown = list(islice(verdict_lines(aggregation, place.after, place.limit + 1), place.limit + 1))
    after = shown[place.limit - 1][0] if len(shown) > place.limit else None
    part = {"results": [_shown(aggregation, line) for _, line in shown[: place.limit]], "next": after}
    return HttpResponse(json.dumps(part), content_type="application/json")


@resources.lists(
    "/reviews", "dataset:read", ReviewAnswer, "A part of the reviews, in the order in which they were made."
)
def reviews(request: ApiRequest, place: Query[Place], collection: str = "") -> dict[str, Any]:
    """List the reviews, also those that later ones replace; of one collection, if it is named."""
    refuse_secret_pairs(Collection.objects.filter(name=collection).first(), request.user)
    return part_of(_rows().filter(collection__name=collection) if collection else _rows(), place)


@resources.acts("/reviews", "dataset:review", ReviewsMade, status=201)
def review(request: ApiRequest, body: ReviewBody) -> dict[str, Any]:
    """Review a pair, an image or a caption. Reviews are added and never changed. A review that repeats the latest
    one is not added again; it seconds a review that waits for a second person."""
    collection = get_object_or_404(Collection, name=body.collection)
    conclusion = Conclusion(body.conclusion, body.level, body.grounds, body.reason)
    return _made(conclude(collection, _subjects(collection, body), conclusion, by=request.user, seen=body.seen))


@resources.acts("/reviews/{int:id}/undo", "dataset:review", ReviewsMade, status=201)
def undo_review(request: ApiRequest, id: int) -> dict[str, Any]:
    """Undo a review: a new review restores the state before it."""
    return _made(undo([get_object_or_404(Review, pk=id)], by=request.user))


@resources.acts("/reviews/{int:id}/second", "dataset:review", ReviewsMade, status=200)
def second_review(request: ApiRequest, id: int) -> dict[str, Any]:
    """Agree to the review of another person that waits for a second one; it then holds."""
    return _made([second(get_object_or_404(Review, pk=id), by=request.user)])


def _shown(aggregation: Aggregation, line: Line) -> Line:
    """Leave out a probability that must not be shown."""
    return line if shows_percentage(aggregation.certainty, line["votes"]) else {**line, "probability": None}


def _rows() -> QuerySet[Review]:
    return Review.objects.select_related("collection", "image", "caption", "by", "seconded_by")


def _made(reviews: list[Review]) -> dict[str, Any]:
    return {"results": list(_rows().filter(pk__in=[one.pk for one in reviews]).order_by("pk"))}


def _subjects(collection: Collection, body: ReviewBody) -> list[Subject]:
    """Return the subjects of a conclusion, as the page of a pair does. Raises CounterpartError for an invalid one."""
    if body.level is not None and body.conclusion != Review.Conclusion.LEVEL:
        raise CounterpartError(f"The conclusion {body.conclusion} has no level. Leave it out.")
    if body.grounds and body.conclusion != Review.Conclusion.EXCLUDED:
        raise CounterpartError(f"The conclusion {body.conclusion} has no grounds. Leave them out.")
    image = _of_key(collection.images, "image", body.image)
    caption = _of_key(collection.captions, "caption", body.caption)
    if body.conclusion == Review.Conclusion.EXCLUDED:
        return [(image and image.pk, caption and caption.pk)] if image or caption else []
    if not image or not caption:
        raise CounterpartError("A pair is needed: name its image and its caption.")
    return list(group_of(image, caption)) if body.group else [(image.pk, caption.pk)]


def _of_key(rows: Any, what: str, key: str | None) -> Any:
    """Return the row of a key, None without one."""
    if key is None:
        return None
    row = rows.filter(key=key).first()
    if row is None:
        raise CounterpartError(f"This collection has no {what} {key!r}. Check the key.")
    return row
