"""The ledger of a chat model: what it was asked and answered, and what that cost, kept by the caller."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from counterpart_annotators.kinds.vlm.questions import JudgeAnswer


@dataclass(frozen=True)
class Ceiling:
    """The limits of all spending from a purse: requests, and money (None: no limit)."""

    requests: int
    money: Decimal | None


@dataclass(frozen=True)
class Experience:
    """Recent answers: their number, and the means of their seconds and cost."""

    answers: int
    seconds: float
    cost: Decimal


class Ledger(Protocol):
    """What a caller keeps. A purse is the name of a model at an endpoint; threads call this at the same time."""

    def answers_to(self, questions: Sequence[str]) -> dict[str, JudgeAnswer]:
        """Return the stored answers, by question."""

    def reserve(self, question: str, purse: str, most: Decimal, ceiling: Ceiling) -> int:
        """Store a request with the ``most`` that it can cost, and return its number.

        Raises CounterpartError, storing nothing, if the purse's requests or money could exceed the ceiling.
        """

    def settle(
        self, request: int, answer: JudgeAnswer | None, tokens: tuple[int, int], cost: Decimal, seconds: float
    ) -> None:
        """Store an answer, or None for an invalid one, its cost and its time in seconds."""

    def release(self, request: int) -> None:
        """Remove a request that was refused or never reached the endpoint, and so was not charged."""

    def experience(self, purse: str) -> Experience | None:
        """Return figures of the last answers of a purse; None if there are none."""
