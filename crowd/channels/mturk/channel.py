"""MTurk as a channel; the modules of this folder do the work of its methods."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from annotation.models import Exclusion, Payment, Rejection
from crowd.channels.base import Arrival, Bonus, ChannelError, ListedPosting, Listing
from crowd.channels.marketplaces import foreign_address, id_on, only_value
from crowd.channels.mturk import hits, payments, qualifications
from crowd.channels.mturk.client import DESCRIPTIONS, NAMES, TurkError, channel_errors, client_for, environment_of
from crowd.models import Message, Posting
from hits.prices import FeeSchedule

SUBMIT_PATH = "/mturk/externalSubmit"
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
ENTITY = re.compile(r"[A-Z0-9]{1,64}")
WORKER = re.compile(r"A[A-Z0-9]{7,63}")
ANSWERS = "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd}"


class MTurkChannel:
    """HITs on MTurk. MTURK_ENVIRONMENTS lists the allowed environments, by default only ``emulator``."""

    environments: tuple[str, ...] = NAMES
    label = "MTurk"
    unused = frozenset({"max_sessions"})
    most_assignments = 9  # a HIT with ten or more has a higher fee, and one with fewer cannot grow past nine
    most_recipients = 100
    reversible = timedelta(days=30)  # unless the HIT was deleted

    def describe(self, environment: str) -> str:
        return DESCRIPTIONS[environment]

    def spends(self, environment: str) -> bool:
        return environment == "production"

    def fees(self, *, top_workers: bool) -> FeeSchedule:
        return payments.fee_schedule(masters=top_workers)

    def check(self, environment: str) -> None:
        client_for(environment)

    def funds(self, environment: str) -> Decimal:
        with channel_errors():
            return Decimal(client_for(environment).get_account_balance()["AvailableBalance"])

    def arrival(self, environment: str, fields: Mapping[str, Sequence[str]]) -> Arrival:
        """Read assignmentId, hitId, workerId and turkSubmitTo.

        Raises ChannelError if one is malformed, has several values, or is missing although the HIT was accepted, or if
        turkSubmitTo is not a site of the environment.
        """
        assignment = only_value(self.label, fields, "assignmentId") or PREVIEW
        is_preview = assignment == PREVIEW
        return Arrival(
            posting_id=_matching(ENTITY, only_value(self.label, fields, "hitId"), "hitId", optional=is_preview),
            assignment_id="" if is_preview else _matching(ENTITY, assignment, "assignmentId"),
            worker_id=_matching(WORKER, only_value(self.label, fields, "workerId"), "workerId", optional=is_preview),
            finish_url=_finish_url(environment, only_value(self.label, fields, "turkSubmitTo")),
            finish_fields={"assignmentId": assignment},
            is_preview=is_preview,
        )

    def origins(self, environment: str) -> tuple[str, ...]:
        return tuple(environment_of(environment).origins)

    def publish(self, posting: Posting, *, token: str) -> None:
        hits.publish(client_for(posting.environment), posting, token=token)

    def extend(self, posting: Posting, *, token: str) -> None:
        hits.extend(client_for(posting.environment), posting, token=token)

    def prolong(self, posting: Posting, until: datetime, *, token: str) -> None:
        hits.prolong(client_for(posting.environment), posting.external_id, until)

    def close(self, posting: Posting, *, token: str) -> None:
        hits.expire(client_for(posting.environment), posting.external_id)

    def dispose(self, posting: Posting, *, token: str) -> None:
        hits.delete(client_for(posting.environment), posting.external_id)

    def withdraw(self, external_id: str, *, environment: str) -> None:
        hits.expire(client_for(environment), external_id)

    def collect(self, posting: Posting) -> Listing:
        return hits.collect(client_for(posting.environment), posting)

    def answer_fields(self, content: str) -> dict[str, str]:
        """Parse QuestionFormAnswers into text by question. Unknown parts are ignored; content that is empty, other XML
        or declares a DTD or entities has no fields."""
        try:
            root = fromstring(content, forbid_dtd=True) if content.strip() else None
        except (ParseError, DefusedXmlException, ValueError):
            return {}
        answers = [] if root is None else root.findall(f"{ANSWERS}Answer")
        return {
            answer.findtext(f"{ANSWERS}QuestionIdentifier", ""): answer.findtext(f"{ANSWERS}FreeText", "") or ""
            for answer in answers
        }

    def list_postings(self, environment: str) -> Sequence[ListedPosting]:
        return hits.list_postings(client_for(environment))

    def bonuses(self, posting: Posting) -> Sequence[Bonus]:
        return payments.bonuses(client_for(posting.environment), posting)

    def pay(self, payment: Payment, *, token: str) -> None:
        client = client_for(payment.round.environment)
        if payment.kind == Payment.Kind.BONUS:
            payments.give_bonus(client, payment, token=token)
        else:
            payments.approve(client, payment.assignment)

    def reject(self, rejection: Rejection, *, token: str) -> None:
        payments.reject(client_for(rejection.assignment.visit.environment), rejection)

    def message(self, messages: Sequence[Message], *, environment: str, token: str) -> None:
        """Send them once. MTurk lists no messages, so a retry after a lost response could send them twice: it fails."""
        client = client_for(environment)
        known = {}
        for message in messages:
            message.failure = ""
            try:
                known[id_on(self.label, message.worker, environment)] = message
            except ChannelError as error:
                message.failure = str(error)
        if not known:
            return
        words = {"Subject": messages[0].subject, "MessageText": messages[0].text}
        try:
            with channel_errors():
                answer = client.notify_workers(**words, WorkerIds=[*known])
        except TurkError as error:
            if not error.reached:
                raise
            raise ChannelError(f"{error} It is unknown whether the message arrived.", permanent=True) from error
        for failed in answer.get("NotifyWorkersFailureStatuses", []):
            known[failed["WorkerId"]].failure = failed.get("NotifyWorkersFailureMessage") or "not delivered"

    def exclude(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        client = client_for(environment)
        worker_id = id_on(self.label, exclusion.worker, environment)
        with channel_errors():
            qualifications.assign(client, qualifications.exclusion_type(client), [worker_id])

    def readmit(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        client = client_for(environment)
        worker_id = id_on(self.label, exclusion.worker, environment)
        with channel_errors():
            qualifications.withdraw_exclusion(client, worker_id)


def _matching(pattern: re.Pattern[str], value: str, name: str, *, optional: bool = False) -> str:
    if (optional and not value) or pattern.fullmatch(value):
        return value
    raise foreign_address("MTurk", f"{name} is {'malformed' if value else 'missing'}.")


def _finish_url(environment: str, wanted: str) -> str:
    origins = environment_of(environment).origins
    origin = wanted.rstrip("/") or origins[0]
    if origin not in origins:
        raise foreign_address("MTurk", f"turkSubmitTo is {wanted!r}, which is not a site of MTurk's {environment}.")
    return origin + SUBMIT_PATH
