"""Questions to a chat endpoint of tests, and a ledger in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import count
from threading import Lock
from typing import Any

from counterpart_annotators.kinds.vlm.endpoint import Asker, JudgeQuestion
from counterpart_annotators.kinds.vlm.questions import JudgeAnswer
from counterpart_annotators.kinds.vlm.service import Prices, Service
from counterpart_annotators.kinds.vlm.spending import Ceiling
from counterpart_metrics.errors import CounterpartError

KEY = "sk-very-secret"


def service_at(url: str, **changed: Any) -> Service:
    service = Service(
        endpoint=url,
        model="seer",
        key_variable="SEER_KEY",
        key=KEY,
        prices=Prices(Decimal(2), Decimal(8), picture_tokens=1000),
        ceiling=Ceiling(100, None),
        attempts=3,
        timeout=5.0,
        per_minute=0,
        parallel=2,
    )
    return replace(service, **changed)


@dataclass
class Request:
    question: str
    cost: Decimal
    answer: JudgeAnswer | None = None


class Kept:
    """A ledger of one purse."""

    def __init__(self) -> None:
        self.requests: dict[int, Request] = {}
        self._numbers, self._lock = count(1), Lock()

    def answers_to(self, questions: Sequence[str]) -> dict[str, JudgeAnswer]:
        return {row.question: row.answer for row in self.requests.values() if row.answer and row.question in questions}

    def reserve(self, question: str, purse: str, most: Decimal, ceiling: Ceiling) -> int:
        with self._lock:
            if len(self.requests) >= ceiling.requests:
                raise CounterpartError("The ceiling is reached.")
            number = next(self._numbers)
            self.requests[number] = Request(question, most)
        return number

    def settle(
        self, request: int, answer: JudgeAnswer | None, tokens: tuple[int, int], cost: Decimal, seconds: float
    ) -> None:
        self.requests[request] = replace(self.requests[request], cost=cost, answer=answer)

    def release(self, request: int) -> None:
        del self.requests[request]

    def experience(self, purse: str) -> None:
        return None

    @property
    def spent(self) -> tuple[int, Decimal]:
        return len(self.requests), sum((row.cost for row in self.requests.values()), Decimal(0))


class Asking:
    """An asker whose sleeps are noted and not slept."""

    def __init__(self, stub: Any, ledger: Any = None, **changed: Any) -> None:
        self.slept: list[float] = []
        self.ledger = ledger or Kept()
        self.service = service_at(stub.url, **changed)
        self.asker = Asker(self.service, self.ledger, sleep=self.slept.append)

    def ask(self, *captions: str) -> dict[str, JudgeAnswer]:
        return self.asker.ask(JudgeQuestion(f"digest of {caption}", b"jpeg", caption) for caption in captions)
