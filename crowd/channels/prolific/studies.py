"""Studies on Prolific: draft, publish, add places, stop and list them. Every call may be made twice."""

from hashlib import sha256
from math import ceil
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.dateparse import parse_datetime

from core import clock
from crowd.channels.base import ChannelError, ListedPosting, Outcome
from crowd.channels.prolific.client import Client, ProlificError
from crowd.channels.prolific.money import check_currency, longest_minutes, major, minor
from crowd.channels.prolific.workspaces import exclusion_group, project_of
from crowd.models import Posting
from crowd.offers import Offer, offer_of
from crowd.study_states import There
from hits.models import Round

ADDRESS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
# Every submission is reviewed: all participants know the code, so it proves nothing.
REVIEW = [{"action": "MANUALLY_REVIEW"}]
RETURN = [{"action": "REQUEST_RETURN", "return_reason": "You did not agree to take part."}]
CODES = {
    Outcome.DONE: ("COMPLETED", REVIEW),
    Outcome.NO_WORK: ("OTHER", REVIEW),
    Outcome.NO_CONSENT: ("NO_CONSENT", RETURN),
}
STOPPABLE = ("ACTIVE", "PAUSED")
ENDED = ("AWAITING REVIEW", "COMPLETED")
STATES = {
    "UNPUBLISHED": There.DRAFT,
    "SCHEDULED": There.SCHEDULED,
    "PUBLISHING": There.STARTING,
    "ACTIVE": There.OPEN,
    "PAUSED": There.PAUSED,
}
BLOCKED = "participant_group_blocklist"
APPROVAL_RATE = "approval_rate"


def code_of(posting: Posting, outcome: Outcome) -> str:
    """Return the code that ends a session of the study: the same on every call, and derived from a secret of the round,
    so that participants cannot guess it."""
    secret = f"{posting.round.join_key}:{posting.pk}:{outcome.value}"
    return sha256(secret.encode()).hexdigest()[:10].upper()


def minutes_of(round: Round) -> int:
    """Return the minutes that the study states. Raises ChannelError while the time of a HIT is unknown."""
    if not round.expected_seconds:
        raise ChannelError(
            "Prolific shows the expected minutes and judges the pay by them: pass --expected-minutes or --pilot.",
            permanent=True,
        )
    return ceil(round.expected_seconds / 60)


def time_limit_of(round: Round) -> int:
    """Return the minutes after which Prolific ends a session: those of the offer, or as many as Prolific requires."""
    return max(offer_of(round).minutes, longest_minutes(minutes_of(round)))


def publish(client: Client, posting: Posting, *, token: str) -> None:
    """Publish the study, or find it if an earlier call made or published it, and set the posting's id, status, time."""
    study = _draft(client, posting, token)
    if study["status"] == "UNPUBLISHED":
        if study["total_available_places"] != posting.max_assignments:
            study = client.patch(f"studies/{study['id']}/", {"total_available_places": posting.max_assignments})
        _check_cost(client, posting, study["id"])
        study = client.post(f"studies/{study['id']}/transition/", {"action": "PUBLISH"})
    if study["status"] in ("UNPUBLISHED", "PUBLISHING", "SCHEDULED"):
        raise ProlificError(f"Prolific lists the study as {study['status']}; it is read again.", reached=True)
    posting.external_id = study["id"]
    posting.status = study["status"]
    posting.posted_at = parse_datetime(study.get("published_at") or "") or clock.now()


def extend(client: Client, posting: Posting) -> None:
    """Raise the study's places to ``max_assignments``, an absolute number; a full study then takes people again."""
    if client.get(f"studies/{posting.external_id}/")["total_available_places"] < posting.max_assignments:
        client.patch(f"studies/{posting.external_id}/", {"total_available_places": posting.max_assignments})


def stop(client: Client, study_id: str) -> str:
    """End recruiting; participants with a place may finish. Return the status that the study had."""
    status = str(client.get(f"studies/{study_id}/")["status"])
    if status in STOPPABLE:
        client.post(f"studies/{study_id}/transition/", {"action": "STOP"})
    elif status == "PUBLISHING":
        raise ProlificError("Prolific is still publishing the study; it is stopped later.", reached=False)
    return status


def state_of(status: str, *, free: int) -> There:
    """Return the state of a study by its status and free places: Prolific has one status for full and stopped ones."""
    if status in ENDED:
        return There.STOPPED if free > 0 else There.FULL
    return STATES.get(status, There.UNKNOWN)


def pause(client: Client, study_id: str, *, paused: bool) -> There:
    """Pause or resume recruiting, and return the study's state then. Repeating it changes nothing."""
    come_from, action = ("ACTIVE", "PAUSE") if paused else ("PAUSED", "START")
    study = client.get(f"studies/{study_id}/")
    status = study["status"]
    if status == come_from:
        status = client.post(f"studies/{study_id}/transition/", {"action": action})["status"]
    return state_of(status, free=study["total_available_places"] - study["places_taken"])


def list_postings(client: Client) -> list[ListedPosting]:
    """List the studies of the account, of all rounds and people."""
    return [
        ListedPosting(
            external_id=study["id"],
            token=study.get("internal_name") or "",
            terms_id="",
            reward=major(study["reward"]),
            max_assignments=study["total_available_places"],
        )
        for study in client.rows("studies/")
    ]


def _check_cost(client: Client, posting: Posting, study_id: str) -> None:
    """Raise ChannelError if the study costs more than the calculator said: the calculator uses the fees of the token's
    account, but the study's workspace pays."""
    named = client.get(f"studies/{study_id}/cost/", is_projected="true").get("rewards")
    parts = (named or {}).values()  # documented as null where nothing is known
    for part in parts:
        check_currency(part["currency"])
    cost = major(sum(part["amount"] for part in parts))
    expected = posting.round.seat_cost * posting.max_assignments
    if cost > expected:
        raise ChannelError(
            f"Prolific asks ${cost} for the study's {posting.max_assignments} places, and its calculator had named "
            f"${expected}: the workspace that pays has other fees than the account of the token. Nothing was "
            "published; use a token of an account with the fees of that workspace.",
            permanent=True,
        )


def _draft(client: Client, posting: Posting, token: str) -> dict[str, Any]:
    """Return the study with the call's token, a published one first, and delete spare drafts, which lost replies leave
    behind. Without any, make a draft."""
    named = [study for study in client.rows("studies/") if study.get("internal_name") == token]
    named.sort(key=lambda study: (study["status"] == "UNPUBLISHED", study["date_created"], study["id"]))
    for spare in named[1:]:
        if spare["status"] == "UNPUBLISHED":
            client.delete(f"studies/{spare['id']}/")
    if named:
        study: dict[str, Any] = client.get(f"studies/{named[0]['id']}/")
        return study
    made: dict[str, Any] = client.post("studies/", _body(client, posting, token))
    return made


def _body(client: Client, posting: Posting, token: str) -> dict[str, Any]:
    round = posting.round
    offer = offer_of(posting.round)
    hits = round.hits.count()
    entry = reverse("crowd:entry", args=[posting.channel, posting.environment])
    return {
        "name": offer.title,
        "internal_name": token,
        "project": project_of(client),
        "description": offer.description,
        "external_study_url": f"{settings.SITE_URL}{entry}{ADDRESS}",
        "prolific_id_option": "url_parameters",
        "completion_codes": [
            {"code": code_of(posting, outcome), "code_type": kind, "actor": "participant", "actions": actions}
            for outcome, (kind, actions) in CODES.items()
        ],
        "total_available_places": posting.max_assignments,
        "estimated_completion_time": minutes_of(round),
        "maximum_allowed_time": time_limit_of(round),
        "reward": minor(round.reward),
        "device_compatibility": ["desktop", "tablet", "mobile"],
        "filters": _filters(client, offer),
        # A session gets one HIT: a participant cannot have more sessions than the round has HITs.
        "submissions_config": {"max_submissions_per_participant": min(offer.max_sessions or hits, hits)},
        "study_labels": ["annotation"],
    }


def _filters(client: Client, offer: Offer) -> list[dict[str, Any]]:
    """Return the filters against excluded participants and low approval rates, as far as Prolific lists them."""
    known = {row["filter_id"] for row in client.rows("filters/", key="filter_id")}
    filters: list[dict[str, Any]] = []
    if BLOCKED in known:
        filters.append({"filter_id": BLOCKED, "selected_values": [exclusion_group(client)]})
    if offer.min_approval_rate:
        if APPROVAL_RATE not in known:
            raise ChannelError("Prolific lists no filter for the approval rate: leave it out.", permanent=True)
        selected = {"lower": offer.min_approval_rate, "upper": 100}
        filters.append({"filter_id": APPROVAL_RATE, "selected_range": selected})
    return filters
