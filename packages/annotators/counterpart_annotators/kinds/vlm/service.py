"""A model behind a chat endpoint: what its answers cost, and the limits of its use."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from threading import Lock

from counterpart_annotators.kinds.vlm.questions import INSTRUCTION, MOST_ANSWER_TOKENS, Usage
from counterpart_annotators.kinds.vlm.spending import Ceiling

PATH = "/chat/completions"
MILLION = 1_000_000
ROLES_AND_PUNCTUATION = 100  # more than the tokens around the texts of a request


@dataclass(frozen=True)
class Prices:
    """Prices of a million input and output tokens, and the most tokens that a picture takes."""

    read: Decimal
    written: Decimal
    picture_tokens: int

    def of(self, usage: Usage, caption: str) -> tuple[tuple[int, int], Decimal]:
        """Return input and output tokens, and their cost; the maximum if the endpoint does not say.

        A text never has more tokens than bytes.
        """
        most = len((INSTRUCTION + caption).encode()) * 2 + ROLES_AND_PUNCTUATION + self.picture_tokens
        read = most if usage.input_tokens is None else usage.input_tokens
        written = MOST_ANSWER_TOKENS if usage.output_tokens is None else usage.output_tokens
        return (read, written), (read * self.read + written * self.written) / MILLION

    def most(self, caption: str) -> Decimal:
        """Return the most that a question about a caption can cost."""
        return self.of(Usage(), caption)[1]


@dataclass(frozen=True)
class Service:
    """A model behind an endpoint, and the limits of its use.

    ``endpoint`` is the base URL including ``/v1``. ``key`` is secret: it goes into the header of requests and nowhere
    else; ``key_variable`` is the environment variable that holds it. ``timeout`` is in seconds; ``per_minute`` 0 means
    no limit.
    """

    endpoint: str
    model: str
    key_variable: str
    key: str
    prices: Prices
    ceiling: Ceiling
    attempts: int
    timeout: float
    per_minute: int
    parallel: int

    def __repr__(self) -> str:
        return f"{self.model} at {self.endpoint}"

    def without_key(self, text: str) -> str:
        """Return a text of others with the key removed."""
        return text.replace(self.key, "[key]") if self.key else text

    @property
    def url(self) -> str:
        """The address that requests are sent to."""
        return self.endpoint.rstrip("/").removesuffix(PATH) + PATH

    @property
    def purse(self) -> str:
        """The name under which all requests to this model are counted."""
        return f"{self.url} {self.model}"


class Pacer:
    """Spaces the starts of requests evenly; threads may share it."""

    def __init__(
        self,
        per_minute: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``per_minute`` 0 means no limit."""
        self._gap = 60 / per_minute if per_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._lock = Lock()
        self._next = clock()

    def wait(self) -> None:
        """Return when the next request may start."""
        with self._lock:
            start = max(self._next, self._clock())
            self._next = start + self._gap
        delay = start - self._clock()
        if delay > 0:
            self._sleep(delay)
