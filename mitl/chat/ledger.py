"""Every request that was paid for, kept as its answer arrives: none is paid twice, and no ceiling is passed.

As with an outbox, a request is written down before it is sent, at the most that it can cost, and settled when its
answer is there. What a crash or a time-out leaves unsettled may have been charged, and counts.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from core.errors import CounterpartError
from mitl.chat.questions import Answer

BUSY_SECONDS = 60
RECENT = 1000  # answers that tell of those to come
MOST_AT_ONCE = 500  # questions of one query
UNIT = Decimal("1e-12")  # of money: a token at a price of six decimals a million
HINT = "what was answered is kept: add an annotator with a higher ceiling and go on"
SCHEMA = """
    CREATE TABLE IF NOT EXISTS request (
        id INTEGER PRIMARY KEY,
        asked_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
        question TEXT NOT NULL,
        purse TEXT NOT NULL,
        chances TEXT,
        input_tokens INTEGER,
        output_tokens INTEGER,
        seconds REAL,
        cost INTEGER NOT NULL
    );
    CREATE INDEX IF NOT EXISTS request_question ON request (question);
    CREATE INDEX IF NOT EXISTS request_purse ON request (purse, cost);
"""


@dataclass(frozen=True)
class Ceiling:
    """What a purse may be spent on at most, ever: requests, and money, None for any amount of it."""

    requests: int
    money: Decimal | None


@dataclass(frozen=True)
class Experience:
    """How some answers came: how many they were, and the mean of their seconds and of their cost."""

    answers: int
    seconds: float
    cost: Decimal


class Ledger:
    """An SQLite file of requests; threads and processes may use it at once.

    A *question* is the digest of all that decides an answer. A *purse* is what is spent together: a model of an
    endpoint.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        with self._open() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(SCHEMA)

    def answers_to(self, questions: Sequence[str]) -> dict[str, Answer]:
        """Return the answers that were given, by question."""
        found: dict[str, str] = {}
        with self._open() as connection:
            for start in range(0, len(questions), MOST_AT_ONCE):
                some = questions[start : start + MOST_AT_ONCE]
                marks = ", ".join("?" * len(some))
                sql = f"SELECT question, chances FROM request WHERE chances IS NOT NULL AND question IN ({marks})"  # noqa: S608
                found.update(connection.execute(sql, some).fetchall())
        return {question: Answer(tuple(json.loads(chances))) for question, chances in found.items()}

    def reserve(self, question: str, purse: str, most: Decimal, ceiling: Ceiling) -> int:
        """Write a request down at ``most`` that it can cost, and return its number.

        Raises CounterpartError, writing nothing, where the purse's requests or money could pass the ceiling.
        """
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            requests, cost = self._spent(connection, purse)
            if requests >= ceiling.requests:
                raise CounterpartError(f"All {ceiling.requests:,} requests of its ceiling are spent; {HINT}")
            if ceiling.money is not None and cost + most > ceiling.money:
                raise CounterpartError(
                    f"{_plain(cost)} of {ceiling.money} are spent, and one more request, of up to {_plain(most)}, could"
                    f" pass that ceiling; {HINT}"
                )
            return connection.execute(
                "INSERT INTO request (question, purse, cost) VALUES (?, ?, ?) RETURNING id",
                (question, purse, _units(most)),
            ).fetchone()[0]

    def settle(
        self, request: int, answer: Answer | None, tokens: tuple[int, int], cost: Decimal, seconds: float
    ) -> None:
        """Write down an answer, or None for one that made no sense, what it cost and how long it took to come; on the
        disk when this returns."""
        chances = json.dumps(answer.chances) if answer else None
        with self._open() as connection:
            connection.execute(
                "UPDATE request SET chances = ?, input_tokens = ?, output_tokens = ?, cost = ?, seconds = ?"
                " WHERE id = ?",
                (chances, *tokens, _units(cost), seconds, request),
            )

    def release(self, request: int) -> None:
        """Forget a request that was refused or never reached the endpoint: nobody charges for that."""
        with self._open() as connection:
            connection.execute("DELETE FROM request WHERE id = ?", (request,))

    def spent(self, purse: str) -> tuple[int, Decimal]:
        """Return how many requests were made from a purse, and what they cost together."""
        with self._open() as connection:
            return self._spent(connection, purse)

    def experience(self, purse: str) -> Experience | None:
        """Return how the last thousand answers of a purse came; None where there are none."""
        sql = "SELECT seconds, cost FROM request WHERE purse = ? AND chances IS NOT NULL ORDER BY id DESC LIMIT ?"
        with self._open() as connection:
            rows = connection.execute(sql, (purse, RECENT)).fetchall()
        if not rows:
            return None
        seconds, costs = zip(*rows, strict=True)
        return Experience(len(rows), sum(seconds) / len(rows), sum(costs) * UNIT / len(rows))

    def _spent(self, connection: sqlite3.Connection, purse: str) -> tuple[int, Decimal]:
        sql = "SELECT COUNT(*), COALESCE(SUM(cost), 0) FROM request WHERE purse = ?"
        requests, units = connection.execute(sql, (purse,)).fetchone()
        return requests, units * UNIT

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection of this call's own; what it wrote is committed at the end, or undone where that is an error."""
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as connection, connection:
            yield connection


def _plain(money: Decimal) -> str:
    return f"{money.normalize():f}"


def _units(money: Decimal) -> int:
    return int((money / UNIT).to_integral_value(ROUND_CEILING))
