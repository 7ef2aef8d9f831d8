"""MTurk behind the house's one interface; each call stands in a module of its own."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from annotation.models import Exclusion, Payment, Rejection
from crowd.channels.base import Arrival, Bonus, Listing, Standing
from crowd.channels.mturk import collecting, frame, messaging, paying, posting, qualifying
from crowd.channels.mturk.client import client_for, told_as_channel_errors
from crowd.channels.mturk.environments import DESCRIPTIONS, NAMES, environment_of
from crowd.channels.mturk.fees import fee_schedule
from crowd.models import Message, Posting
from crowd.offers import Offer
from hits.prices import FeeSchedule


class MTurkChannel:
    """Work on MTurk. ``emulator`` is ours; ``sandbox`` and ``production`` are off until a setting allows them."""

    environments: tuple[str, ...] = NAMES
    is_remote = True
    label = "MTurk"
    most_assignments = 9  # from ten on a HIT costs a higher fee, and none may grow past nine later

    def describe(self, environment: str) -> str:
        return DESCRIPTIONS[environment]

    def spends(self, environment: str) -> bool:
        return environment == "production"

    def fees(self, offer: Offer) -> FeeSchedule:
        return fee_schedule(masters=offer.masters)

    def check(self, environment: str) -> None:
        client_for(environment)

    def funds(self, environment: str) -> Decimal:
        with told_as_channel_errors():
            return Decimal(client_for(environment).get_account_balance()["AvailableBalance"])

    def publish(self, posted: Posting, *, token: str) -> None:
        posting.publish(client_for(posted.environment), posted, token=token)

    def extend(self, posted: Posting, *, token: str) -> None:
        posting.extend(client_for(posted.environment), posted, token=token)

    def close(self, posted: Posting, *, token: str) -> None:
        posting.close(client_for(posted.environment), posted.external_id)

    def dispose(self, posted: Posting, *, token: str) -> None:
        posting.dispose(client_for(posted.environment), posted)

    def collect(self, posted: Posting) -> Listing:
        return collecting.collect(client_for(posted.environment), posted)

    def standing(self, environment: str) -> Sequence[Standing]:
        return collecting.standing(client_for(environment))

    def bonuses(self, posted: Posting) -> Sequence[Bonus]:
        return collecting.bonuses(client_for(posted.environment), posted)

    def withdraw(self, external_id: str, *, environment: str) -> None:
        posting.close(client_for(environment), external_id)

    def pay(self, payment: Payment, *, token: str) -> bool:
        client = client_for(payment.assignment.environment)
        if payment.kind == Payment.Kind.BONUS:
            paying.give_bonus(client, payment, token=token)
        else:
            paying.approve(client, payment.assignment)
        return True

    def reject(self, rejection: Rejection, *, token: str) -> None:
        paying.reject(client_for(rejection.assignment.environment), rejection)

    def message(self, message: Message, *, environment: str, token: str) -> None:
        messaging.send(client_for(environment), message, environment=environment)

    def exclude(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        client, worker_id = client_for(environment), qualifying.platform_id(exclusion.worker, environment)
        with told_as_channel_errors():
            qualifying.shut_out(client, qualifying.exclusion_type(client), [worker_id])

    def readmit(self, exclusion: Exclusion, *, environment: str, token: str) -> None:
        client, worker_id = client_for(environment), qualifying.platform_id(exclusion.worker, environment)
        with told_as_channel_errors():
            qualifying.readmit(client, worker_id)

    def arrival(self, environment: str, fields: Mapping[str, Sequence[str]]) -> Arrival:
        return frame.arrival(environment, fields)

    def answer_fields(self, content: str) -> dict[str, str]:
        return frame.answer_fields(content)

    def origins(self, environment: str) -> tuple[str, ...]:
        return tuple(environment_of(environment).origins)
