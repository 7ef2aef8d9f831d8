"""A platform that moves money, knows a repeated call by its token, and fails when told to."""

from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from crowd.channels import ChannelError
from hits.prices import FeeSchedule


class FakePlatform:
    """Stands in for a paying platform. ``failures`` are raised by the next calls, one each, before they take effect."""

    environments = ("emulator", "sandbox", "production")
    is_remote = True
    label = "Fake"
    most_assignments = 9
    assignment_field = "assignmentId"

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.effects: dict[str, str] = {}
        self.failures: list[ChannelError] = []

    def describe(self, environment):
        return f"The {environment} of a platform that is none."

    def spends(self, environment):
        return environment == "production"

    def fees(self, offer):
        return FeeSchedule(reward=Decimal("0.20"), bonus=Decimal("0.20"))

    def check(self, environment):
        assert environment in self.environments

    def funds(self, environment):
        return Decimal("10000.00")

    def _take(self, call: str, token: str) -> None:
        self.calls.append((call, token))
        if self.failures:
            raise self.failures.pop(0)
        self.effects[token] = call

    def publish(self, posting, *, token):
        self._take("publish", token)
        posting.external_id, posting.type_id, posting.status = f"H{posting.pk}", "T1", "Assignable"
        posting.posted_at, posting.expires_at = timezone.now(), timezone.now() + timedelta(days=7)

    def extend(self, posting, *, token):
        self._take("extend", token)

    def close(self, posting, *, token):
        self._take("close", token)

    def dispose(self, posting, *, token):
        self._take("dispose", token)

    def pay(self, payment, *, token):
        self._take("pay", token)
        return True

    def reject(self, rejection, *, token):
        self._take("reject", token)

    def message(self, message, *, environment, token):
        self._take("message", token)

    def exclude(self, exclusion, *, environment, token):
        self._take("exclude", token)

    def readmit(self, exclusion, *, environment, token):
        self._take("readmit", token)
