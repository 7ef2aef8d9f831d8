"""A person's last act of reviewing, kept in their session: pages of pairs offer to undo it."""

from collections.abc import Sequence
from typing import TypedDict, cast

from django.http import HttpRequest

from dataset.models import Review

_KEY = "last_act"


class LastAct(TypedDict):
    """The ids of the reviews that it added, the image and caption of one of its pairs, and the page it was made on."""

    reviews: list[int]
    pair: tuple[int, int]
    page: str


def remember_act(
    request: HttpRequest, reviews: Sequence[Review], seen: int | None, *, pair: tuple[int, int], page: str
) -> None:
    """Keep those of ``reviews`` that the person has added since they saw the page, up to id ``seen``: reviews that
    others made before are not theirs to undo. An act that is sent twice is kept once."""
    added = [review.pk for review in reviews if review.by_id == request.user.pk and review.pk > (seen or 0)]
    if added:
        request.session[_KEY] = LastAct(reviews=added, pair=pair, page=page)


def last_act(request: HttpRequest, *, at: str = "") -> LastAct | None:
    """Return the last act; with ``at`` only if its page has this address, whatever its query string."""
    last = cast("LastAct | None", request.session.get(_KEY))
    return last if last and last["page"].startswith(at) else None


def page_of_act(request: HttpRequest, reviews: Sequence[str]) -> str:
    """Return the page of the last act if it added these ``reviews``."""
    last = last_act(request)
    return last["page"] if last and [str(review) for review in last["reviews"]] == list(reviews) else ""


def forget_act(request: HttpRequest) -> None:
    request.session.pop(_KEY, None)
