"""Make a missing transaction fail a test: tests run inside a transaction, which would hide it."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pkgutil import resolve_name

import pytest
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model
from django.db.models.sql.compiler import SQLCompiler, SQLInsertCompiler
from django.db.transaction import TransactionManagementError, atomic, set_rollback

from core import progress
from core.database.fixed_queries import FixedQuery
from core.models import Event
from core.work.jobs import JobProgress
from integrations.models import Notification

NO_CHANGE = {"payments listed"}  # an event of something that was read
FILES = tempfile.gettempdir()  # where tests keep all files, uploads too
LOCKED: list[type[Model]] = []


@contextmanager
def own_transactions() -> Iterator[None]:
    """Refuse a row lock, an event and a notification outside a transaction that the code under test opened itself."""
    select, insert, ask = SQLCompiler.as_sql, SQLInsertCompiler.as_sql, FixedQuery.__call__

    def checked_select(compiler, *args, **options):
        if compiler.query.select_for_update:
            require(compiler.connection, f"a lock on {compiler.query.model.__name__}")
            LOCKED.append(compiler.query.model)
        return select(compiler, *args, **options)

    def checked_query(query, *given):
        if query.built.queryset.query.select_for_update:
            require(connections[DEFAULT_DB_ALIAS], f"a lock on {query.built.queryset.model.__name__}")
            LOCKED.append(query.built.queryset.model)
        return ask(query, *given)

    def checked_insert(compiler):
        if compiler.query.model is Event and {event.verb for event in compiler.query.objs} - NO_CHANGE:
            require(compiler.connection, "an event")
        if compiler.query.model is Notification:
            require(compiler.connection, "a notification")
        return insert(compiler)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SQLCompiler, "as_sql", checked_select)
        patch.setattr(SQLInsertCompiler, "as_sql", checked_insert)
        patch.setattr(FixedQuery, "__call__", checked_query)
        yield


# What computes for long, in addition to what opens a file, connects to a server or reports progress.
HEAVY = (
    "counterpart_metrics.targets.Reading.add",
    "counterpart_statistics.aggregation.fit_votes",
    "dataset.versions.contents.gather_contents",
    "dataset.judged.coded_votes.read_round",
    "counterpart_drawn.grades.grades",
    "evaluation.auditing.whole_queries.whole_queries",
    "hits.rounds.packed_rounds.make_plan",
    "hits.rounds.top_ups.pack_top_up",
    "counterpart_annotators.encoding.encode_rows",
    "counterpart_topk.exact.bidirectional_topk",
    "counterpart_topk.exact.topk_of_products",
    "counterpart_annotators.words.bleu_1",
)
WRITING = "writing"  # how the name of a step begins that only writes rows which are ready
_HOOKED: list[object] = []


@contextmanager
def no_work_in_transactions() -> Iterator[None]:
    """Refuse work in a transaction that the code under test opened itself: on SQLite no other process could write."""
    if not _HOOKED:
        sys.addaudithook(_on_event)  # for good: Python removes none
    _HOOKED.append(_on_event)
    with pytest.MonkeyPatch.context() as patch:
        # It is the default of many arguments, so its name alone would not do.
        patch.setattr(progress.silent, "__code__", _silent.__code__)
        for shown in (progress.TerminalBar, JobProgress):
            patch.setattr(shown, "__call__", _watched(shown.__call__, lambda _shown, step, *_: refuse_step(step)))
        for path in HEAVY:
            module, name = path.rsplit(".", 1)
            replace_everywhere(patch, resolve_name(module), name, lambda *_, path=path, **_named: refuse_work(path))
        yield
    _HOOKED.clear()


def refuse_work(what: str) -> None:
    if not all(block._from_testcase for block in connections[DEFAULT_DB_ALIAS].atomic_blocks):
        raise TransactionManagementError(f"{what} in a transaction: compute first, then open it, check, and write rows")


def refuse_step(step: str) -> None:
    if not step.startswith(WRITING):
        refuse_work(f"the step {step!r}")


def replace_everywhere(patch: pytest.MonkeyPatch, owner: object, name: str, before: Callable[..., None]) -> None:
    """Call ``before`` ahead of a function, also in the modules that have imported it by its name."""
    function = getattr(owner, name)
    watched = _watched(function, before)
    for place in [owner, *list(sys.modules.values())]:
        if getattr(place, "__dict__", {}).get(name) is function:
            patch.setattr(place, name, watched)


def _watched(function: Callable[..., object], before: Callable[..., None]) -> Callable[..., object]:
    @wraps(function)
    def run(*given, **named):
        before(*given, **named)
        return function(*given, **named)

    return run


def is_data(path: str) -> bool:
    """Whether it is one of the files with which the code under test works."""
    return path.startswith(FILES) and not path.startswith(str(settings.BASE_DIR)) and ".sqlite3" not in path


def _silent(step, done, total):
    from tests.transactions import refuse_step  # the code runs as another function's, in its module

    refuse_step(step)


def _on_event(event: str, given: tuple[object, ...]) -> None:
    if not _HOOKED:
        return
    if event == "open" and isinstance(given[0], str) and is_data(given[0]):
        refuse_work(f"opening {given[0]}")
    elif event in ("socket.connect", "subprocess.Popen"):
        refuse_work(event)


@contextmanager
def taken_back() -> Iterator[None]:
    """Take back all that is done, as after a test: code under test still has to open a transaction of its own."""
    block = atomic()
    block._from_testcase = True
    with block:
        yield
        set_rollback(True)


def locked_by(act: Callable[[], object]) -> set[type[Model]]:
    """The models of which ``act`` locks rows, on SQLite too, where a lock has no effect."""
    return set(locked_in_order(act))


def locked_in_order(act: Callable[[], object]) -> list[type[Model]]:
    """The same, each where it is first locked."""
    LOCKED.clear()
    act()
    return list(dict.fromkeys(LOCKED))


def require(connection: BaseDatabaseWrapper, what: str) -> None:
    if all(block._from_testcase for block in connection.atomic_blocks):
        raise TransactionManagementError(f"{what} outside a transaction of its own")
