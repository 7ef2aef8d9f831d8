"""HITs on MTurk: register their type, post, extend, expire, delete and list them. Every call may be made twice."""

import logging
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape

from django.conf import settings
from django.urls import reverse

from core import clock
from crowd.channels.base import ChannelError, Listed, ListedPosting, Listing
from crowd.channels.mturk.client import TurkError, channel_errors, refusals_pass_if
from crowd.channels.mturk.qualifications import answered_type, exclusion_type, shut_out_of_siblings
from crowd.models import Posting, Visit
from crowd.offers import Offer, offer_of
from crowd.study_states import There
from hits.models import Round
from hits.prices import cents

logger = logging.getLogger(__name__)

QUESTION = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{url}</ExternalURL><FrameHeight>{height}</FrameHeight></ExternalQuestion>'
)
TOKEN_LIFE = timedelta(hours=23)  # MTurk forgets a token after 24 hours; a retry would then post twice
LEAST_PROLONGED = timedelta(minutes=1)  # MTurk moves no expiry by less
LONG_PAST = datetime(2015, 1, 1, tzinfo=UTC)  # constant: repeating the call with another time is an error
HIT_ID = re.compile(r"\b[A-Z0-9]{20,64}\b")
GONE = "HITDoesNotExist"
STATUSES = {
    "Submitted": Visit.State.SUBMITTED,
    "Approved": Visit.State.APPROVED,
    "Rejected": Visit.State.REJECTED,
}
OVER = ("Reviewable", "Reviewing", "Disposed")
STATES = {"Assignable": There.OPEN, "Unassignable": There.FULL, **dict.fromkeys(OVER, There.OVER)}
MASTERS = {"production": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "sandbox": "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"}
APPROVED = "00000000000000000040"
APPROVAL_RATE = "000000000000000000L0"
LOCALE = "00000000000000000071"


def publish(client: Any, posting: Posting, *, token: str) -> None:
    """Post the HIT, or find it if an earlier call posted it, and set the posting's ids, status and times."""
    with channel_errors():
        posting.excludes = answered_type(client, posting)
        posting.terms_id = _hit_type_of(client, posting.round, excludes=posting.excludes)
        hit = _posted_before(client, posting, token) or _post(client, posting, token)
    posting.external_id = hit["HITId"]
    posting.status = hit["HITStatus"]
    posting.posted_at = hit["CreationTime"]
    posting.expires_at = hit["Expiration"]


def extend(client: Any, posting: Posting, *, token: str) -> None:
    """Raise the HIT's number of assignments to ``max_assignments``."""
    with channel_errors():
        known = client.get_hit(HITId=posting.external_id)["HIT"]["MaxAssignments"]
    if known >= posting.max_assignments:
        return
    # After a replay, an earlier attempt took effect, and MTurk's figure is out of date.
    with refusals_pass_if(lambda error: error.is_replay):
        client.create_additional_assignments_for_hit(
            HITId=posting.external_id,
            NumberOfAdditionalAssignments=posting.max_assignments - known,
            UniqueRequestToken=f"{token}-{posting.max_assignments}",
        )


def prolong(client: Any, external_id: str, until: datetime) -> None:
    """Move the HIT's expiry to a later time; an expired HIT can be accepted again."""
    with channel_errors():
        if client.get_hit(HITId=external_id)["HIT"]["Expiration"] > until - LEAST_PROLONGED:
            return
    # After a replay, MTurk's time is out of date: it takes each time once for a HIT.
    with refusals_pass_if(lambda error: error.is_replay):
        client.update_expiration_for_hit(HITId=external_id, ExpireAt=until)


def expire(client: Any, external_id: str) -> None:
    """Expire the HIT now. Workers who have accepted it keep their time."""
    with refusals_pass_if(lambda error: error.code == GONE):
        client.update_expiration_for_hit(HITId=external_id, ExpireAt=LONG_PAST)


def delete(client: Any, external_id: str) -> None:
    """Delete the HIT. MTurk refuses while work on it is undecided."""
    with refusals_pass_if(lambda error: error.code == GONE or _is_deleted(client, external_id)):
        client.delete_hit(HITId=external_id)


def collect(client: Any, posting: Posting) -> Listing:
    """Read the HIT, then its assignments with every status: in this order, work submitted in between is in the list.
    Workers who are listed for the first time are shut out of the HIT's other postings."""
    with channel_errors():
        hit = client.get_hit(HITId=posting.external_id)["HIT"]
        pages = client.get_paginator("list_assignments_for_hit").paginate(
            HITId=posting.external_id, AssignmentStatuses=list(STATUSES), PaginationConfig={"PageSize": 100}
        )
        listed = {row["AssignmentId"]: _listed(row) for page in pages for row in page["Assignments"]}
    try:
        with channel_errors():
            shut_out_of_siblings(client, posting, listed.values())
    except ChannelError:
        # The submissions are stored anyway; a second answer of these workers is flagged.
        logger.exception("workers of posting %s could not be shut out of its HIT's other postings", posting.pk)
    there = STATES.get(hit["HITStatus"], There.UNKNOWN)
    return Listing(
        status=hit["HITStatus"],
        max_assignments=hit["MaxAssignments"],
        pending=hit["NumberOfAssignmentsPending"],
        is_over=hit["HITStatus"] in OVER and not hit["NumberOfAssignmentsPending"],
        expires_at=hit["Expiration"],
        assignments=list(listed.values()),
        there=There.FULL if there is There.OVER and len(listed) >= hit["MaxAssignments"] else there,
    )


def list_postings(client: Any) -> list[ListedPosting]:
    """List the HITs of the account, without deleted ones."""
    with channel_errors():
        pages = client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
        hits = [hit for page in pages for hit in page["HITs"]]
    return [
        ListedPosting(
            external_id=hit["HITId"],
            token=hit.get("RequesterAnnotation", ""),
            terms_id=hit["HITTypeId"],
            reward=Decimal(hit["Reward"]),
            max_assignments=hit["MaxAssignments"],
        )
        for hit in hits
    ]


def _hit_type_of(client: Any, round: Round, *, excludes: str = "") -> str:
    """Register the round's HIT type and return its id; identical terms have the same id. ``excludes``: a qualification
    whose workers do not see the HIT."""
    offer = offer_of(round)
    hidden_from = [exclusion_type(client)] + ([excludes] if excludes else [])
    registered = client.create_hit_type(
        Title=offer.title,
        Description=offer.description,
        Keywords=offer.keywords,
        Reward=str(cents(round.reward)),
        AssignmentDurationInSeconds=int(offer.duration.total_seconds()),
        AutoApprovalDelayInSeconds=offer.auto_approval_days * 24 * 60 * 60,
        QualificationRequirements=[
            *_demands(offer, round.environment),
            *(_requirement(type_id, "DoesNotExist", guard="DiscoverPreviewAndAccept") for type_id in hidden_from),
        ],
    )
    return str(registered["HITTypeId"])


def _demands(offer: Offer, environment: str) -> list[dict[str, Any]]:
    demands = []
    if offer.top_workers:
        demands.append(_requirement(MASTERS.get(environment, MASTERS["production"]), "Exists"))
    if offer.min_approved:
        demands.append(_requirement(APPROVED, "GreaterThanOrEqualTo", IntegerValues=[offer.min_approved]))
    if offer.min_approval_rate:
        demands.append(_requirement(APPROVAL_RATE, "GreaterThanOrEqualTo", IntegerValues=[offer.min_approval_rate]))
    if offer.countries:
        countries = [{"Country": code} for code in offer.countries]
        demands.append(_requirement(LOCALE, "In", LocaleValues=countries))
    return demands


def _requirement(type_id: str, comparator: str, *, guard: str = "Accept", **values: Any) -> dict[str, Any]:
    return {"QualificationTypeId": type_id, "Comparator": comparator, "ActionsGuarded": guard, **values}


def _posted_before(client: Any, posting: Posting, token: str) -> dict[str, Any] | None:
    """Return the HIT that an earlier call posted, if that was so long ago that MTurk has forgotten its token."""
    if clock.now() - posting.created_at < TOKEN_LIFE:
        return None
    hits = (hit for page in client.get_paginator("list_hits").paginate() for hit in page["HITs"])
    return next((hit for hit in hits if hit.get("RequesterAnnotation") == token), None)


def _post(client: Any, posting: Posting, token: str) -> dict[str, Any]:
    offer = offer_of(posting.round)
    url = settings.SITE_URL + reverse("crowd:entry", args=[posting.channel, posting.environment])
    try:
        with channel_errors():
            made: dict[str, Any] = client.create_hit_with_hit_type(
                HITTypeId=posting.terms_id,
                MaxAssignments=posting.max_assignments,
                LifetimeInSeconds=offer.lifetime_days * 24 * 60 * 60,
                Question=QUESTION.format(url=escape(url), height=offer.frame_height),
                RequesterAnnotation=token,
                UniqueRequestToken=token,
            )["HIT"]
            return made
    except TurkError as error:
        if error.code != "HitAlreadyExists":
            raise
        return _existing(client, token, str(error))


def _existing(client: Any, token: str, message: str) -> dict[str, Any]:
    """Return the HIT that an earlier call with this token posted: the error message names it."""
    for word in HIT_ID.findall(message):
        hit: dict[str, Any] = client.get_hit(HITId=word)["HIT"]
        if hit.get("RequesterAnnotation") == token:
            return hit
    raise ChannelError(
        f"MTurk has a HIT with token {token}, but its message does not name it: {message}", permanent=True
    )


def _is_deleted(client: Any, external_id: str) -> bool:
    with channel_errors():
        return bool(client.get_hit(HITId=external_id)["HIT"]["HITStatus"] == "Disposed")


def _listed(row: dict[str, Any]) -> Listed:
    return Listed(
        external_id=row["AssignmentId"],
        worker_id=row["WorkerId"],
        status=STATUSES[row["AssignmentStatus"]],
        submitted_at=row["SubmitTime"],
        auto_approval_at=row.get("AutoApprovalTime"),
        decided_at=row.get("ApprovalTime") or row.get("RejectionTime"),
        content=row.get("Answer", ""),
    )
