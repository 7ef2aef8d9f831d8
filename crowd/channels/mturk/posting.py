"""Put a HIT on MTurk, let it grow, take it off the market, remove it. Every call may be made twice."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.sax.saxutils import escape

from django.conf import settings
from django.utils import timezone

from crowd.channels.base import ChannelError
from crowd.channels.mturk.client import TurkError, told_as_channel_errors
from crowd.channels.mturk.qualifying import answered_type
from crowd.channels.mturk.terms import hit_type_of
from crowd.models import Posting
from crowd.offers import offer_of

QUESTION = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{url}</ExternalURL><FrameHeight>{height}</FrameHeight></ExternalQuestion>'
)
TOKEN_LIFE = timedelta(hours=23)  # MTurk forgets a token after 24 hours; a repeated call would then post twice
LONG_PAST = datetime(2015, 1, 1, tzinfo=UTC)  # always the same: a repeated expiry with another instant is an error
HIT_ID = re.compile(r"\b[A-Z0-9]{20,64}\b")
GONE = ("HITDoesNotExist",)


def publish(client: Any, posting: Posting, *, token: str) -> None:
    """Post the HIT and set the posting's ids, status and times, or find it where an earlier call had posted it."""
    with told_as_channel_errors():
        posting.excludes = answered_type(client, posting)
        posting.type_id = hit_type_of(client, posting.hit.round, excludes=posting.excludes)
        hit = _posted_before(client, posting, token) or _post(client, posting, token)
    posting.external_id, posting.status = hit["HITId"], hit["HITStatus"]
    posting.posted_at, posting.expires_at = hit["CreationTime"], hit["Expiration"]


def extend(client: Any, posting: Posting, *, token: str) -> None:
    """Ask for as many more assignments as ``max_assignments`` has above what MTurk knows."""
    with told_as_channel_errors():
        known = client.get_hit(HITId=posting.external_id)["HIT"]["MaxAssignments"]
        if known >= posting.max_assignments:
            return
        try:
            with told_as_channel_errors():
                client.create_additional_assignments_for_hit(
                    HITId=posting.external_id,
                    NumberOfAdditionalAssignments=posting.max_assignments - known,
                    UniqueRequestToken=f"{token}-{posting.max_assignments}",
                )
        except TurkError as error:
            # Done before, and what MTurk shows lags behind.
            if not error.is_replay:
                raise


def close(client: Any, external_id: str) -> None:
    """Expire the HIT now. Whoever has accepted it keeps their time."""
    try:
        with told_as_channel_errors():
            client.update_expiration_for_hit(HITId=external_id, ExpireAt=LONG_PAST)
    except TurkError as error:
        if error.code not in GONE:
            raise


def dispose(client: Any, posting: Posting) -> None:
    """Delete the HIT. MTurk refuses while work on it is undecided."""
    try:
        with told_as_channel_errors():
            client.delete_hit(HITId=posting.external_id)
    except TurkError as error:
        if error.code not in GONE and not _is_disposed(client, posting):
            raise


def _posted_before(client: Any, posting: Posting, token: str) -> dict[str, Any] | None:
    """Return the HIT that an earlier call with this token posted, where MTurk may have forgotten the token."""
    if timezone.now() - posting.created_at < TOKEN_LIFE:
        return None
    hits = (hit for page in client.get_paginator("list_hits").paginate() for hit in page["HITs"])
    return next((hit for hit in hits if hit.get("RequesterAnnotation") == token), None)


def _post(client: Any, posting: Posting, token: str) -> dict[str, Any]:
    offer = offer_of(posting.hit.round)
    try:
        with told_as_channel_errors():
            made: dict[str, Any] = client.create_hit_with_hit_type(
                HITTypeId=posting.type_id,
                MaxAssignments=posting.max_assignments,
                LifetimeInSeconds=offer.lifetime_days * 24 * 60 * 60,
                Question=_question(posting, offer.frame_height),
                RequesterAnnotation=token,
                UniqueRequestToken=token,
            )["HIT"]
            return made
    except TurkError as error:
        if error.code != "HitAlreadyExists":
            raise
        return _existing(client, token, str(error))


def _existing(client: Any, token: str, message: str) -> dict[str, Any]:
    """Return the HIT that a token has made, by MTurk's own words: the one they name that is annotated with it."""
    for word in HIT_ID.findall(message):
        hit: dict[str, Any] = client.get_hit(HITId=word)["HIT"]
        if hit.get("RequesterAnnotation") == token:
            return hit
    raise ChannelError(f"MTurk says that a HIT with token {token} exists, but not which: {message}", permanent=True)


def _question(posting: Posting, height: int) -> str:
    url = f"{settings.SITE_URL}/judge/at/mturk/{posting.environment}/"
    return QUESTION.format(url=escape(url), height=height)


def _read(posting: Posting, hit: dict[str, Any]) -> None:
    posting.status = hit["HITStatus"]
    posting.posted_at, posting.expires_at = hit["CreationTime"], hit["Expiration"]


def _is_disposed(client: Any, posting: Posting) -> bool:
    with told_as_channel_errors():
        return bool(client.get_hit(HITId=posting.external_id)["HIT"]["HITStatus"] == "Disposed")
