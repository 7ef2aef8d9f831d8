"""Where a model is asked, what for, and at what price."""

from dataclasses import dataclass
from decimal import Decimal

from mitl.chat.answers import Usage
from mitl.chat.ledger import Ceiling
from mitl.chat.question import INSTRUCTION, MOST_ANSWER_TOKENS

PATH = "/chat/completions"
MILLION = 1_000_000
ROLES_AND_PUNCTUATION = 100  # tokens around the texts of a request, by far


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost that the model reads and that it writes; how many a picture takes at most."""

    read: Decimal
    written: Decimal
    picture_tokens: int

    def of(self, usage: Usage, caption: str) -> tuple[tuple[int, int], Decimal]:
        """Return tokens read and written, and their cost; the most there can be where the endpoint does not say.

        No tokeniser makes more tokens of a text than it has bytes.
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
    """A model behind an endpoint, and how it may be used.

    ``endpoint`` is the base URL, up to and with ``/v1``. ``key`` is secret: it goes into the header of requests and
    nowhere else, and ``key_variable`` is where it came from. ``timeout`` is in seconds; ``per_minute`` 0 is any number.
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
        """Return what somebody else said with the key taken out."""
        return text.replace(self.key, "[key]") if self.key else text

    @property
    def url(self) -> str:
        """The address that questions are sent to."""
        return self.endpoint.rstrip("/").removesuffix(PATH) + PATH

    @property
    def purse(self) -> str:
        """What all questions to this model are spent from."""
        return f"{self.url} {self.model}"
