"""The HIT type of a round: its reward, words, times and demands. Identical values give the same type, so that asking
again for one is harmless."""

from typing import Any

from crowd.channels.mturk.qualifying import exclusion_type
from crowd.offers import Offer, offer_of
from hits.models import Round
from hits.prices import cents

MASTERS = {"production": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "sandbox": "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"}
APPROVED, APPROVAL_RATE, LOCALE = "00000000000000000040", "000000000000000000L0", "00000000000000000071"


def hit_type_of(client: Any, round: Round, *, excludes: str = "") -> str:
    """Register the round's terms and return the type's id. ``excludes``: bearers of this qualification see nothing."""
    offer = offer_of(round)
    shut_out = [exclusion_type(client)] + ([excludes] if excludes else [])
    registered = client.create_hit_type(
        Title=offer.title,
        Description=offer.description,
        Keywords=offer.keywords,
        Reward=str(cents(round.reward)),
        AssignmentDurationInSeconds=int(offer.duration.total_seconds()),
        AutoApprovalDelayInSeconds=offer.auto_approval_days * 24 * 60 * 60,
        QualificationRequirements=[
            *_demands(offer, round.environment),
            *(_requirement(id, "DoesNotExist", guard="DiscoverPreviewAndAccept") for id in shut_out),
        ],
    )
    return str(registered["HITTypeId"])


def _demands(offer: Offer, environment: str) -> list[dict[str, Any]]:
    demands = []
    if offer.masters:
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
