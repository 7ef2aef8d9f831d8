"""Prolific as a channel; the modules of this folder do the work of its methods."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from annotation.models import Assignment, Exclusion, Payment, Rejection
from crowd.channels.base import Arrival, Bonus, ChannelError, ListedPosting, Listing, Outcome
from crowd.channels.marketplaces import foreign_address, id_on, only_value
from crowd.channels.prolific import money, studies, submissions, workspaces
from crowd.channels.prolific.client import DESCRIPTIONS, NAMES, ProlificError, client_for, environment_of
from crowd.models import Message, Posting, Visit
from crowd.study_states import There
from hits.models import Round
from hits.prices import FeeSchedule, fair_reward

FINISH_PATH = "/submissions/complete"
ID = re.compile(r"[0-9a-f]{24}")
SLACK = timedelta(minutes=10)  # our lease outlasts the session: no worker loses a HIT because clocks differ


class ProlificChannel:
    """Studies on Prolific. PROLIFIC_ENVIRONMENTS lists the allowed environments, by default only ``emulator``."""

    environments: tuple[str, ...] = NAMES
    label = "Prolific"
    unused = frozenset(
        ("keywords", "lifetime_days", "auto_approval_days", "frame_height", "countries", "min_approved", "top_workers")
    )
    most_assignments = 30_000
    most_recipients = 100
    shortest_reason = 100
    reversible = timedelta(0)  # a rejection is final

    def describe(self, environment: str) -> str:
        return DESCRIPTIONS[environment]

    def spends(self, environment: str) -> bool:
        return environment == "live"

    def fees(self, *, top_workers: bool) -> FeeSchedule:
        return money.ESTIMATE

    def check(self, environment: str) -> None:
        environment_of(environment)

    def ask_fees(self, environment: str, round: Round, places: int) -> FeeSchedule:
        client = client_for(environment)
        minutes = studies.minutes_of(round)
        money.funds(client, workspaces.workspace_of(client))  # refuses another currency
        least = fair_reward(minutes * 60, money.LEAST_HOURLY)
        if round.reward < least:
            raise ChannelError(
                f"Prolific's floor is ${money.LEAST_HOURLY} an hour: ${least} for {minutes} minutes, more than the "
                f"reward of ${round.reward}. Pack the round again with a higher --reward.",
                permanent=True,
            )
        return money.fees(client, round.reward, places)

    def funds(self, environment: str) -> Decimal:
        client = client_for(environment)
        return money.funds(client, workspaces.workspace_of(client))

    def arrival(self, environment: str, fields: Mapping[str, Sequence[str]]) -> Arrival:
        """Read PROLIFIC_PID, STUDY_ID and SESSION_ID, which is the submission's id.

        Raises ChannelError if one is missing, malformed or has several values, and if Prolific did not fill it in.
        """
        worker, study, session = (_one(fields, name) for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
        finish = environment_of(environment).site + FINISH_PATH
        return Arrival(study, session, worker, finish, {}, is_preview=False)

    def origins(self, environment: str) -> tuple[str, ...]:
        return (environment_of(environment).site,)

    def confirm(self, posting: Posting, arrival: Arrival) -> bool:
        return submissions.confirm(client_for(posting.environment), posting, arrival)

    def finish(self, posting: Posting, outcome: Outcome) -> tuple[str, Mapping[str, str]]:
        return environment_of(posting.environment).site + FINISH_PATH, {"cc": studies.code_of(posting, outcome)}

    def longest_session(self, posting: Posting) -> timedelta:
        return timedelta(minutes=studies.time_limit_of(posting.round)) + SLACK

    def pause(self, posting: Posting, *, paused: bool) -> There:
        return studies.pause(client_for(posting.environment), posting.external_id, paused=paused)

    def publish(self, posting: Posting, *, token: str) -> None:
        studies.publish(client_for(posting.environment), posting, token=token)

    def extend(self, posting: Posting, *, token: str) -> None:
        studies.extend(client_for(posting.environment), posting)

    def prolong(self, posting: Posting, until: datetime, *, token: str) -> None:
        raise ChannelError("A study on Prolific does not expire.", permanent=True)

    def close(self, posting: Posting, *, token: str) -> None:
        studies.stop(client_for(posting.environment), posting.external_id)

    def dispose(self, posting: Posting, *, token: str) -> None:
        raise ChannelError("A study on Prolific cannot be removed.", permanent=True)

    def withdraw(self, external_id: str, *, environment: str) -> None:
        studies.stop(client_for(environment), external_id)

    def collect(self, posting: Posting) -> Listing:
        return submissions.collect(client_for(posting.environment), posting)

    def answer_fields(self, content: str) -> dict[str, str]:
        """Prolific carries no answers."""
        return {}

    def list_postings(self, environment: str) -> Sequence[ListedPosting]:
        return studies.list_postings(client_for(environment))

    def bonuses(self, posting: Posting) -> Sequence[Bonus]:
        return money.bonuses(client_for(posting.environment), posting)

    def pay(self, payment: Payment, *, token: str) -> None:
        """Approve the work, which pays its reward. A bonus goes by ``prepare_bonus`` and ``send_bonus``."""
        if payment.kind == Payment.Kind.BONUS:
            raise ChannelError("A bonus on Prolific is paid in two steps.", permanent=True)
        submissions.approve(client_for(payment.round.environment), payment.assignment)

    def prepare_bonus(self, payment: Payment) -> dict[str, Any]:
        return money.prepare(client_for(payment.round.environment), payment)

    def send_bonus(self, payment: Payment, prepared: dict[str, Any]) -> None:
        money.pay(client_for(payment.round.environment), prepared)

    def is_bonus_paid(self, payment: Payment, prepared: dict[str, Any]) -> bool:
        return money.is_paid(client_for(payment.round.environment), payment, prepared)

    def event_id(self, environment: str, headers: Mapping[str, str], body: bytes) -> str:
        return workspaces.event_id(headers, body, known=workspaces.secrets())

    def request_return(self, assignment: Assignment, reason: str) -> None:
        submissions.request_return(client_for(assignment.visit.environment), assignment, reason)

    def reject(self, rejection: Rejection, *, token: str) -> None:
        submissions.reject(client_for(rejection.assignment.visit.environment), rejection)

    def message(self, messages: Sequence[Message], *, environment: str, token: str) -> None:
        """Send them, with one call for each study that their workers were last in. No call is repeated: Prolific would
        send a message twice."""
        client = client_for(environment)
        by_study = defaultdict[str, dict[str, Message]](dict)
        for message in messages:
            message.failure = ""
            try:
                participant = id_on(self.label, message.worker, environment)
                by_study[_last_study(message, environment)][participant] = message
            except ChannelError as error:
                message.failure = str(error)
        is_first = True
        for study, recipients in by_study.items():
            body = f"{messages[0].subject}\n\n{messages[0].text}"
            try:
                client.post("messages/bulk/", {"ids": [*recipients], "body": body, "study_id": study})
            except ProlificError as error:
                if is_first and not (error.reached or error.permanent):
                    raise
                doubt = " It is unknown whether it arrived." if error.reached else ""
                for message in recipients.values():
                    message.failure = f"{error}{doubt}"
            is_first = False

    def exclude(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        workspaces.exclude(client_for(environment), id_on(self.label, exclusion.worker, environment))

    def readmit(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        workspaces.readmit(client_for(environment), id_on(self.label, exclusion.worker, environment))


def _last_study(message: Message, environment: str) -> str:
    """Return the study that a message is about: Prolific delivers none without one."""
    visits = Visit.objects.filter(worker=message.worker, channel="prolific", environment=environment)
    if study_id := visits.order_by("-pk").values_list("posting__external_id", flat=True).first():
        return str(study_id)
    raise ChannelError(f"Worker {message.worker} was in no study on Prolific's {environment}.", permanent=True)


def _one(fields: Mapping[str, Sequence[str]], name: str) -> str:
    value = only_value("Prolific", fields, name)
    if "{{%" in value:
        raise ChannelError(
            f"This study is set up incorrectly: Prolific did not fill in {name}. Please report it to the researchers.",
            permanent=True,
        )
    if not ID.fullmatch(value):
        raise foreign_address("Prolific", f"{name} is {'malformed' if value else 'missing'}.")
    return value
