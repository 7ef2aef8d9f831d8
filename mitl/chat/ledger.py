"""All paid requests, stored as their answers arrive: none is paid twice, and no ceiling is exceeded.

A request is stored before it is sent, with the most that it can cost, and settled when its answer arrives. Requests
that a crash or a time-out leaves unsettled may have been charged, and count.
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
RECENT = 1000  # answers that speed and cost are estimated from
MOST_AT_ONCE = 500  # questions in one SQL query
UNIT = Decimal("1e-12")  # of money: a token at a price of six decimals a million
HINT = "answers are kept: add an annotator with a higher ceiling and run the same again"
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
    """The limits of all spending from a purse: requests, and money (None: no limit)."""

    requests: int
    money: Decimal | None


@dataclass(frozen=True)
class Experience:
    """Recent answers: their number, and the means of their seconds and cost."""

    answers: int
    seconds: float
    cost: Decimal


class Ledger:
    """An SQLite file of requests; threads and processes may share it.

    A *question* is the digest of everything that decides an answer. A *purse* counts the requests to one model of one
    endpoint.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        with self._open() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(SCHEMA)

    def answers_to(self, questions: Sequence[str]) -> dict[str, Answer]:
        """Return the stored answers, by question."""
        found: dict[str, str] = {}
        with self._open() as connection:
            for start in range(0, len(questions), MOST_AT_ONCE):
                some = questions[start : start + MOST_AT_ONCE]
                marks = ", ".join("?" * len(some))
                sql = f"SELECT question, chances FROM request WHERE chances IS NOT NULL AND question IN ({marks})"  # noqa: S608
                found.update(connection.execute(sql, some).fetchall())
        return {question: Answer(tuple(json.loads(chances))) for question, chances in found.items()}

    def reserve(self, question: str, purse: str, most: Decimal, ceiling: Ceiling) -> int:
        """Store a request with the ``most`` that it can cost, and return its number.

        Raises CounterpartError, storing nothing, if the purse's requests or money could exceed the ceiling.
        """
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            requests, cost = self._spent(connection, purse)
            if requests >= ceiling.requests:
                raise CounterpartError(f"All {ceiling.requests:,} requests of its ceiling are used; {HINT}")
            if ceiling.money is not None and cost + most > ceiling.money:
                raise CounterpartError(
                    f"{_plain(cost)} of {ceiling.money} are spent, and one more request, of up to {_plain(most)}, could"
                    f" exceed that ceiling; {HINT}"
                )
            return connection.execute(
                "INSERT INTO request (question, purse, cost) VALUES (?, ?, ?) RETURNING id",
                (question, purse, _units(most)),
            ).fetchone()[0]

    def settle(
        self, request: int, answer: Answer | None, tokens: tuple[int, int], cost: Decimal, seconds: float
    ) -> None:
        """Store an answer, or None for an invalid one, its cost and its time in seconds; on disk when this returns."""
        chances = json.dumps(answer.probabilities) if answer else None
        with self._open() as connection:
            connection.execute(
                "UPDATE request SET chances = ?, input_tokens = ?, output_tokens = ?, cost = ?, seconds = ?"
                " WHERE id = ?",
                (chances, *tokens, _units(cost), seconds, request),
            )

    def release(self, request: int) -> None:
        """Remove a request that was refused or never reached the endpoint, and so was not charged."""
        with self._open() as connection:
            connection.execute("DELETE FROM request WHERE id = ?", (request,))

    def spent(self, purse: str) -> tuple[int, Decimal]:
        """Return the number of requests of a purse, and their total cost."""
        with self._open() as connection:
            return self._spent(connection, purse)

    def experience(self, purse: str) -> Experience | None:
        """Return figures of the last thousand answers of a purse; None if there are none."""
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
        """A connection for one call; commits at the end, or rolls back after an error."""
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS)) as connection, connection:
            yield connection


def _plain(money: Decimal) -> str:
    return f"{money.normalize():f}"


def _units(money: Decimal) -> int:
    return int((money / UNIT).to_integral_value(ROUND_CEILING))
