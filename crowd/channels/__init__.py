"""The channels by name, and where a round can be published: a channel in one of its environments."""

from dataclasses import dataclass

from core import extensions
from core.errors import CounterpartError, some_of
from core.extensions import load
from crowd.channels.base import Channel, ChannelError, Platform, SessionPlatform

CHANNELS: dict[str, Channel] = {name: channel() for name, channel in load(extensions.CHANNELS).items()}


def get(name: str) -> Channel:
    """Return the channel called ``name``. Raises CounterpartError if there is none."""
    if name not in CHANNELS:
        raise CounterpartError(f"Unknown channel {name!r}: choose one of {some_of([*CHANNELS])}.")
    return CHANNELS[name]


def platforms() -> dict[str, Platform]:
    """Return the channels that are platforms, by name."""
    return {name: channel for name, channel in CHANNELS.items() if isinstance(channel, Platform)}


def platform(name: str) -> Platform:
    """Return the platform called ``name``. Raises CounterpartError if there is none."""
    channel = get(name)
    if not isinstance(channel, Platform):
        raise CounterpartError(f"Channel {name!r} is not a platform.")
    return channel


def is_by_session(name: str) -> bool:
    """Whether the channel lists whole rounds, whose visitors we give a HIT."""
    return isinstance(CHANNELS.get(name), SessionPlatform)


def listed_as(name: str) -> str:
    """Return what a platform calls the postings of rounds."""
    return "studies" if is_by_session(name) else "HITs"


def session_platform(name: str) -> SessionPlatform:
    """Return the platform called ``name``, which lists whole rounds. Raises CounterpartError if it does not."""
    channel = get(name)
    if not isinstance(channel, SessionPlatform):
        raise CounterpartError(f"Channel {name!r} lists no whole rounds.")
    return channel


@dataclass(frozen=True)
class Market:
    """One channel in one environment ("" if it has only one). ``note`` says what publishing there means; ``spends``:
    with real money; ``rehearsal``: workers may be simulated there; ``has_postings``: HITs are posted on a platform."""

    channel: str
    environment: str
    label: str
    note: str
    has_postings: bool
    spends: bool
    rehearsal: bool

    def __str__(self) -> str:
        return f"{self.label}, {self.environment}" if self.environment else self.label

    @property
    def key(self) -> str:
        """Its name in addresses and forms."""
        return f"{self.channel}:{self.environment}" if self.environment else self.channel


def market_of(channel: str, environment: str) -> Market:
    """Describe a market, usable or not. Raises CounterpartError for an unknown channel."""
    place = get(channel)
    return Market(
        channel,
        environment,
        label=place.label,
        note=place.describe(environment),
        has_postings=isinstance(place, Platform),
        spends=place.spends(environment),
        rehearsal=bool(place.environments) and environment == place.environments[0],
    )


def usable_markets() -> list[Market]:
    """Return the markets that the settings allow, in the order of the channels. No platform is called."""
    places = ((name, place) for name, channel in CHANNELS.items() for place in channel.environments or ("",))
    return [market_of(name, place) for name, place in places if _is_usable(CHANNELS[name], place)]


def find_market(key: str) -> Market:
    """Return the usable market with this key. Raises CounterpartError that lists the usable ones."""
    usable = usable_markets()
    if found := next((market for market in usable if market.key == key), None):
        return found
    raise CounterpartError(
        f"Publishing on {key!r} is not possible here: choose one of {some_of([market.key for market in usable])}."
    )


def _is_usable(channel: Channel, environment: str) -> bool:
    if isinstance(channel, Platform):
        try:
            channel.check(environment)
        except ChannelError:
            return False
    return True
