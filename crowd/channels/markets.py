"""Where a round may be published: a channel in one of its environments, in words that people can choose by."""

from dataclasses import dataclass

from core.errors import CounterpartError, some_of
from crowd import channels
from crowd.channels import ChannelError


@dataclass(frozen=True)
class Market:
    """One channel in one environment ("" where it has only one). ``note`` says what publishing there means; ``spends``
    whether that takes real money from an account, ``rehearsal`` whether workers may be simulated there."""

    channel: str
    environment: str
    label: str
    note: str
    is_remote: bool
    spends: bool
    rehearsal: bool

    def __str__(self) -> str:
        return f"{self.label}, {self.environment}" if self.environment else self.label

    @property
    def key(self) -> str:
        """How addresses and forms name it."""
        return f"{self.channel}:{self.environment}" if self.environment else self.channel


def market_of(channel: str, environment: str) -> Market:
    """Describe a market, usable or not. Raises CounterpartError for an unknown channel."""
    found = channels.get(channel)
    note, spends = found.describe(environment), found.spends(environment)
    rehearsal = found.is_remote and environment == found.environments[0]
    return Market(channel, environment, found.label, note, found.is_remote, spends, rehearsal)


def usable_markets() -> list[Market]:
    """Return the markets that the settings allow, in the order of the channels; nothing is called."""
    places = ((name, place) for name, channel in channels.CHANNELS.items() for place in channel.environments or ("",))
    return [market_of(name, place) for name, place in places if _is_usable(name, place)]


def find_market(key: str) -> Market:
    """Return the usable market of this key. Raises CounterpartError that lists the ones there are."""
    usable = usable_markets()
    if found := next((market for market in usable if market.key == key), None):
        return found
    raise CounterpartError(
        f"Nothing can be published on {key!r} here; choose one of: {some_of([market.key for market in usable])}."
    )


def _is_usable(channel: str, environment: str) -> bool:
    if not channels.get(channel).is_remote:
        return True
    try:
        channels.platform(channel).check(environment)
    except ChannelError:
        return False
    return True
