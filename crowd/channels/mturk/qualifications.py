"""Qualifications that keep workers from our HITs, without blocks, which would endanger their accounts."""

from collections.abc import Iterable
from typing import Any

from annotation.models import WorkerIdentity
from crowd.channels.base import Listed
from crowd.channels.mturk.client import TurkError, channel_errors, refusals_pass_if
from crowd.models import Posting, Visit

EXCLUDED = "Counterpart: no further work"


def exclusion_type(client: Any) -> str:
    """Return the id of the qualification that hides our HITs from its workers; create it if it does not exist."""
    return _type_named(client, EXCLUDED, "Given to workers whom this requester offers no further work.")


def answered_type(client: Any, posting: Posting) -> str:
    """Return the id of the qualification of the workers who have answered this HIT in another posting; "" without
    other postings."""
    others = posting.one_hit.postings.exclude(pk=posting.pk)
    if not others.exists():
        return ""
    name = f"Counterpart: answered HIT {posting.one_hit.number} of {posting.round.name}"
    type_id = _type_named(client, name, "Given to those who have answered this HIT before, as each answers once.")
    assign(client, type_id, _listed_in(others))
    return type_id


def shut_out_of_siblings(client: Any, posting: Posting, listed: Iterable[Listed]) -> None:
    """Give the workers whom the posting lists for the first time the qualification that the HIT's other postings
    refuse."""
    types = set(posting.one_hit.postings.exclude(excludes="").values_list("excludes", flat=True))
    if types:
        known = set(_listed_in(Posting.objects.filter(pk=posting.pk)))
        for type_id in types:
            assign(client, type_id, {submission.worker_id for submission in listed} - known)


def assign(client: Any, type_id: str, worker_ids: Iterable[str]) -> None:
    """Assign a qualification to workers, without notifying them."""
    for worker_id in worker_ids:
        client.associate_qualification_with_worker(
            QualificationTypeId=type_id, WorkerId=worker_id, IntegerValue=1, SendNotification=False
        )


def withdraw_exclusion(client: Any, worker_id: str) -> None:
    """Take the exclusion from a worker. Repeating it changes nothing."""
    with refusals_pass_if(lambda error: error.code in ("QualificationDoesNotExist", "InvalidQualificationState")):
        client.disassociate_qualification_from_worker(
            QualificationTypeId=exclusion_type(client), WorkerId=worker_id, Reason="You may work for us again."
        )


def _type_named(client: Any, name: str, description: str) -> str:
    """Return the id of our qualification with this name; create it if it does not exist."""
    if known := _find(client, name):
        return known
    try:
        with channel_errors():
            made = client.create_qualification_type(
                Name=name, Description=description, QualificationTypeStatus="Active"
            )
            return str(made["QualificationType"]["QualificationTypeId"])
    except TurkError as error:
        if error.code != "QualificationTypeAlreadyExists" or not (known := _find(client, name)):
            raise
        return known


def _find(client: Any, name: str) -> str:
    pages = client.get_paginator("list_qualification_types").paginate(
        Query=name, MustBeRequestable=False, MustBeOwnedByCaller=True
    )
    types = (row for page in pages for row in page["QualificationTypes"])
    return next((str(row["QualificationTypeId"]) for row in types if row["Name"] == name), "")


def _listed_in(postings: Any) -> list[str]:
    """Return the platform ids of the workers who submitted to one of these postings, as far as we know."""
    workers = Visit.objects.listed().filter(posting__in=postings).values("worker")
    identities = WorkerIdentity.objects.filter(worker__in=workers, channel="mturk")
    return list(identities.values_list("external_id", flat=True))
