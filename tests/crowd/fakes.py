"""A platform that moves money, knows a repeated call by its token, and fails on request."""

import json
from collections import defaultdict
from datetime import timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from django.utils import timezone

from crowd.channels.base import Arrival, ChannelError, Listed, Listing
from hits.prices import FeeSchedule


class FakePlatform:
    """A paying platform for tests. ``failures`` are raised by the next calls, one each, before they take effect;
    ``submitted`` are the submissions that it lists, by the platform's id of their posting."""

    environments = ("emulator", "sandbox", "production")
    label = "Fake"
    unused: frozenset[str] = frozenset()
    most_assignments = 9
    most_recipients = 100
    reversible = timedelta(days=30)
    origin = "https://workers.example"

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.effects: dict[str, str] = {}
        self.failures: list[ChannelError] = []
        self.submitted: dict[str, list[Listed]] = defaultdict(list)

    def describe(self, environment):
        return f"The {environment} of a platform for tests."

    def spends(self, environment):
        return environment == "production"

    def fees(self, *, top_workers):
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
        posting.external_id, posting.terms_id, posting.status = f"H{posting.pk}", "T1", "Assignable"
        posting.posted_at, posting.expires_at = timezone.now(), timezone.now() + timedelta(days=7)

    def extend(self, posting, *, token):
        self._take("extend", token)

    def prolong(self, posting, until, *, token):
        self._take("prolong", token)

    def close(self, posting, *, token):
        self._take("close", token)

    def dispose(self, posting, *, token):
        self._take("dispose", token)

    def pay(self, payment, *, token):
        self._take("pay", token)

    def reject(self, rejection, *, token):
        self._take("reject", token)

    def message(self, messages, *, environment, token):
        self._take("message", token)

    def exclude(self, exclusion, *, environment, token):
        self._take("exclude", token)

    def readmit(self, exclusion, *, environment, token):
        self._take("readmit", token)

    def arrival(self, environment, fields):
        posting, assignment, worker = (fields[name][0] for name in ("posting", "assignment", "worker"))
        return Arrival(posting, assignment, worker, f"{self.origin}/finish", {"assignment": assignment}, False)

    def origins(self, environment):
        return (self.origin,)

    def submit(self, posting_id, assignment_id, worker_id, content=""):
        """Have a worker submit there."""
        now = timezone.now()
        self.submitted[posting_id].append(Listed(assignment_id, worker_id, "submitted", now, None, None, content))

    def collect(self, posting):
        submitted = self.submitted[posting.external_id]
        is_over = len(submitted) == posting.posted_assignments
        return Listing("Listed", posting.posted_assignments, 0, is_over, posting.expires_at, submitted)

    def answer_fields(self, content):
        return json.loads(content or "{}")

    def list_postings(self, environment):
        return []

    def bonuses(self, posting):
        return []

    def withdraw(self, external_id, *, environment):
        self._take("withdraw", external_id)


def robin() -> User:
    """A person of the staff."""
    return User.objects.get_or_create(username="robin")[0]
