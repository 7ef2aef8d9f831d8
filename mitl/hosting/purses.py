"""The ledger of all requests to chat models: none is paid twice, and no ceiling is exceeded, whatever host asks.

A request is stored before it is sent, with the most that it can cost, and settled when its answer arrives. Requests
that a crash or a time-out leaves unsettled may have been charged, and count. A *question* is the digest of everything
that decides an answer. A *purse* is the name under which the requests to one model of one endpoint are counted.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from django.db import connection, transaction
from django.db.models import F

from core.errors import CounterpartError
from core.text import counted
from counterpart_annotators.kinds.vlm.questions import JudgeAnswer
from counterpart_annotators.kinds.vlm.spending import Ceiling, Experience
from mitl.models import ChatPurse, ChatRequest

RECENT = 1000  # answers that speed and cost are estimated from
MOST_AT_ONCE = 500  # questions in one SQL query
UNIT = Decimal("1e-12")  # of money: a token at a price of six decimals a million
HINT = "answers are kept: add an annotator with a higher ceiling and run the same again"


def answers_to(questions: Sequence[str]) -> dict[str, JudgeAnswer]:
    """Return the stored answers, by question."""
    found: dict[str, JudgeAnswer] = {}
    for start in range(0, len(questions), MOST_AT_ONCE):
        some = ChatRequest.objects.filter(question__in=questions[start : start + MOST_AT_ONCE], chances__isnull=False)
        found.update((request.question, JudgeAnswer(tuple(request.chances or ()))) for request in some)
    return found


def reserve(question: str, purse: str, most: Decimal, ceiling: Ceiling) -> int:
    """Store a request with the ``most`` that it can cost, and return its number.

    Raises CounterpartError, storing nothing, if the purse's requests or money could exceed the ceiling.
    """
    units = _units(most)
    with _written():
        row, _ = ChatPurse.objects.get_or_create(name=purse)
        within = ChatPurse.objects.filter(pk=row.pk, requests__lt=ceiling.requests)
        if ceiling.money is not None:
            within = within.filter(cost__lte=_units(ceiling.money, ROUND_FLOOR) - units)
        if not within.update(requests=F("requests") + 1, cost=F("cost") + units):
            raise _reached(purse, most, ceiling)
        return ChatRequest.objects.create(purse=row, question=question, cost=units).pk


def settle(request: int, answer: JudgeAnswer | None, tokens: tuple[int, int], cost: Decimal, seconds: float) -> None:
    """Store an answer, or None for an invalid one, its cost and its time in seconds; on disk when this returns."""
    with _written():
        row = ChatRequest.objects.get(pk=request)
        units = _units(cost)
        ChatPurse.objects.filter(pk=row.purse_id).update(cost=F("cost") + units - row.cost)
        row.chances = answer.probabilities if answer else None
        row.input_tokens, row.output_tokens = tokens
        row.cost = units
        row.seconds = seconds
        row.save()


def release(request: int) -> None:
    """Remove a request that was refused or never reached the endpoint, and so was not charged."""
    with _written():
        row = ChatRequest.objects.get(pk=request)
        ChatPurse.objects.filter(pk=row.purse_id).update(requests=F("requests") - 1, cost=F("cost") - row.cost)
        row.delete()


def spent(purse: str) -> tuple[int, Decimal]:
    """Return the number of requests of a purse, and their total cost."""
    row = ChatPurse.objects.filter(name=purse).first() or ChatPurse()
    return row.requests, row.cost * UNIT


def experience(purse: str) -> Experience | None:
    """Return figures of the last thousand answers of a purse; None if there are none."""
    answered = ChatRequest.objects.filter(purse__name=purse, chances__isnull=False)
    rows = answered.order_by("-pk").values_list("seconds", "cost")[:RECENT]
    if not rows:
        return None
    seconds, costs = zip(*rows, strict=True)
    return Experience(len(rows), sum(seconds) / len(rows), sum(costs) * UNIT / len(rows))


@contextmanager
def _written() -> Iterator[None]:
    """A transaction. A thread's connection is closed after it, so that those that wait for an endpoint hold none."""
    try:
        with transaction.atomic():
            yield
    finally:
        if not connection.in_atomic_block:
            connection.close()


def _reached(purse: str, most: Decimal, ceiling: Ceiling) -> CounterpartError:
    requests, cost = spent(purse)
    if requests >= ceiling.requests:
        return CounterpartError(f"Its ceiling of {counted(ceiling.requests, 'request')} is reached; {HINT}")
    return CounterpartError(
        f"{_plain(cost)} of {ceiling.money} are spent, and one more request, of up to {_plain(most)}, could exceed that"
        f" ceiling; {HINT}"
    )


def _plain(money: Decimal) -> str:
    return f"{money.normalize():f}"


def _units(money: Decimal, rounding: str = ROUND_CEILING) -> int:
    return int((money / UNIT).to_integral_value(rounding))
