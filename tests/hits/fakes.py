"""A platform that moves money, knows a repeated call by its token, and fails when told to."""

from hits.channels import ChannelError


class FakePlatform:
    """Stands in for a paying platform. ``failures`` are raised by the next calls, one each, before they take effect."""

    environments = ("sandbox", "production")

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.effects: dict[str, str] = {}
        self.failures: list[ChannelError] = []

    def _take(self, call: str, token: str) -> None:
        self.calls.append((call, token))
        if self.failures:
            raise self.failures.pop(0)
        self.effects[token] = call

    def publish(self, round, *, token):
        self._take("publish", token)

    def close(self, round, *, token):
        self._take("close", token)

    def pay(self, payment, *, token):
        self._take("pay", token)
        return True
